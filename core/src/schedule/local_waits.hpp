#pragma once
/// Waits that any rank can compute for itself.
#include <optional>

#include "hocket/schedule/waits.hpp"

namespace hocket {

/// The waits of a complete all-to-all for window 1 on channels that carry one message at a time, by the rule that
/// follows from the two messages alone: x waits for y if y has another sender and is the last user before x of every
/// channel that both use. Where another one is in between, it waited for y. None if messages of one phase share a
/// channel, or if this is no such schedule.
[[nodiscard]] std::optional<Waits> local_waits(const Network& network, const Schedule& schedule);

}  // namespace hocket
