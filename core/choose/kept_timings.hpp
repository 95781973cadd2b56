#pragma once
/// Timings of the candidates of a choice that a run has measured, kept for the next one.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket {

/// One way of carrying a call out, as it was measured.
struct CandidateTimings {
  std::string name;
  std::uint64_t calls = 0;  // measured; 0: nothing is known
  double seconds = 0;       // duration of a typical call
  double spread = 0;        // standard deviation of its logarithm
  friend bool operator==(const CandidateTimings&, const CandidateTimings&) = default;
};

/// Kept timings under one key.
struct KeptTimings {
  std::string place;             // digest of what measurements depend on: network, MPI, distribution of ranks
  std::string call;              // such as "alltoall"
  std::uint32_t size_class = 0;  // size_class() of the bytes of a message
  std::string layout;            // such as "contiguous"
  std::string winner;            // the candidate that cost least at the end
  std::vector<CandidateTimings> candidates;
  // For people and for the tuning files of MPI libraries; the place says the same. 0, "unknown": not told.
  std::uint32_t ranks = 0, hosts = 0;
  std::string mpi = "unknown";  // such as "openmpi-5.0.10"
  friend bool operator==(const KeptTimings&, const KeptTimings&) = default;
};

/// Number of the half octave of a size: class 2k begins at 2^k bytes, class 2k + 1 at 2^k √2. No bytes are in class 0,
/// as one byte is.
[[nodiscard]] std::uint32_t size_class(std::uint64_t bytes);

/// The least bytes of a class. Throws InputError beyond 2^64.
[[nodiscard]] std::uint64_t least_bytes(std::uint32_t size_class);

/// A version line, then one line a key. Throws InputError where a name could not be read back.
[[nodiscard]] std::string kept_timings_text(std::span<const KeptTimings> timings);

/// Throws InputError that names line and remedy where kept_timings_text() would not have written the text.
[[nodiscard]] std::vector<KeptTimings> parse_kept_timings(std::string_view text);

/// Both together: of candidates that both know, counts are added and typical times are weighed by them. `learned` holds
/// what one run has measured and nothing that it has read, so that jobs which end at the same time add to each other.
/// The winner is the candidate of least time then.
[[nodiscard]] std::vector<KeptTimings> merge(std::span<const KeptTimings> kept, std::span<const KeptTimings> learned);

}  // namespace hocket
