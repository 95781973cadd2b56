#pragma once
/// The part of a plan that a rank needs to take part in a collective call, and the calls that one plan serves.
#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "core/demand/demand.hpp"
#include "core/limits.hpp"
#include "core/network/network.hpp"
#include "core/plan/program.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::runtime {

/// Calls of one kind on a communicator follow the same plan: those of a collective, with one root if it has roots, and
/// where one block flows in pieces those of about one size.
struct CallKind {
  const Collective* collective;
  Rank root = 0;                                  ///< 0 where there is none
  std::uint64_t bytes = limits::reference_bytes;  ///< planned message size

  auto operator<=>(const CallKind&) const = default;
};

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

/// Broadcasts or reduces of `bytes` bytes with this root. In how many pieces their one block flows goes by its size:
/// what is too short for two pieces is not cut, what is short is cut into few.
[[nodiscard]] CallKind pipelined_calls(const Collective& collective, int root, std::uint64_t bytes);

/// The kind of all calls with messages of different sizes, whatever these are.
[[nodiscard]] inline CallKind irregular_calls() {
  static const Collective& irregular = find_collective("irregular");
  return {&irregular};
}

/// Model predictions for a plan, in seconds at the planned sizes; 0: not known on this rank.
struct Figures {
  double predicted = 0;  ///< its phases, one after the other
  double bound = 0;      ///< no schedule is faster
};

/// The schedule of all ranks and its network.
struct WholePlan {
  Network network;
  Schedule schedule;
};

struct Planned {
  RankProgram program;
  Demand demand;  ///< planned sizes; actual sizes may differ
  std::uint64_t phases = 0;
  std::uint32_t window = 1;  ///< messages of a rank that may be unacknowledged; 0: the MPI library carries them
  std::string algorithm = {};
  Figures figures = {};                         ///< for the report
  std::shared_ptr<const WholePlan> whole = {};  ///< on the first rank of the network, if it is to be simulated

  /// True if messages of an all-to-all are cut and passed on. The same on all ranks: each has messages to send.
  [[nodiscard]] bool relays() const {
    return demand.pattern == Pattern::all_to_all && !program.sends.empty() && !program.sends.front().pieces.empty();
  }
  /// True if ranks pass on what they get. The same on all ranks.
  [[nodiscard]] bool forwards() const { return demand.by_blocks() || relays(); }
};

/// Throws InputError unless `rank` by this program sends only what it holds and gets everything
/// exactly once; of a reduction, that it sends what it has for a block once, when all that comes in for it is there. A
/// program that does not would hang or leave bytes undefined.
void check_program(const Planned& planned, Rank rank);

}  // namespace hocket::runtime
