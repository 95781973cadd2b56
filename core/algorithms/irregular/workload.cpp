#include "core/algorithms/irregular/workload.hpp"

#include <algorithm>

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
    const auto route = std::span<const Channel>(routes).subspan(first);
    for (const Channel channel : route) {
      note(sender[channel], message.src);
      note(receiver[channel], message.dst);
    }
    ends.push_back(routes.size());
    seconds_.push_back(static_cast<double>(message.bytes) / own_speed(network, route));
  }

  std::vector<std::uint32_t> number(2 * ranks + channels, unset);
  std::uint32_t current = 0;
  const auto need = [&](std::uint64_t what, std::uint32_t capacity) {
    if (number[what] == unset) {
      number[what] = resources();
      capacity_.push_back(capacity);
      load_.push_back(0);
    }
    needs_.items.push_back(number[what]);
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
    needs_.end_list();
  }
}

double Workload::bound() const { return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end()); }

Claims::Claims(const Network& network, const Workload& work, const SharedChannels& shared) {
  seconds_.reserve(work.size());
  kinds_.begin.reserve(work.size() + 1);
  by_shares(network, work, shared);
}

Claims::Claims(const Network& network, const Workload& work) {
  seconds_.reserve(work.size());
  kinds_.begin.reserve(work.size() + 1);
  if (network.equal_rates()) {
    as_needed(work);
    return;
  }
  const auto each_message = [&](const auto& visit) {
    std::vector<Channel> route;
    for (std::uint32_t m = 0; m < work.size(); ++m) {
      const Message& message = work.message(m);
      visit(network.find_route(message.src, message.dst, route), message.bytes);
    }
  };
  by_shares(network, work, SharedChannels(network, Claiming::alike, each_message));
}

double Claims::bound() const { return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end()); }

void Claims::as_needed(const Workload& work) {
  for (std::uint32_t r = 0; r < work.resources(); ++r) kind(add_resource(work.capacity(r)), 1);
  for (std::uint32_t m = 0; m < work.size(); ++m) {
    const auto needs = work.needs(m);
    kinds_.items.insert(kinds_.items.end(), needs.begin(), needs.end());
    end_message(work.seconds(m));
  }
}

void Claims::by_shares(const Network& network, const Workload& work, const SharedChannels& shared) {
  std::vector<std::uint32_t> sender(network.channels(), unset), port(network.ranks(), unset),
      place(network.channels(), unset);
  std::vector<Channel> route;
  for (std::uint32_t m = 0; m < work.size(); ++m) {
    const auto [src, dst, bytes] = work.message(m);
    for (const Channel channel : network.find_route(src, dst, route)) note(sender[channel], src);
  }
  most_looks_ = 16;
  for (std::uint32_t m = 0; m < work.size(); ++m) {
    const Message& message = work.message(m);
    std::uint32_t& own = port[message.src];
    if (own == unset) own = add_resource(network.ports(message.src));
    kinds_.items.push_back(kind(own, 1));
    network.find_route(message.src, message.dst, route);
    const double speed = shared.claim(route, [&](Channel channel, std::uint32_t part) {
      // Its sender's only port is busy whenever the channel is.
      if (sender[channel] != several && network.ports(message.src) == 1) return;
      if (place[channel] == unset) place[channel] = add_resource(whole_channel);
      kinds_.items.push_back(kind(place[channel], part));
    });
    end_message(static_cast<double>(message.bytes) / speed);
  }
}

std::uint32_t Claims::add_resource(std::uint32_t whole) {
  whole_.push_back(whole);
  kinds_of_.emplace_back();
  load_.push_back(0);
  return resources() - 1;
}

std::uint32_t Claims::kind(std::uint32_t resource, std::uint32_t amount) {
  for (const std::uint32_t known : kinds_of_[resource])
    if (kind_[known].amount == amount) return known;
  kind_.push_back({resource, amount});
  kinds_of_[resource].push_back(kinds() - 1);
  return kinds() - 1;
}

void Claims::end_message(double seconds) {
  seconds_.push_back(seconds);
  kinds_.end_list();
  for (const std::uint32_t of : kinds_.of(size() - 1)) {
    const auto [resource, amount] = kind_[of];
    load_[resource] += seconds * amount / whole_[resource];
  }
}

}  // namespace hocket::algorithms
