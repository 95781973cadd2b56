#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

#include "core/network/graph_shapes.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t unknown = ~std::uint32_t{0};
constexpr std::uint8_t no_level = 255;
constexpr std::uint64_t most_numbers = 4;  ///< times the hosts

}  // namespace

std::shared_ptr<FatTree> FatTree::find(const NetworkSpec& spec) {
  std::shared_ptr<FatTree> tree(new FatTree);
  if (!tree->read_levels(spec) || !tree->read_shape() || !tree->number_hosts() || !tree->number_twins()) return nullptr;
  tree->sort_channels();
  tree->on_ = {};
  return tree;
}

/// A node's level is how far its nearest host is; links join neighbouring levels.
bool FatTree::read_levels(const NetworkSpec& spec) {
  const std::size_t nodes = spec.names.size();
  head_.reserve(2 * spec.links.size());
  for (const LinkSpec& link : spec.links) head_.insert(head_.end(), {link.b, link.a});
  leaving_ = leaving_channels(spec);

  level_.assign(nodes, no_level);
  on_.emplace_back();
  for (Node node = 0; node < nodes; ++node)
    if (spec.ranks[node] > 0) level_[node] = 0, on_[0].push_back(node);
  for (std::uint8_t level = 0; !on_.back().empty(); ++level) {
    if (level + 1 == no_level) return false;
    on_.emplace_back();
    for (const Node node : on_[level])
      for (const Channel channel : leaving_.of(node))
        if (const Node to = head_[channel]; level_[to] == no_level) level_[to] = level + 1, on_.back().push_back(to);
  }
  on_.pop_back();
  const auto next_to = [&](Channel channel) {
    return std::abs(int{level_[head_[channel]]} - int{level_[head_[channel ^ 1]]}) == 1;
  };
  for (Channel channel = 0; channel < head_.size(); channel += 2)
    if (!next_to(channel)) return false;
  return on_.size() > 2 && std::ranges::find(level_, no_level) == level_.end();
}

/// All nodes of a level have as many parents. Most have as many children, too: where there are fewer, numbers are left
/// out.
bool FatTree::read_shape() {
  const auto above = [&](Node node) {
    std::uint32_t count = 0;
    for (const Channel channel : leaving_.of(node)) count += level_[head_[channel]] > level_[node];
    return count;
  };
  for (std::size_t level = 0; level < on_.size(); ++level) {
    const std::uint32_t parents = above(on_[level].front());
    std::uint32_t children = 0;
    for (const Node node : on_[level]) {
      if (above(node) != parents) return false;
      children = std::max(children, static_cast<std::uint32_t>(leaving_.of(node).size()) - parents);
    }
    if (level > 0) down_.push_back(children);
    if (level + 1 < on_.size()) up_.push_back(parents);
    if (level + 1 < on_.size() ? parents == 0 : parents > 0) return false;
  }
  below_.assign(1, 1);
  twins_.assign(1, 1);
  std::uint64_t hosts = 1, twins = 1;
  for (std::size_t level = 0; level < down_.size(); ++level) {
    hosts *= down_[level];
    twins *= up_[level];
    if (hosts > most_numbers * on_[0].size() || twins > level_.size()) return false;
    below_.push_back(static_cast<std::uint32_t>(hosts));
    twins_.push_back(static_cast<std::uint32_t>(twins));
  }
  return true;
}

/// Numbers hosts from the top: below a node its children's hosts follow each other, by the first of each.
bool FatTree::number_hosts() {
  std::vector<Node> least(level_.size(), unknown);  // host below
  for (const Node host : on_[0]) least[host] = host;
  for (std::size_t level = 1; level < on_.size(); ++level)
    for (const Node node : on_[level])
      for (const Channel channel : leaving_.of(node))
        if (const Node to = head_[channel]; level_[to] < level) least[node] = std::min(least[node], least[to]);
  first_host_.assign(level_.size(), unknown);
  for (const Node node : on_.back()) first_host_[node] = 0;
  std::vector<Node> below;
  for (std::size_t level = on_.size() - 1; level > 0; --level)
    for (const Node node : on_[level]) {
      below.clear();
      for (const Channel channel : leaving_.of(node))
        if (const Node to = head_[channel]; level_[to] < level) below.push_back(to);
      std::ranges::sort(below, {}, [&](Node child) { return least[child]; });
      for (std::uint32_t place = 0; place < below.size(); ++place) {
        if (place > 0 && least[below[place]] == least[below[place - 1]]) return false;
        const std::uint32_t first = first_host_[node] + place * below_[level - 1];
        std::uint32_t& known = first_host_[below[place]];
        if (known != unknown && known != first) return false;
        known = first;
      }
    }
  return true;
}

/// Along the parents of the first host the numbers are free to choose; what they are elsewhere follows from above.
bool FatTree::number_twins() {
  twin_.assign(level_.size(), unknown);
  std::vector<Node> reached;
  for (const Node host : on_[0])
    if (first_host_[host] == 0) reached.push_back(host);
  twin_[reached.front()] = 0;
  for (std::size_t level = 0; level + 1 < on_.size(); ++level) {
    std::vector<Node> next;
    for (const Node node : reached) {
      std::uint32_t parent = 0;
      for (const Channel channel : leaving_.of(node)) {
        const Node to = head_[channel];
        if (level_[to] < level_[node]) continue;
        if (twin_[to] != unknown) return false;
        twin_[to] = twin_[node] + parent++ * twins_[level];
        next.push_back(to);
      }
    }
    reached = std::move(next);
  }
  std::vector<char> seen;
  for (std::size_t level = on_.size() - 1; level-- > 0;) {
    for (const Node node : on_[level]) {
      seen.assign(up_[level], 0);
      for (const Channel channel : leaving_.of(node)) {
        const Node to = head_[channel];
        if (level_[to] < level_[node]) continue;
        const std::uint32_t mine = twin_[to] % twins_[level], digit = twin_[to] / twins_[level];
        if (twin_[node] == unknown) twin_[node] = mine;
        if (twin_[node] != mine || std::exchange(seen[digit], 1) != 0) return false;
      }
    }
    std::vector<char> taken(std::size_t{below_.back() / below_[level]} * twins_[level], 0);
    for (const Node node : on_[level])
      if (std::exchange(taken[first_host_[node] / below_[level] * twins_[level] + twin_[node]], 1) != 0) return false;
  }
  return true;
}

void FatTree::sort_channels() {
  const auto key = [&](Channel channel) {
    const Node to = head_[channel];
    const bool up = level_[to] > level_[head_[channel ^ 1]];
    return std::uint64_t{up} << 32 | (up ? twin_[to] : first_host_[to]);
  };
  for (Node node = 0; node < level_.size(); ++node)
    std::ranges::sort(std::span(leaving_.items).subspan(leaving_.begin[node], leaving_.of(node).size()), {}, key);
}

/// A way is where messages from another subtree of the top turn. All routes are compared with those that follow from
/// the ways: from a leaf they are the same whichever of its hosts sends, so one host sends for it.
bool FatTree::follow(const NetworkSpec& spec, const Routing& routes) {
  const std::uint32_t numbers = below_.back(), leaf = below_[1], apart = below_[levels() - 1];
  if (up_[0] != 1 || apart == numbers) return false;
  std::vector<Node> host_at(numbers, unknown);
  for (Node node = 0; node < spec.names.size(); ++node)
    if (level_[node] == 0) host_at[first_host_[node]] = node;
  std::vector<Channel> route, own;
  way_.resize(numbers);
  std::iota(way_.begin(), way_.end(), 0u);
  bool as_numbered = true;
  for (std::uint32_t to = 0; to < numbers; ++to) {
    if (host_at[to] == unknown) continue;
    route.clear();
    routes.append(host_at[to < apart ? apart : 0], host_at[to], route);
    if (route.size() != 2 * std::size_t{levels()}) return false;
    const Node turn = head_[route[levels() - 1]];
    if (level_[turn] != levels()) return false;
    way_[to] = twin_[turn];
    as_numbered = as_numbered && way_[to] == to % twins_.back();
  }
  for (std::uint32_t first = 0; first < numbers; first += leaf)
    for (std::uint32_t to = 0; host_at[first] != unknown && to < numbers; ++to) {
      const Node from = host_at[to == first && leaf > 1 ? first + 1 : first];
      if (host_at[to] == unknown || from == unknown || from == host_at[to]) continue;
      route.clear();
      own.clear();
      routes.append(from, host_at[to], route);
      append(from, host_at[to], own);
      if (route != own) return false;
    }
  if (as_numbered) way_ = {};
  return true;
}

/// From both ends: the way down is the way up from the destination, turned round. Hosts that follow each other share
/// most of it, so that it is at hand; from above it would be looked up in another switch each time.
void FatTree::append(Node src, Node dst, std::vector<Channel>& route) const {
  const std::uint32_t from = first_host_[src], to = first_host_[dst], way = this->way(to);
  std::uint32_t turn = 0;
  while (from / below_[turn] != to / below_[turn]) ++turn;
  const std::size_t begin = route.size(), end = begin + 2 * std::size_t{turn};
  route.resize(end);
  for (std::uint32_t level = 0; level < turn; ++level) {
    const std::uint32_t parents = up_[level], parent = way / twins_[level] % parents;
    const Channel up = leaving_.items[leaving_.begin[src + 1] - parents + parent];
    const Channel back = leaving_.items[leaving_.begin[dst + 1] - parents + parent];
    route[begin + level] = up;
    route[end - 1 - level] = back ^ 1;
    src = head_[up];
    dst = head_[back];
  }
}

std::vector<std::uint64_t> FatTree::all_to_all_loads(const NetworkSpec& spec) const {
  const std::uint32_t hosts = hosts_below(levels());
  std::vector<std::uint64_t> ranks(hosts, 0), before(hosts + 1, 0);
  for (Node node = 0; node < level_.size(); ++node)
    if (spec.ranks[node] > 0) ranks[first_host_[node]] = spec.ranks[node];
  std::partial_sum(ranks.begin(), ranks.end(), before.begin() + 1);
  // Per level, ranks to which digits lead: in each subtree, and in all.
  std::vector<std::vector<std::uint32_t>> inside, everywhere;
  for (std::uint32_t level = 0; level < levels(); ++level) {
    const std::uint32_t size = hosts_below(level), twins = this->twins(level + 1);
    inside.emplace_back(std::size_t{hosts / size} * twins, 0);
    everywhere.emplace_back(twins, 0);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      const auto count = static_cast<std::uint32_t>(ranks[host]);
      inside[level][std::size_t{host / size} * twins + way(host) % twins] += count;
      everywhere[level][way(host) % twins] += count;
    }
  }
  std::vector<std::uint64_t> load(head_.size());
  for (Channel channel = 0; channel < load.size(); ++channel) {
    const auto [lower, upper, up] = ends(channel);
    const std::uint32_t level = level_[lower], first = first_host_[lower], size = hosts_below(level);
    const std::uint32_t digits = twin_[upper], twins = this->twins(level + 1);
    const std::uint64_t in = inside[level][std::size_t{first / size} * twins + digits];
    const std::uint64_t below = before[first + size] - before[first];
    load[channel] = up ? below * (everywhere[level][digits] - in) : in * (before.back() - below);
  }
  return load;
}

bool FatTree::loads_evenly(const NetworkSpec& spec) const {
  constexpr double near = 1.05;
  const std::uint32_t hosts = hosts_below(levels()), each = std::ranges::max(spec.ranks);
  if (static_cast<std::uint32_t>(std::ranges::count(level_, 0)) != hosts) return true;
  for (const std::uint32_t count : spec.ranks)
    if (count > 0 && count != each) return true;
  const std::vector<std::uint64_t> load = all_to_all_loads(spec);
  struct Cut {
    double load = 0, rate = 0;
  };
  std::vector<std::vector<Cut>> cuts(levels());  // per level and subtree, into it and out of it
  for (std::uint32_t level = 0; level < levels(); ++level)
    cuts[level].resize(2 * std::size_t{hosts / hosts_below(level)});
  double longest = 0, least = 0;
  for (Channel channel = 0; channel < load.size(); ++channel) {
    const auto [lower, upper, up] = ends(channel);
    Cut& cut = cuts[level_[lower]][2 * (first_host_[lower] / hosts_below(level_[lower])) + (up ? 1 : 0)];
    cut.load += static_cast<double>(load[channel]);
    cut.rate += spec.links[channel / 2].rate;
    longest = std::max(longest, static_cast<double>(load[channel]) / spec.links[channel / 2].rate);
  }
  for (const auto& of_level : cuts)
    for (const Cut& cut : of_level) least = std::max(least, cut.load / cut.rate);
  return longest <= near * least;
}

}  // namespace hocket
