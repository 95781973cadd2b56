/// "fat-tree": the shifts of a fat tree, materialised.
#include "core/algorithms/all_to_all/fat_tree_shifts.hpp"

namespace hocket {
namespace {

/// The number of ranks below each node of a level that has any.
std::vector<std::uint32_t> ranks_below(const FatTree& tree, std::span<const Node> hosts, std::uint32_t level) {
  const std::uint32_t size = tree.hosts_below(level);
  std::vector<std::uint32_t> count(tree.hosts_below(tree.levels()) / size, 0);
  for (const Node host : hosts) ++count[tree.first_host(host) / size];
  std::erase(count, 0);
  return count;
}

}  // namespace

std::string_view FatTreeShifts::why_not(const Network& network) {
  const FatTree* tree = network.fat_tree().get();
  if (tree == nullptr) return "it needs a fat tree, whose messages to a host come down one way";
  if (!tree->by_own_number()) return "forwarding tables send other ways than by the hosts' own numbers";
  if (!network.equal_rates()) return "links differ in rate";
  if (network.hosts().size() != network.ranks()) return "hosts have several ranks";
  if (network.ranks() < 2) return "it needs two ranks";
  for (std::uint32_t level = 0; level < tree->levels(); ++level) {
    const std::vector<std::uint32_t> below = ranks_below(*tree, network.hosts(), level);
    if (below.size() == 1) continue;  // all messages stay below
    if (tree->twins(level + 1) != tree->hosts_below(level)) return "it has other numbers of links up than of hosts";
    for (const std::uint32_t ranks : below)
      if (ranks != tree->hosts_below(level)) return "ranks do not fill whole subtrees";
  }
  return {};
}

FatTreeShifts::FatTreeShifts(const Network& network) {
  const FatTree& tree = *network.fat_tree();
  const std::uint32_t hosts = tree.hosts_below(tree.levels());
  std::vector<Rank> rank_of_host(hosts, nowhere);
  for (const Node host : network.hosts()) rank_of_host[tree.first_host(host)] = network.first_rank(host);
  position_.resize(network.ranks());
  position_of_host_.assign(hosts, nowhere);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    if (rank_of_host[host] == nowhere) continue;
    position_of_host_[host] = position_[rank_of_host[host]] = ranks();
    rank_at_.push_back(rank_of_host[host]);
  }
  for (std::uint32_t level = 0; level < tree.levels(); ++level)
    alone_below_.push_back(ranks_below(tree, network.hosts(), level).size() == 1 ? ranks() : 0);
}

}  // namespace hocket
