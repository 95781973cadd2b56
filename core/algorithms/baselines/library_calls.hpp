#pragma once
/// The algorithms of MPI libraries as schedules for simulation; they are not candidates for plans.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/model/simulate.hpp"

namespace hocket {

/// Step of an algorithm in closed form: every rank sends as many bytes to one other.
struct NativeStep {
  enum class Partner : std::uint8_t {
    next,  ///< rank i sends to i + distance
    bits,  ///< rank i sends to i XOR distance
  };
  Partner kind = Partner::next;
  std::uint32_t distance = 1;
  double blocks = 1;  ///< of each message: contributions, messages, or parts of a vector
  double times = 1;   ///< so many steps like this one

  [[nodiscard]] std::uint32_t partner(std::uint32_t rank, std::uint32_t ranks) const {
    return kind == Partner::bits ? rank ^ distance : (rank + distance) % ranks;
  }
};

/// An algorithm of a collective, and how its messages follow each other.
struct LibraryCall {
  Pattern pattern;
  std::string_view name;  ///< NAME in "native:NAME"
  FlowControl flow;
  std::string_view source;
  /// Empty if the algorithm serves so many ranks, else the reason why not.
  std::string_view (*why_not)(std::uint32_t ranks);
  Schedule (*make)(const Network&, const Demand&);
  /// The same in closed form, also for more ranks than make() serves; empty for ranks that the algorithm does not
  /// serve. Null: all messages go at once.
  std::vector<NativeStep> (*steps)(std::uint32_t ranks);
  /// Blocks of up to so many bytes are sent so; by MPICH's defaults (MPIR_CVAR_ALLGATHER_LONG_MSG_SIZE,
  /// …SHORT_MSG_SIZE). Null: of any size.
  std::uint64_t (*most_bytes)(std::uint32_t ranks) = nullptr;
};

/// All-to-all: all at once, ring, pairwise, Bruck; all-gather: ring, recursive doubling, Bruck; reduce-scatter and
/// all-reduce: ring, recursive halving (and doubling).
[[nodiscard]] std::span<const LibraryCall> library_calls();
/// Those that serve the demand; none where contributions differ by more than one byte: libraries have other algorithms
/// for those.
[[nodiscard]] std::vector<const LibraryCall*> library_calls(const Demand& demand);

}  // namespace hocket
