#pragma once
/// The key that identifies the calls served by one plan.
#include <compare>
#include <cstdint>

#include "core/demand/collective.hpp"
#include "core/limits.hpp"

namespace hocket::runtime {

/// Calls of one kind on a communicator follow the same plan: those of a collective, with one root if it has roots, and
/// where one block flows in pieces those of about one size.
struct CallKind {
  const Collective* collective;
  Rank root = 0;                                  ///< 0 where there is none
  std::uint64_t bytes = limits::reference_bytes;  ///< planned message size

  auto operator<=>(const CallKind&) const = default;
};

/// Broadcasts or reduces of `bytes` bytes with this root. In how many pieces their one block flows goes by its size:
/// what is too short for two pieces is not cut, what is short is cut into few.
[[nodiscard]] CallKind pipelined_calls(const Collective& collective, int root, std::uint64_t bytes);

/// The kind of all calls with messages of different sizes, whatever these are.
[[nodiscard]] inline CallKind irregular_calls() {
  static const Collective& irregular = find_collective("irregular");
  return {&irregular};
}

}  // namespace hocket::runtime
