#pragma once
/// Gossip on rings, arrays, tori and meshes as steps, and the blocks that these are made of. What they cost stands in
/// cost.hpp. A block works on the processors of one line along an axis, for one colour, from a given step on, and moves
/// what its processors then hold. Blocks on parallel lines, or of different colours on different axes, may run in the
/// same steps.
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", sections 4 to 7.
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/gossip/cost.hpp"
#include "core/gossip/steps.hpp"

namespace hocket::gossip {

/// Parcels sorted by origin. The builder keeps one aggregate per content, so that equal contents are
/// equal pointers.
struct Aggregate {
  std::vector<Parcel> parcels;
  std::uint64_t units = 0;
};

/// Collects the messages of all steps, and follows what every processor holds of every colour.
class Builder {
 public:
  /// Every item is cut in `colours` equal parts; `units` must be a multiple of that.
  Builder(Grid grid, std::uint64_t units, std::uint32_t colours = 1);

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const Aggregate* held(std::uint32_t colour, std::uint32_t node) const { return held_[colour][node]; }
  void hold(std::uint32_t colour, std::uint32_t node, const Aggregate* aggregate) { held_[colour][node] = aggregate; }

  [[nodiscard]] const Aggregate* merged(std::vector<const Aggregate*> parts);
  /// The content in its order, cut in so many equal parts.
  [[nodiscard]] const std::vector<const Aggregate*>& chunks(const Aggregate* aggregate, std::uint32_t count);

  void send(std::uint64_t step, std::uint32_t src, std::uint32_t axis, std::int32_t displacement,
            const Aggregate* aggregate);
  /// The steps so far; an empty one where nothing was sent before the end.
  [[nodiscard]] Steps finish(std::uint64_t steps);

 private:
  const Aggregate* intern(std::vector<Parcel> parcels);

  Grid grid_;
  Steps steps_;
  std::deque<Aggregate> aggregates_;
  std::unordered_multimap<std::uint64_t, const Aggregate*> by_hash_;
  std::map<std::vector<const Aggregate*>, const Aggregate*> merged_;
  std::map<std::pair<const Aggregate*, std::uint32_t>, std::vector<const Aggregate*>> chunks_;
  std::unordered_map<const Aggregate*, std::pair<std::uint64_t, std::uint64_t>> stored_;
  std::vector<std::vector<const Aggregate*>> held_;
  std::vector<std::vector<Message>> pending_;
};

/// One line of the grid. Processors are named by their place on it; on a ring, places count on past
/// its end. All blocks return the step after their last one.
class Line {
 public:
  using Places = std::vector<std::uint32_t>;

  /// The line along `axis` through `node`.
  Line(Builder& builder, std::uint32_t axis, std::uint32_t node, std::uint32_t colour, Ports ports = Ports::all);

  [[nodiscard]] std::uint32_t side() const { return side_; }
  [[nodiscard]] std::uint32_t node(std::uint32_t place) const { return base_ + place % side_ * stride_; }
  [[nodiscard]] const Aggregate* held(std::uint32_t place) const { return builder_.held(colour_, node(place)); }

  /// conc: the heads of all cells come to hold what their cells hold. Smaller cells start later.
  std::uint64_t concentrate(std::uint64_t start, std::span<const Cell> cells);
  /// The last concentration backwards, with all that its head holds.
  std::uint64_t disseminate(std::uint64_t start);
  /// circ: everyone at these places comes to hold what all do. `window`: what it and its neighbours hold,
  /// so many in a row, which repeats with that period; on rings only. 0: all.
  std::uint64_t circulate(std::uint64_t start, const Places& places, std::uint32_t window = 0);
  /// ins: new bridgeheads in the gaps between those at `places`, which all hold the same. Adds them.
  std::uint64_t insert(std::uint64_t start, Places& places, Round round);
  /// A whole gossip among all processors of the line.
  std::uint64_t gossip(std::uint64_t start, const RingPlan& plan);

 private:
  struct Edge {
    std::uint64_t step;
    std::uint32_t src, dst;  ///< places
  };
  struct Gap {
    std::uint32_t from, length, parts;  ///< parts − 1 new bridgeheads
    [[nodiscard]] std::uint32_t place(std::uint32_t i) const {
      return from + static_cast<std::uint32_t>(std::uint64_t{length} * i / parts);
    }
  };

  [[nodiscard]] bool wraps() const { return builder_.grid().wraparound; }
  void hold(std::uint32_t place, const Aggregate* aggregate) { builder_.hold(colour_, node(place), aggregate); }
  /// Sends from place to place; on a ring the way that `forward` says.
  void send(std::uint64_t step, std::uint32_t from, std::uint32_t to, bool forward, const Aggregate* aggregate);
  const Aggregate* gather(const Cell& cell, std::uint64_t end);
  const Aggregate* gather_half_duplex(const Cell& cell, std::uint64_t end);
  void gather_side(const Cell& cell, bool left, const Volumes& sizes, std::uint64_t end,
                   std::vector<const Aggregate*>& parts);
  std::uint64_t circulate_ring(std::uint64_t start, const Places& places, std::uint32_t window);
  std::uint64_t circulate_array(std::uint64_t start, const Places& places);
  std::uint64_t circulate_half_duplex(std::uint64_t start, const Places& places);
  void stream(std::uint64_t start, const Gap& gap, std::uint32_t steps, const std::vector<const Aggregate*>& chunks);
  void stream_half_duplex(std::uint64_t start, const Gap& gap, std::uint32_t pace,
                          const std::vector<const Aggregate*>& chunks);

  Builder& builder_;
  std::uint32_t axis_, colour_, side_, stride_, base_;
  Ports ports_;
  std::vector<Edge> tree_;
  std::uint64_t tree_end_ = 0, tree_steps_ = 0;
};

/// Gossip on one axis after the other: HighDimGos, and coloured HighDimGos'. On one axis, the ring's or array's own
/// algorithm. Its cost: high_dim_cost().
[[nodiscard]] Steps high_dim_gossip(const Grid& grid, const std::vector<std::vector<RingPlan>>& plans,
                                    bool coloured = true, Ports ports = Ports::all);

/// CubGos, and coloured CubGos', on a torus. Its cost: cubgos_cost().
[[nodiscard]] Steps cubgos(const Grid& grid, std::uint32_t spacing, const std::vector<Round>& rounds,
                           bool coloured = true);

/// Half-duplex gossip on a torus or mesh of two even sides. Its cost: black_white_cost().
[[nodiscard]] Steps black_white_gossip(const Grid& grid);

}  // namespace hocket::gossip
