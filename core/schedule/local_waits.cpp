#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/progress/progress.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t no_user = ~std::uint32_t{0};

bool has_local_waits(const Network& network, const Schedule& schedule) {
  const Shape shape = network.shape();
  const bool routes_in_closed_form = (shape != Shape::graph && shape != Shape::routed) ||
                                     network.fat_tree() != nullptr || network.dragonfly() != nullptr;
  return routes_in_closed_form && network.equal_rates() && schedule.direct() &&
         schedule.size() == std::uint64_t{schedule.ranks()} * (schedule.ranks() - 1);
}

/// Per channel: its last user, and the transfer that was last seen to come by, with the user before.
struct Use {
  std::uint32_t last = no_user, before = no_user;
};

}  // namespace

std::optional<Waits> local_waits(const Network& network, const Schedule& schedule) {
  if (!has_local_waits(network, schedule)) return std::nullopt;
  Waits waits;
  waits.begin.reserve(schedule.size() + 1);
  waits.begin.push_back(0);
  std::vector<Use> use(network.channels());
  std::vector<std::uint32_t> last_send(schedule.ranks(), no_user);
  std::vector<Channel> route, other;
  std::vector<std::uint32_t> mine;
  const auto hops = schedule.hops();
  Steps steps("deriving waits", schedule.size());
  std::uint64_t before_last = 0;  // the first transfer of the phase before
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
    for (auto i = first; i < schedule.phase_begin()[phase + 1]; ++i) {
      steps.tick();
      if (last_send[hops[i].src] != no_user && last_send[hops[i].src] >= first) return std::nullopt;
      last_send[hops[i].src] = i;
      route.clear();
      mine.clear();
      network.append_route(hops[i].src, hops[i].dst, route);
      for (const Channel channel : route) {
        Use& of = use[channel];
        of = {i, of.last};
        if (of.before == no_user) continue;
        if (of.before >= first) return std::nullopt;
        if (hops[of.before].src != hops[i].src) mine.push_back(of.before);
      }
      std::ranges::sort(mine, std::greater<>());
      mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
      waits.derived += mine.size();
      for (const std::uint32_t earlier : mine) {
        bool needed = true;
        if (earlier < before_last) {  // between neighbouring phases nobody else can have used a channel
          other.clear();
          network.append_route(hops[earlier].src, hops[earlier].dst, other);
          needed = std::ranges::none_of(
              other, [&](Channel channel) { return use[channel].last == i && use[channel].before != earlier; });
        }
        if (needed) waits.before.push_back(earlier);
      }
      waits.begin.push_back(waits.before.size());
    }
    before_last = first;
  }
  return waits;
}

}  // namespace hocket
