#pragma once
/// What the environment asks of the runtime. Read once; wrong values are reported and ignored. Names, defaults and
/// what values may be: core/src/environment/variables.cpp.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::runtime {

enum class Flow : std::uint8_t { token, barrier, free };

/// Smaller contributions to an all-gather, on average, go to the MPI library, by whether messages from
/// each rank to the next share a link (bench/results/lab-gather.md).
inline constexpr std::size_t least_gather_bytes_colliding = 1024, least_gather_bytes_in_order = 4096;

struct Settings {
  std::vector<std::string> plan_paths;  ///< HOCKET_PLAN: one per pattern, separated by ':'
  std::string placement;                ///< HOCKET_PLACEMENT: see place_this_process()
  std::size_t min_bytes;                ///< HOCKET_MIN_BYTES: smaller messages go to the MPI library
  std::size_t min_gather_bytes;         ///< HOCKET_MIN_GATHER_BYTES: likewise for all-gathers; 0: by the placement
  std::size_t min_vector_bytes;  ///< HOCKET_MIN_VECTOR_BYTES: irregular exchanges of smaller messages, on average
  std::uint64_t min_flows;       ///< HOCKET_MIN_FLOWS, and
  std::uint64_t min_senders;     ///< HOCKET_MIN_SENDERS: see WorthLimits
  std::string trunks;            ///< HOCKET_TRUNKS: file for measured widths of uplinks; empty: they are known
  std::size_t trunks_ms;         ///< HOCKET_TRUNKS_MS: how long measuring them may take
  std::string scheduler;         ///< HOCKET_SCHEDULER: of irregular exchanges; empty: chosen for each
  std::uint64_t seed;            ///< HOCKET_SEED: of their schedulers that draw lots
  std::size_t segment;           ///< HOCKET_SEGMENT: bytes per MPI message
  std::size_t early;             ///< HOCKET_EARLY: bytes still missing when the next sender is released
  std::size_t ahead;             ///< HOCKET_AHEAD: segments a sender hands to MPI before one completes
  bool host_buffers;             ///< HOCKET_HOST_BUFFERS: none is in a GPU's memory
  unsigned spin_us;              ///< HOCKET_SPIN_US: how long a waiting rank polls before it sleeps
  unsigned sleep_us;             ///< HOCKET_SLEEP_US: longest sleep of a waiting rank
  Flow flow;                     ///< HOCKET_FLOW: token, barrier, free
  int shared_ranks;              ///< HOCKET_SHARED_RANKS: most ranks that share memory to permute and sort; 0: a host's
  int log;                       ///< HOCKET_LOG: 0 warnings only, 1 what each communicator does, 2 and each call site
  std::string report;            ///< HOCKET_REPORT: directory for what each rank has to tell of its calls
  std::string trace;             ///< HOCKET_TRACE: where each rank writes down what it does, for debugging
  std::vector<std::string> complaints;  ///< what is wrong with the environment, a line each
  std::uint64_t complaints_digest;      ///< 0: there are none
  std::vector<std::uint64_t> alike;     ///< digests of the values of alike_variables()
};

[[nodiscard]] const Settings& settings();

/// Names of the variables that must be the same on all ranks.
[[nodiscard]] std::vector<std::string_view> alike_variables();

/// One line on standard error, from the rank that calls it.
void say(const std::string& text);
/// A warning, each text once per process.
void say_once(const std::string& text);
/// A warning that some rank says: whether this one has said or heard it before. Now it has.
[[nodiscard]] bool heard(const std::string& text);

}  // namespace hocket::runtime
