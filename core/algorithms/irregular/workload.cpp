#include "core/algorithms/irregular/workload.hpp"

#include <algorithm>
#include <limits>

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t unset = ~std::uint32_t{0};
constexpr std::uint32_t several = unset - 1;

std::vector<Message> messages_of(const Demand& demand) {
  if (demand.by_matrix()) return demand.matrix.list();
  std::vector<Message> messages;
  messages.reserve(demand.messages());
  for (Rank src = 0; src < demand.ranks; ++src)
    for (Rank dst = 0; dst < demand.ranks; ++dst)
      if (src != dst) messages.push_back({src, dst, demand.bytes});
  return messages;
}

void note(std::uint32_t& who, Rank rank) { who = who == unset || who == rank ? rank : several; }

}  // namespace

Workload::Workload(const Network& network, const Demand& demand) : messages_(messages_of(demand)) {
  const std::uint64_t ranks = network.ranks(), channels = network.channels();
  std::vector<Channel> routes;
  std::vector<std::uint64_t> ends;
  std::vector<std::uint32_t> sender(channels, unset), receiver(channels, unset);
  for (const Message& message : messages_) {
    const std::size_t first = routes.size();
    network.append_route(message.src, message.dst, routes);
    double slowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = first; i < routes.size(); ++i) {
      slowest = std::min(slowest, network.rate(routes[i]));
      note(sender[routes[i]], message.src);
      note(receiver[routes[i]], message.dst);
    }
    ends.push_back(routes.size());
    seconds_.push_back(static_cast<double>(message.bytes) / slowest);
  }

  std::vector<std::uint32_t> number(2 * ranks + channels, unset);
  std::uint32_t current = 0;
  const auto need = [&](std::uint64_t what, std::uint32_t capacity) {
    if (number[what] == unset) {
      number[what] = resources();
      capacity_.push_back(capacity);
      load_.push_back(0);
    }
    needs_.push_back(number[what]);
    load_[number[what]] += seconds_[current] / capacity;
  };
  for (std::size_t i = 0; current < size(); ++current) {
    const std::uint32_t sends = network.ports(messages_[current].src), receives = network.ports(messages_[current].dst);
    need(messages_[current].src, sends);
    for (; i < ends[current]; ++i) {
      const Channel channel = routes[i];
      const std::uint32_t capacity = network.capacity(channel);
      if (capacity > 1 || ((sender[channel] == several || sends > 1) && (receiver[channel] == several || receives > 1)))
        need(2 * ranks + channel, capacity);
    }
    need(ranks + messages_[current].dst, receives);
    begin_.push_back(needs_.size());
  }
}

double Workload::bound() const { return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end()); }

}  // namespace hocket::algorithms
