#include <algorithm>
#include <utility>

#include "core/network/graph_shapes.hpp"

namespace hocket {

namespace {

/// Deals routers out to groups in which each is wired to each, with one link between any two groups.
///
/// From elsewhere one link at most leads from a router to a group: what two routers of a group have in common as
/// neighbours is the rest of it. So a link is inside of one group at most, and a router has few candidates, mostly one.
/// Where routers of three groups are wired to each other, they look like a group of three; the groups found so far, to
/// each of which one link must lead, then tell, and where they do not, one is tried after the other.
class RouterGroups {
 public:
  /// `wiring`: the neighbours of each router.
  RouterGroups(const Grouped& wiring, std::uint32_t size)
      : wiring_(wiring),
        size_(size),
        routers_(static_cast<std::uint32_t>(wiring.begin.size() - 1)),
        group_(routers_, none),
        candidates_(routers_),
        near_(routers_, 0),
        held_(routers_, 0),
        seen_(routers_, 0),
        linked_(routers_, 0) {}

  /// The group of each router; empty where there is no such way to deal them out, or none is found in time.
  std::vector<std::uint32_t> find() { return settle() ? std::move(group_) : std::vector<std::uint32_t>{}; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  using Members = std::vector<std::uint32_t>;
  struct Candidates {
    bool known = false;
    std::vector<Members> list;
  };

  /// Takes the only candidate of a router as long as there is one, then tries those of the first that is left.
  bool settle() {
    std::uint32_t left = none;
    for (bool taken = true; taken;) {
      taken = false;
      left = none;
      for (std::uint32_t router = 0; router < routers_; ++router) {
        if (group_[router] != none) continue;
        const Members* only = nullptr;
        std::uint32_t fitting = 0;
        for (const Members& members : candidates_of(router))
          if (fits(members)) only = &members, ++fitting;
        if (fitting == 0 || work_left_ < 0) return false;
        if (fitting > 1) {
          left = std::min(left, router);
          continue;
        }
        take(*only);
        taken = true;
      }
    }
    if (left == none) return true;
    const std::vector<std::uint32_t> before = group_;
    const std::uint32_t groups = groups_;
    for (const Members& members : candidates_of(left)) {
      if (!fits(members)) continue;
      take(members);
      if (settle()) return true;
      group_ = before;
      groups_ = groups;
    }
    return false;
  }

  void take(const Members& members) {
    for (const std::uint32_t member : members) group_[member] = groups_;
    ++groups_;
  }

  /// The groups that a router may be in, the one whose routers are nearest in number first: files list them together.
  const std::vector<Members>& candidates_of(std::uint32_t router) {
    Candidates& found = candidates_[router];
    if (found.known) return found.list;
    found.known = true;
    const std::uint64_t stamp = ++stamp_;
    for (const std::uint32_t neighbour : wiring_.of(router)) near_[neighbour] = stamp;
    for (const std::uint32_t neighbour : wiring_.of(router)) {
      if (held_[neighbour] == stamp) continue;
      Members members{router, neighbour};
      for (const std::uint32_t at : wiring_.of(neighbour))
        if (near_[at] == stamp && members.size() <= size_) members.push_back(at);
      if (members.size() != size_ || !all_wired(members)) continue;
      for (const std::uint32_t member : members) held_[member] = stamp;
      std::ranges::sort(members);
      found.list.push_back(std::move(members));
    }
    std::ranges::stable_sort(found.list, {}, [](const Members& members) { return members.back() - members.front(); });
    return found.list;
  }

  bool all_wired(const Members& members) {
    const std::uint64_t stamp = ++stamp_;
    for (const std::uint32_t member : members) seen_[member] = stamp;
    return std::ranges::all_of(members, [&](std::uint32_t member) {
      return std::ranges::count_if(wiring_.of(member), [&](auto at) { return seen_[at] == stamp; }) + 1 == size_;
    });
  }

  /// True if none of the members is in a group yet, no router elsewhere is wired to two of them, and one link leads to
  /// each group so far.
  bool fits(const Members& members) {
    const std::uint64_t stamp = ++stamp_;
    std::uint32_t reached = 0;
    for (const std::uint32_t member : members) {
      if (group_[member] != none) return false;
      work_left_ -= static_cast<std::int64_t>(wiring_.of(member).size());
    }
    for (const std::uint32_t member : members) seen_[member] = stamp;
    for (const std::uint32_t member : members) {
      for (const std::uint32_t at : wiring_.of(member)) {
        if (std::ranges::binary_search(members, at)) continue;
        if (std::exchange(seen_[at], stamp) == stamp) return false;
        if (group_[at] == none) continue;
        if (std::exchange(linked_[group_[at]], stamp) == stamp) return false;
        ++reached;
      }
    }
    return reached == groups_;
  }

  const Grouped& wiring_;
  std::uint32_t size_, routers_, groups_ = 0;
  std::vector<std::uint32_t> group_;               ///< per router
  std::vector<Candidates> candidates_;             ///< per router, made when they are asked for
  std::vector<std::uint64_t> near_, held_, seen_;  ///< per router: when it was that last
  std::vector<std::uint64_t> linked_;              ///< per group: the same
  std::uint64_t stamp_ = 0;
  std::int64_t work_left_ = 1 << 28;  ///< links looked at: a fraction of a second
};

constexpr std::uint32_t no_number = ~std::uint32_t{0};

}  // namespace

std::shared_ptr<const Dragonfly> Dragonfly::find(const NetworkSpec& spec) {
  std::shared_ptr<Dragonfly> found(new Dragonfly);
  return found->number_routers(spec) && found->join_groups() ? found : nullptr;
}

/// Leaves are nodes with one link. The number of links between routers leaves few sizes of a group.
bool Dragonfly::number_routers(const NetworkSpec& spec) {
  const std::size_t nodes = spec.names.size();
  std::vector<std::uint32_t> degree(nodes, 0);
  head_.reserve(2 * spec.links.size());
  for (const LinkSpec& link : spec.links) {
    head_.insert(head_.end(), {link.b, link.a});
    ++degree[link.a], ++degree[link.b];
  }
  router_.assign(nodes, no_number);
  std::uint32_t routers = 0;
  for (Node node = 0; node < nodes; ++node) {
    if (degree[node] > 1) router_[node] = routers++;
    if (degree[node] > 1 && spec.ranks[node] > 0) return false;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (const LinkSpec& link : spec.links)
    if (degree[link.a] > 1 && degree[link.b] > 1) links.emplace_back(router_[link.a], router_[link.b]);

  const Grouped wiring = group(routers, [&](auto visit) {
    for (const auto& [a, b] : links) visit(a, b), visit(b, a);
  });
  std::vector<std::uint32_t> group_of;
  for (routers_ = 3; 3 * std::uint64_t{routers_} <= routers && group_of.empty(); ++routers_) {
    groups_ = routers / routers_;
    const std::uint64_t inside = std::uint64_t{routers} * (routers_ - 1) / 2;
    const std::uint64_t across = std::uint64_t{groups_} * (groups_ - 1) / 2;
    if (routers % routers_ == 0 && links.size() == inside + across) group_of = RouterGroups(wiring, routers_).find();
  }
  if (group_of.empty()) return false;
  --routers_;
  std::vector<std::uint32_t> members(groups_, 0), number(routers);
  for (std::uint32_t at = 0; at < routers; ++at) number[at] = group_of[at] * routers_ + members[group_of[at]]++;

  to_router_.assign(nodes, no_channel);
  for (Node node = 0; node < nodes; ++node)
    if (router_[node] != no_number) router_[node] = number[router_[node]];
  for (Channel channel = 0; channel < head_.size(); ++channel) {
    const Node leaf = tail(channel), router = head(channel);
    if (degree[leaf] > 1) continue;
    if (degree[router] == 1) return false;
    router_[leaf] = router_[router];
    to_router_[leaf] = channel;
  }
  return true;
}

/// Fills in the channels within and between groups; false if two channels have the same ends. Since there are no more
/// links than entries, none is missing if none is there twice.
bool Dragonfly::join_groups() {
  inside_.assign(std::size_t{groups_} * routers_ * routers_, no_channel);
  between_.assign(std::size_t{groups_} * groups_, no_channel);
  for (Channel channel = 0; channel < head_.size(); ++channel) {
    if (is_leaf(tail(channel)) || is_leaf(head(channel))) continue;
    const std::uint32_t from = router_[tail(channel)], to = router_[head(channel)];
    const bool same = from / routers_ == to / routers_;
    Channel& place = same ? inside_[std::size_t{from} * routers_ + to % routers_]
                          : between_[std::size_t{from / routers_} * groups_ + to / routers_];
    if (place != no_channel) return false;
    place = channel;
  }
  return true;
}

void Dragonfly::append(Node src, Node dst, std::vector<Channel>& route) const {
  std::uint32_t at = router_[src];
  const std::uint32_t last = router_[dst];
  const auto step_to = [&](std::uint32_t router) {
    if (at != router) route.push_back(inside(at, router));
    at = router;
  };
  route.push_back(to_router_[src]);
  if (at / routers_ != last / routers_) {
    const Channel link = between(at / routers_, last / routers_);
    step_to(router_[tail(link)]);
    route.push_back(link);
    at = router_[head(link)];
  }
  step_to(last);
  route.push_back(to_router_[dst] ^ 1);
}

}  // namespace hocket
