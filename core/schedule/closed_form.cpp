#include "core/schedule/closed_form.hpp"

#include <algorithm>
#include <tuple>

#include "core/of_thread.hpp"

namespace hocket {

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
