#pragma once
/// Synchronisation: which transfer must wait for which, so that phases need no barrier.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {

/// For each transfer, the earlier transfers that must be over before it may start (Faraj and Yuan,
/// section 5). A transfer also follows its own sender's: it starts after all of them have started
/// and those `window` or more places earlier are over. That order needs no token and is not listed.
struct Waits {
  std::uint32_t window = 1;          ///< transfers allowed in flight on one channel unit, and from one sender
  std::vector<std::uint64_t> begin;  ///< transfer i waits for before[begin[i] .. begin[i+1])
  std::vector<std::uint32_t> before;
  std::uint64_t derived = 0;  ///< waits before the redundant ones were removed

  [[nodiscard]] std::uint64_t size() const { return before.size(); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint64_t transfer) const {
    return {before.data() + begin[transfer], before.data() + begin[transfer + 1]};
  }
};

/// Derives the waits from schedule and network. A transfer waits, on every channel of its route,
/// for the one that uses the channel capacity·window places earlier, unless both are of one phase. The
/// transfers of a phase take their places by sender (those of one sender in schedule order), as a plan
/// file lists them: the waits do not depend on how an algorithm orders a phase. So a channel never has
/// more than capacity·window transfers in flight. Where links differ in rate and faster_claiming() it waits for those
/// whose parts of the channel it takes over, as many as its share (network.hpp) needs. Then removes a wait that
/// follows from others (a wait for x is redundant if another predecessor already waits for x), by a search; with more
/// than limits::most_ranks_searched_for_waits ranks and window 1 by local_waits(), wherever that holds.
/// `sharing`: that of the schedule's messages, if somebody knows it already.
[[nodiscard]] Waits derive_waits(const Network& network, const Schedule& schedule, std::uint32_t window = 1,
                                 const ChannelSharing* sharing = nullptr);

/// The waits of a complete all-to-all for window 1 on channels that carry one message at a time, by the rule that
/// follows from the two messages alone, so that every rank can follow it for itself (find_awaited()): x waits for y if
/// y has another sender and is the last user before x of every channel that both use. Where another one is in between,
/// it waited for y. None if messages of one phase share a channel, links differ, or if this is no such schedule.
[[nodiscard]] std::optional<Waits> local_waits(const Network& network, const Schedule& schedule);

}  // namespace hocket
