#include "core/schedule/schedule.hpp"

#include <algorithm>
#include <tuple>

#include "core/error.hpp"
#include "core/of_thread.hpp"

namespace hocket {

Schedule::Schedule(std::uint32_t ranks, std::uint64_t message_bytes, std::vector<std::uint64_t> begin,
                   std::vector<Hop> hops, PieceLists pieces)
    : ranks_(ranks),
      bytes_(message_bytes),
      begin_(std::move(begin)),
      hops_(std::move(hops)),
      pieces_(std::move(pieces)) {
  bool ordered = !begin_.empty() && begin_.front() == 0 && begin_.back() == hops_.size();
  for (std::size_t p = 1; ordered && p < begin_.size(); ++p) ordered = begin_[p - 1] <= begin_[p];
  if (!ordered) throw InputError("the phases of a schedule do not cover its transfers in order");
  if (hops_.empty()) pieces_ = {};  // lists that nobody carries
  if (direct() && pieces_.pieces.empty() && pieces_.list.empty()) return;
  const std::size_t carried = pieces_.list.empty() ? pieces_.lists() : pieces_.list.size();
  ordered = carried == hops_.size() && std::ranges::is_sorted(pieces_.begin) && pieces_.begin.front() == 0 &&
            pieces_.begin.back() == pieces_.pieces.size() &&
            std::ranges::all_of(pieces_.list, [&](std::uint32_t list) { return list < pieces_.lists(); });
  if (!ordered) throw InputError("a schedule has pieces for some transfers only");
}

std::uint64_t Schedule::length(std::uint64_t transfer) const {
  if (direct()) return bytes_;
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces(transfer)) sum += piece.length;
  return sum;
}

void check_ranks(const Schedule& schedule) {
  for (const Hop& hop : schedule.hops())
    if (hop.src >= schedule.ranks() || hop.dst >= schedule.ranks())
      throw InputError("a transfer names a rank that the schedule does not have");
}

Schedule group_by_phase(std::uint32_t ranks, std::uint64_t message_bytes, std::uint64_t phases,
                        std::span<const std::uint32_t> phase_of, std::span<const Hop> hops) {
  std::vector<std::uint64_t> begin(phases + 1, 0);
  for (const std::uint32_t phase : phase_of) ++begin[phase + 1];
  for (std::uint64_t p = 0; p < phases; ++p) begin[p + 1] += begin[p];
  std::vector<std::uint64_t> fill(begin.begin(), begin.end() - 1);
  std::vector<Hop> sorted(hops.size());
  for (std::size_t i = 0; i < hops.size(); ++i) sorted[fill[phase_of[i]]++] = hops[i];
  return {ranks, message_bytes, std::move(begin), std::move(sorted)};
}

void ClosedForm::append_messages(std::uint64_t phase, std::vector<Hop>& messages) const {
  for (Rank rank = 0; rank < ranks(); ++rank)
    if (const auto dst = target(rank, phase)) messages.push_back({rank, *dst});
}

void find_awaited(const Network& network, const ClosedForm& form, const PhasedMessage& message, Side side,
                  std::vector<PhasedMessage>& kept) {
  struct Scratch {
    std::vector<Channel> route;
    std::vector<std::optional<PhasedMessage>> users;  // per channel of the route
  };
  auto& [route, users] = of_thread<Scratch>();  // looked up once
  route.clear();
  users.clear();
  network.append_route(message.src, message.dst, route);
  const auto apart = [&](const PhasedMessage& user) {
    return side == Side::before ? message.phase - user.phase : user.phase - message.phase;
  };
  for (const Channel channel : route) {
    // A user of the next phase is the nearest one on all of its channels.
    const bool same = !users.empty() && users.back() && apart(*users.back()) == 1 && form.uses(*users.back(), channel);
    users.push_back(same ? users.back() : form.user(channel, message.phase, side));
  }
  kept.clear();
  for (const auto& user : users) {
    if (!user || user->src == message.src || std::ranges::find(kept, *user) != kept.end()) continue;
    // Between neighbouring phases nobody else can have used a channel.
    const auto overtaken = [&](std::size_t i) { return users[i] != user && form.uses(*user, route[i]); };
    bool needed = true;
    for (std::size_t i = 0; apart(*user) > 1 && needed && i < route.size(); ++i) needed = !overtaken(i);
    if (needed) kept.push_back(*user);
  }
  std::ranges::sort(kept, [&](const PhasedMessage& x, const PhasedMessage& y) {
    const auto earlier = [](const PhasedMessage& a, const PhasedMessage& b) {
      return std::tie(a.phase, a.src) < std::tie(b.phase, b.src);
    };
    return side == Side::before ? earlier(y, x) : earlier(x, y);
  });
}

}  // namespace hocket
