#pragma once
/// The algorithms of MPI libraries as schedules for simulation; they are not candidates for plans.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/model/simulate.hpp"

namespace hocket {

/// An algorithm of a collective, and how its messages follow each other.
struct LibraryCall {
  Pattern pattern;
  std::string_view name;  ///< NAME in "native:NAME"
  FlowControl flow;
  std::string_view source;
  /// Empty if the algorithm serves so many ranks, else the reason why not.
  std::string_view (*why_not)(std::uint32_t ranks);
  Schedule (*make)(const Network&, const Demand&);
};

/// All-to-all: all at once, ring, pairwise, Bruck; all-gather: ring, recursive doubling, Bruck; reduce-scatter and
/// all-reduce: ring, recursive halving (and doubling).
[[nodiscard]] std::span<const LibraryCall> library_calls();

}  // namespace hocket
