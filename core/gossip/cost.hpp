#pragma once
/// Costs of gossip algorithms in the strict model, in closed form. Their builders are in grids.hpp; execute() counts
/// the same from the steps.
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", sections 4 to 6.
#include <cstdint>
#include <span>
#include <vector>

#include "core/gossip/steps.hpp"

namespace hocket::gossip {

/// Per-message costs that follow each other, and the sum over steps of the largest message (one item: 1).
struct Cost {
  std::uint64_t steps = 0;
  double volume = 0;

  [[nodiscard]] double time(double r) const { return static_cast<double>(steps) * r + volume; }
  Cost& operator+=(const Cost& other) {
    steps += other.steps;
    volume += other.volume;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
};

/// The largest message of every step. Needed where several algorithms run in lockstep.
using Volumes = std::vector<double>;
[[nodiscard]] Cost sum(const Volumes& volumes);
/// Lockstep: the largest message of either.
[[nodiscard]] Volumes side_by_side(Volumes a, const Volumes& b);

/// One round of insertion: up to factor − 1 new bridgeheads in every gap, in so many steps.
struct Round {
  std::uint32_t factor = 2, steps = 1;
  bool operator==(const Round&) const = default;
};

/// An algorithm for gossip on a ring, with its parameters.
struct RingPlan {
  enum Kind : std::uint8_t {
    approach1,  ///< everyone's item goes around both ways
    approach2,  ///< concentrate everything in one processor, then disseminate it
    circgos,    ///< concentrate in `a` bridgeheads, circulate, insert new ones in `rounds`
  };
  Kind kind = approach1;
  std::uint32_t a = 1;
  std::vector<Round> rounds;
};

[[nodiscard]] constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }
/// The largest gap between `a` bridgeheads of bridgehead_cells().
[[nodiscard]] constexpr std::uint32_t largest_gap(std::uint32_t n, std::uint32_t a, bool wraparound) {
  return wraparound ? ceil_div(n, a) : n > 1 ? ceil_div(n - 1, a - 1) : 1;
}

/// Capabilities of the processors of one axis.
struct Model {
  bool wraparound = true;
  Ports ports = Ports::all;
};

/// Three-way concentration of g consecutive items: ⌈log₃ g⌉ steps, ⌊g/2⌋ items. Both are the least
/// possible: the head has two links, each step triples at best. Half duplex: ⌈log₂ g⌉ steps, g − 1.
[[nodiscard]] Cost conc_cost(std::uint32_t g, double message = 1, Ports ports = Ports::all);
/// Circulation both ways among c holders of a message each: ⌊c/2⌋ steps, (c−1)/2 messages.
[[nodiscard]] Cost circ_cost(std::uint32_t c, double message);
/// f − 1 new bridgeheads in every gap in b ≥ ⌊f/2⌋ steps; the message is cut in 2b − f + 2 chunks.
/// Half duplex: k chunks take 2(k − 1) + ⌈f/2⌉ steps; k steps for f = 2.
[[nodiscard]] Cost ins_cost(std::uint32_t f, std::uint32_t b, double message, Ports ports = Ports::all);
/// Into how many chunks insertion cuts the message; throws InputError where b is too small.
[[nodiscard]] std::uint32_t ins_chunks(std::uint32_t f, std::uint32_t b, Ports ports = Ports::all);

[[nodiscard]] Volumes conc_volumes(std::uint32_t g, double message = 1, Ports ports = Ports::all);
/// Circulation among holders of messages of the given sizes, in the order of the ring or array.
[[nodiscard]] Volumes circ_volumes(std::span<const double> messages, Model model = {});

/// A bridgehead of CircGos with the consecutive processors it concentrates. Places may pass the end of
/// a ring: they count on from 0 there.
struct Cell {
  std::uint32_t first = 0, size = 1, head = 0;
};
/// Ring: segments of ⌊n/a⌋ or ⌈n/a⌉ with their heads in the middle. Linear array: the outer heads
/// stand at its ends, so that every gap is fed from both sides; a ≥ 2.
[[nodiscard]] std::vector<Cell> bridgehead_cells(std::uint32_t n, std::uint32_t a, bool wraparound);

/// A ring or linear array of n processors with items of size `message`. A round's factor counts only
/// as far as the largest gap has room for new bridgeheads. Throws InputError for plans that do not
/// reach everyone.
[[nodiscard]] Volumes ring_volumes(std::uint32_t n, double message, const RingPlan& plan, Model model = {});
[[nodiscard]] Cost ring_cost(std::uint32_t n, double message, const RingPlan& plan, Model model = {});

/// HighDimGos': in phase f every processor gossips what it holds along one axis; colour c of the
/// colours, one per axis, takes axis (c + f) mod d. plans[f] holds one plan, or one for every axis.
/// Half duplex allows no colours. Phases start together; within a phase colours on sides of different length run in
/// lockstep. Uncoloured (HighDimGos): the whole items, axis f in phase f.
[[nodiscard]] Cost high_dim_cost(std::span<const std::uint32_t> sides, const std::vector<std::vector<RingPlan>>& plans,
                                 bool coloured = true, Model model = {});

/// CubGos (TorGos for d = 2) on a torus: bridgeheads are the points whose coordinates sum to a multiple
/// of `spacing`, which divides every side; the rounds' factors multiply to it. Coloured (CubGos'): one
/// colour per axis, in lockstep.
[[nodiscard]] Cost cubgos_cost(std::span<const std::uint32_t> sides, std::uint32_t spacing,
                               const std::vector<Round>& rounds, bool coloured = true);
/// Overload for a cube of side n with `a` bridgeheads in every row at first.
[[nodiscard]] Cost cubgos_cost(std::uint32_t n, std::uint32_t d, std::uint32_t a, const std::vector<Round>& rounds,
                               bool coloured = true);

/// Half duplex on two even sides n: blocks of 2×2 gossip first; then white processors (even sum of
/// coordinates) run rows before columns, black ones columns before rows. On a torus or a mesh:
/// 2n per-message costs and 2(n² − 1) items for n/2 even, half the per-message costs of approach 1 on both axes.
[[nodiscard]] Cost black_white_cost(std::uint32_t rows, std::uint32_t columns);

}  // namespace hocket::gossip
