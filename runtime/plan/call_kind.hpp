#pragma once
/// Which calls one plan serves.
#include <compare>

#include "hocket/demand/collective.hpp"

namespace hocket::runtime {

/// Calls of one kind on a communicator follow the same plan: those of a collective, with one root if it has roots.
struct CallKind {
  const Collective* collective;
  Rank root = 0;  ///< 0 where there is none

  auto operator<=>(const CallKind&) const = default;
};

/// Those with messages of different sizes, whichever they are.
[[nodiscard]] inline CallKind irregular_calls() {
  static const Collective& irregular = find_collective("irregular");
  return {&irregular};
}

}  // namespace hocket::runtime
