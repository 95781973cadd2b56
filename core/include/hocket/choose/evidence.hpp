#pragma once
/// What a run has learned about the arms of a choice, as it is kept for the next one.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket {

/// What one run's pairs say for or against a change counts within these bounds in later ones: a network may be another
/// one some day.
inline constexpr double least_e_value = 0.01, most_e_value = 1000;

/// One way of carrying a call out, as it was measured.
struct ArmEvidence {
  std::string name;
  std::uint64_t calls = 0;           // measured; 0: nothing is known
  double seconds = 0;                // of a typical call: the median
  double spread = 0;                 // relative: half the distance between the quartiles over the median
  double better = 1, no_better = 1;  // PairTest's, against the winner; 1: says nothing
  friend bool operator==(const ArmEvidence&, const ArmEvidence&) = default;
};

/// What was learned under one key.
struct Evidence {
  std::string place;             // digest of what measurements depend on: network, MPI, distribution of ranks
  std::string call;              // such as "alltoall"
  std::uint32_t size_class = 0;  // size_class() of the bytes of a message
  std::string layout;            // such as "contiguous"
  bool settled = false;          // no arm was left to try
  std::string winner;            // the arm that was in use at the end
  std::vector<ArmEvidence> arms;
  // For people and for the tuning files of MPI libraries; the place says the same. 0, "unknown": not told.
  std::uint32_t ranks = 0, hosts = 0;
  std::string mpi = "unknown";  // such as "openmpi-5.0.10"
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// Half an octave: class 2k begins at 2^k bytes, class 2k + 1 at 2^k √2. No bytes are in class 0, as one byte is.
[[nodiscard]] std::uint32_t size_class(std::uint64_t bytes);

/// The least bytes of a class. Throws InputError beyond 2^64.
[[nodiscard]] std::uint64_t least_bytes(std::uint32_t size_class);

/// A version line, then one line a key. Throws InputError where a name could not be read back.
[[nodiscard]] std::string evidence_text(std::span<const Evidence> evidence);

/// Throws InputError that names line and remedy where evidence_text() would not have written the text.
[[nodiscard]] std::vector<Evidence> parse_evidence(std::string_view text);

/// Both together: of arms that both know, counts are added and typical times are weighed by them. Evidence of pairs
/// against the same winner is multiplied, as that of independent runs may be. `learned` holds what
/// one run has measured and nothing that it has read, so that jobs which end at the same time add to each other. What
/// it says of winners counts where it has settled, or where nothing was kept.
[[nodiscard]] std::vector<Evidence> merge(std::span<const Evidence> kept, std::span<const Evidence> learned);

}  // namespace hocket
