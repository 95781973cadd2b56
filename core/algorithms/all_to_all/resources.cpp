#include "core/algorithms/all_to_all/resources.hpp"

#include <bit>

namespace hocket::algorithms {
namespace {

/// Per channel: the ranks seen on it, one bit each.
class RankSets {
 public:
  RankSets(std::uint64_t sets, std::uint64_t ranks) : words_((ranks + 63) / 64), bits_(sets * words_, 0) {}
  void add(std::uint64_t set, Rank rank) { bits_[set * words_ + rank / 64] |= std::uint64_t{1} << rank % 64; }
  /// The ports of the ranks in the set.
  [[nodiscard]] std::uint64_t count(std::uint64_t set, const Network& network) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < words_; ++i)
      for (std::uint64_t left = bits_[set * words_ + i]; left != 0; left &= left - 1)
        sum += network.ports(static_cast<Rank>(64 * i) + static_cast<Rank>(std::countr_zero(left)));
    return sum;
  }

 private:
  std::uint64_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

Resources::Resources(const Network& network, const SendPools& pools, std::span<const Hop> hops)
    : network_(network), pools_(pools) {
  const std::uint64_t ranks = network.ranks(), channels = network.channels();
  RankSets senders(channels, ranks), receivers(channels, ranks);
  std::vector<std::uint64_t> used(2 * ranks + channels, 0);
  for (const Hop hop : hops) {
    route_.clear();
    network.append_route(hop.src, hop.dst, route_);
    ++used[pools.of(hop.src)];
    ++used[ranks + hop.dst];
    for (const Channel channel : route_) {
      senders.add(channel, hop.src);
      receivers.add(channel, hop.dst);
      ++used[2 * ranks + channel];
    }
  }
  number_.assign(used.size(), never_full);
  for (std::uint64_t i = 0; i < used.size(); ++i) {
    const std::uint64_t channel = i - 2 * ranks;
    if (i >= pools.count() && i < ranks) continue;
    std::uint32_t capacity = 0;
    if (i < ranks)
      for (const Rank rank : pools.members(static_cast<std::uint32_t>(i))) capacity += network.ports(rank);
    else
      capacity =
          i < 2 * ranks ? network.ports(static_cast<Rank>(i - ranks)) : network.capacity(static_cast<Channel>(channel));
    if (i >= 2 * ranks &&
        (senders.count(channel, network) <= capacity || receivers.count(channel, network) <= capacity))
      continue;
    number_[i] = size();
    capacity_.push_back(capacity);
    load_.push_back(used[i]);
  }
}

void Resources::append(Hop hop, std::vector<std::uint32_t>& needs) const {
  const std::uint64_t ranks = network_.ranks();
  needs.push_back(number_[pools_.of(hop.src)]);
  route_.clear();
  network_.append_route(hop.src, hop.dst, route_);
  for (const Channel channel : route_)
    if (number_[2 * ranks + channel] != never_full) needs.push_back(number_[2 * ranks + channel]);
  needs.push_back(number_[ranks + hop.dst]);
}

}  // namespace hocket::algorithms
