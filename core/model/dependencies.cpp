#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/model/simulate.hpp"

namespace hocket::model {

namespace {

struct Arrival {
  Rank at, origin, target;
  std::uint32_t transfer;
  std::uint64_t offset, end;
  [[nodiscard]] auto key() const { return std::tuple(at, origin, target); }
};

}  // namespace

Grouped released_by(const Schedule& schedule, const Waits& waits) {
  if (waits.begin.size() != schedule.size() + 1 || waits.begin.back() != waits.before.size())
    throw InputError("the waits belong to another schedule: they are for " +
                     std::to_string(waits.begin.empty() ? 0 : waits.begin.size() - 1) + " transfers, not " +
                     std::to_string(schedule.size()));
  for (std::uint64_t transfer = 0; transfer < schedule.size(); ++transfer)
    for (const std::uint32_t before : waits.of(transfer))
      if (before >= transfer)
        throw InputError("transfer " + std::to_string(transfer) + " waits for transfer " + std::to_string(before) +
                         ", which is not an earlier one");
  return group(schedule.size(), [&](auto visit) {
    for (std::uint64_t transfer = 0; transfer < schedule.size(); ++transfer)
      for (const std::uint32_t before : waits.of(transfer)) visit(before, static_cast<std::uint32_t>(transfer));
  });
}

Grouped forwarded_after(const Schedule& schedule) {
  if (schedule.direct()) return {};
  std::vector<Arrival> arrivals;
  for (std::uint64_t i = 0; i < schedule.size(); ++i)
    for (const Piece& piece : schedule.pieces(i)) {
      if (piece.target == schedule.hops()[i].dst) continue;
      arrivals.push_back({schedule.hops()[i].dst, piece.origin, piece.target, static_cast<std::uint32_t>(i),
                          piece.offset, piece.offset + piece.length});
    }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.key() < b.key(); });
  std::vector<std::uint32_t> before;
  return group(schedule.size(), [&](auto visit) {
    for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
      const std::uint64_t first = schedule.phase_begin()[phase];
      for (std::uint64_t i = first; i < schedule.phase_begin()[phase + 1]; ++i) {
        before.clear();
        for (const Piece& piece : schedule.pieces(i)) {
          const auto key = std::tuple(schedule.hops()[i].src, piece.origin, piece.target);
          auto arrival = std::lower_bound(arrivals.begin(), arrivals.end(), key,
                                          [](const Arrival& a, const auto& k) { return a.key() < k; });
          for (; arrival != arrivals.end() && arrival->key() == key; ++arrival)
            if (arrival->transfer < first && arrival->offset < piece.offset + piece.length &&
                piece.offset < arrival->end)
              before.push_back(arrival->transfer);
        }
        // A message may bring several pieces of the one that follows it.
        std::sort(before.begin(), before.end());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        for (const std::uint32_t arrival : before) visit(arrival, static_cast<std::uint32_t>(i));
      }
    }
  });
}

Grouped sent_after(const Schedule& schedule) {
  // Backwards, so that what a rank sends next is known when it receives.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  std::vector<std::vector<std::uint64_t>> next(schedule.ranks());  // sends of the first later phase
  std::vector<std::uint64_t> phase_of_next(schedule.ranks(), ~std::uint64_t{0});
  for (std::uint64_t phase = schedule.phases(); phase-- > 0;) {
    const std::uint64_t first = schedule.phase_begin()[phase], end = schedule.phase_begin()[phase + 1];
    for (std::uint64_t i = first; i < end; ++i)
      for (const std::uint64_t after : next[schedule.hops()[i].dst]) pairs.emplace_back(i, after);
    for (std::uint64_t i = first; i < end; ++i) {
      const Rank src = schedule.hops()[i].src;
      if (std::exchange(phase_of_next[src], phase) != phase) next[src].clear();
      next[src].push_back(i);
    }
  }
  return group(schedule.size(), [&](auto visit) {
    for (const auto& [before, after] : pairs)
      visit(static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(after));
  });
}

void check_fits(const Network& network, const Schedule& schedule) {
  if (schedule.ranks() != network.ranks())
    throw InputError("the schedule is for " + std::to_string(schedule.ranks()) + " ranks, the network has " +
                     std::to_string(network.ranks()));
  if (schedule.size() >= ~std::uint32_t{0}) throw InputError("the schedule is too long to simulate");
  check_ranks(schedule);
}

Grouped sends_of(const Schedule& schedule) {
  return group(schedule.ranks(), [&](auto visit) {
    for (std::uint64_t i = 0; i < schedule.size(); ++i) visit(schedule.hops()[i].src, static_cast<std::uint32_t>(i));
  });
}

}  // namespace hocket::model

namespace hocket {

namespace {

const std::vector<Channel>& find_route(const Network& network, Hop hop, std::vector<Channel>& route) {
  if (hop.src >= network.ranks() || hop.dst >= network.ranks()) throw InputError("no such rank");
  return network.find_route(hop.src, hop.dst, route);
}

}  // namespace

std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                     std::span<const Channel> channels) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> slot(network.channels(), none);
  for (std::uint32_t i = 0; i < channels.size(); ++i) {
    if (channels[i] >= network.channels()) throw InputError("no such channel");
    slot[channels[i]] = i;
  }
  std::vector<std::vector<std::uint32_t>> users(channels.size());
  std::vector<Channel> route;
  for (std::uint32_t transfer = 0; transfer < schedule.size(); ++transfer)
    for (const Channel channel : find_route(network, schedule.hops()[transfer], route))
      if (slot[channel] != none) users[slot[channel]].push_back(transfer);
  return users;
}

std::vector<std::uint32_t> channel_use(const Network& network, const Schedule& schedule, std::uint64_t first,
                                       std::uint64_t last) {
  if (first > last || last > schedule.phases()) throw InputError("no such phases");
  const std::uint64_t channels = network.channels();
  if (channels > 0 && last - first > max_channel_uses / channels)
    throw InputError(std::to_string(last - first) + " phases on " + std::to_string(channels) +
                     " channels are too many to count the use of each at once");
  std::vector<std::uint32_t> use((last - first) * channels, 0);
  std::vector<Channel> route;
  for (std::uint64_t phase = first; phase < last; ++phase)
    for (const Hop hop : schedule.phase(phase))
      for (const Channel channel : find_route(network, hop, route)) ++use[(phase - first) * channels + channel];
  return use;
}

}  // namespace hocket
