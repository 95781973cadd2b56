#pragma once
/// Waits that any rank can compute for itself.
#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// As in Waits, with window 1.
struct LocalWaits {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> before;
  std::uint64_t derived = 0;
};

/// The waits of a complete all-to-all for window 1 on channels that carry one message at a time, by the rule that
/// follows from the two messages alone: x waits for y if y has another sender and is the last user before x of every
/// channel that both use. Where another one is in between, it waited for y. None if messages of one phase share a
/// channel, or if this is no such schedule.
[[nodiscard]] std::optional<LocalWaits> local_waits(const Network& network, const Schedule& schedule);

}  // namespace hocket
