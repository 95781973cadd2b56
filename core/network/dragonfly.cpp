#include "core/network/dragonfly.hpp"

#include <utility>

#include "core/network/router_groups.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t no_number = ~std::uint32_t{0};

class DragonflyRouting final : public Routing {
 public:
  explicit DragonflyRouting(std::shared_ptr<const Dragonfly> dragonfly) : dragonfly_(std::move(dragonfly)) {}
  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    dragonfly_->append_route(src, dst, route);
  }

 private:
  std::shared_ptr<const Dragonfly> dragonfly_;
};

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

  const RouterWiring wiring(routers, links);
  std::vector<std::uint32_t> group;
  for (routers_ = 3; 3 * std::uint64_t{routers_} <= routers && group.empty(); ++routers_) {
    groups_ = routers / routers_;
    const std::uint64_t inside = std::uint64_t{routers} * (routers_ - 1) / 2;
    const std::uint64_t across = std::uint64_t{groups_} * (groups_ - 1) / 2;
    if (routers % routers_ == 0 && links.size() == inside + across) group = RouterGroups(wiring, routers_).find();
  }
  if (group.empty()) return false;
  --routers_;
  std::vector<std::uint32_t> members(groups_, 0), number(routers);
  for (std::uint32_t at = 0; at < routers; ++at) number[at] = group[at] * routers_ + members[group[at]]++;

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

void Dragonfly::append_route(Node src, Node dst, std::vector<Channel>& route) const {
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

std::unique_ptr<Routing> dragonfly_routing(std::shared_ptr<const Dragonfly> dragonfly) {
  return std::make_unique<DragonflyRouting>(std::move(dragonfly));
}

}  // namespace hocket
