#include "core/network/network.hpp"

#include <map>
#include <numeric>
#include <string_view>
#include <unordered_set>

namespace hocket {

namespace {

constexpr double min_rate = 1e3, max_rate = 1e13;  // bytes/s; outside this a unit was mistaken
constexpr double max_latency = 10;                 // seconds
constexpr std::uint32_t max_ranks = 1u << 22;
constexpr std::uint32_t max_ports = 1024;
/// Times the busiest channel of D-mod-k: routes without its closed forms are worth it below this.
constexpr double worth_other_routes = 0.98;

// Names go into lines that ranks print and into sources that are generated.
bool has_control_character(std::string_view name) {
  return std::ranges::any_of(name, [](unsigned char byte) { return byte < ' ' || byte == 0x7f; });
}

std::string number(double value) {
  std::string text = std::to_string(value);
  if (const auto dot = text.find('.'); dot != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

void check_rate(double rate, double latency, std::int64_t link) {
  if (!(rate >= min_rate && rate <= max_rate))
    throw NetworkProblem("rate of " + number(rate) + " bytes/s is not between 1 kB/s and 10 TB/s", -1, link);
  if (!(latency >= 0 && latency <= max_latency))
    throw NetworkProblem("latency of " + number(latency) + " s is not between 0 and 10 s", -1, link);
}

void check_nodes(const NetworkSpec& spec) {
  if (spec.names.size() != spec.ranks.size()) throw InputError("a network needs one rank count per node");
  std::unordered_set<std::string_view> seen;
  seen.reserve(spec.names.size());
  std::uint64_t total = 0;
  for (std::size_t node = 0; node < spec.names.size(); ++node) {
    const auto at = static_cast<std::int64_t>(node);
    if (spec.names[node].empty()) throw NetworkProblem("a node has an empty name", at);
    if (has_control_character(spec.names[node])) throw NetworkProblem("the name of a node has a control character", at);
    if (!seen.insert(spec.names[node]).second)
      throw NetworkProblem("the name '" + spec.names[node] + "' is used twice", at);
    total += spec.ranks[node];
    if (total > max_ranks) throw NetworkProblem("more than " + std::to_string(max_ranks) + " ranks", at);
  }
  if (total == 0) throw NetworkProblem("the network has no hosts");
  for (const auto* list : {&spec.ports, &spec.forwards})
    if (!list->empty() && list->size() != spec.names.size())
      throw InputError("a network needs one number of ports, and one word on forwarding, per node");
  for (std::size_t node = 0; node < spec.ports.size(); ++node)
    if (spec.ranks[node] > 0 && (spec.ports[node] < 1 || spec.ports[node] > max_ports))
      throw NetworkProblem("'" + spec.names[node] + "' has " + std::to_string(spec.ports[node]) +
                               " ports; a host has from 1 to " + std::to_string(max_ports),
                           static_cast<std::int64_t>(node));
}

void check_links(const NetworkSpec& spec) {
  if (spec.shape == Shape::routed) {
    for (std::size_t i = 0; i < spec.channels.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (has_control_character(spec.channels[i].name))
        throw NetworkProblem("the name of a channel has a control character", -1, at);
      check_rate(spec.channels[i].rate, spec.channels[i].latency, at);
    }
    return;
  }
  const bool direct = is_grid(spec.shape);
  std::vector<std::int64_t> link_of(spec.names.size(), -1);
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const LinkSpec& link = spec.links[i];
    const auto at = static_cast<std::int64_t>(i);
    if (link.a >= spec.names.size() || link.b >= spec.names.size())
      throw NetworkProblem("a link joins an unknown node", -1, at);
    if (link.a == link.b) throw NetworkProblem("'" + spec.names[link.a] + "' is linked to itself", -1, at);
    check_rate(link.rate, link.latency, at);
    for (const Node end : {link.a, link.b}) {
      if (spec.shape == Shape::tree && spec.ranks[end] > 0 && link_of[end] >= 0)
        throw NetworkProblem("host '" + spec.names[end] + "' is wired twice", end, at);
      link_of[end] = at;
    }
  }
  if (spec.names.size() == 1) return;
  for (Node node = 0; node < spec.names.size(); ++node)
    if (!direct && link_of[node] < 0)
      throw NetworkProblem("'" + spec.names[node] + "' is not connected to anything", node);
}

/// Time of the busiest channel where everyone sends a byte to everyone.
double busiest_seconds(const NetworkSpec& spec, const Routing& routing) {
  std::vector<std::uint64_t> load(2 * spec.links.size(), 0);
  std::vector<Channel> route;
  for (Node src = 0; src < spec.names.size(); ++src)
    for (Node dst = 0; dst < spec.names.size(); ++dst) {
      if (src == dst || spec.ranks[src] == 0 || spec.ranks[dst] == 0) continue;
      route.clear();
      routing.append(src, dst, route);
      for (const Channel channel : route) load[channel] += std::uint64_t{spec.ranks[src]} * spec.ranks[dst];
    }
  double busiest = 0;
  for (Channel channel = 0; channel < load.size(); ++channel)
    busiest = std::max(busiest, static_cast<double>(load[channel]) / spec.links[channel / 2].rate);
  return busiest;
}

/// Routes that are the ways back: from src to dst the channels of the route from dst to src, last first; of `links`
/// each in its other direction.
class WaysBack final : public Routing {
 public:
  WaysBack(std::shared_ptr<const Routing> routing, bool links) : routing_(std::move(routing)), links_(links) {}

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    const auto begin = static_cast<std::ptrdiff_t>(route.size());
    routing_->append(dst, src, route);
    std::reverse(route.begin() + begin, route.end());
    if (links_) std::for_each(route.begin() + begin, route.end(), [](Channel& channel) { channel ^= 1; });
  }

 private:
  std::shared_ptr<const Routing> routing_;
  bool links_;
};

}  // namespace

Network Network::with_routes(NetworkSpec spec) {
  check_nodes(spec);
  check_links(spec);
  if (!spec.next_hops.empty() && spec.shape != Shape::graph) throw NetworkProblem("only a graph has forwarding tables");
  if (!spec.forwards.empty() && spec.shape != Shape::graph)
    throw NetworkProblem("only hosts of a graph may be told to forward");
  Routes routes;
  if (spec.shape == Shape::routed)
    routes.routing = table_routing(spec);
  else if (spec.shape == Shape::tree)
    routes.routing = routes.tree = std::make_shared<const Tree>(root_tree(spec));
  else
    routes = spec.shape == Shape::graph ? graph_routes(spec) : Routes{grid_routing(spec)};
  return {std::move(spec), std::move(routes)};
}

Network::Network(NetworkSpec spec, Routes routes) : spec_(std::move(spec)), routes_(std::move(routes)) {
  find_kinds();
  number_ranks();
  measure_hosts();
}

Network::Routes Network::graph_routes(const NetworkSpec& spec) {
  const bool tables = !spec.next_hops.empty();
  Routes routes;
  if (tables) routes.routing = std::make_shared<NextHops>(forwarding_hops(spec));
  const std::shared_ptr<FatTree> found = FatTree::find(spec);
  routes.wired_as = found;
  if (found != nullptr && (!tables || found->follow(spec, *routes.routing))) {
    if (!tables && can_be_balanced(spec) && !found->loads_evenly(spec)) {
      routes.routing = std::make_shared<NextHops>(balanced_next_hops(spec));
      if (busiest_seconds(spec, *routes.routing) < worth_other_routes * busiest_seconds(spec, *found)) return routes;
    }
    routes.routing = routes.fat_tree = found;  // routes equal those of the tables, in less memory
  } else if (!tables) {
    routes.routing = routes.dragonfly = Dragonfly::find(spec);
    if (routes.routing == nullptr) routes.routing = std::make_shared<NextHops>(balanced_next_hops(spec));
  }
  return routes;
}

void Network::find_kinds() {
  std::map<std::pair<double, double>, std::uint32_t> places;
  const auto add = [&](double rate, double latency) {
    // Neighbours are mostly alike.
    if (!kind_.empty() && kinds_[kind_.back()].rate == rate && kinds_[kind_.back()].latency == latency) {
      kind_.push_back(kind_.back());
      return;
    }
    const auto [it, added] = places.emplace(std::pair(rate, latency), static_cast<std::uint32_t>(kinds_.size()));
    if (added) kinds_.push_back({rate, latency});
    kind_.push_back(it->second);
  };
  per_kind_ = spec_.shape == Shape::routed ? 0 : 1;
  kind_.reserve(spec_.links.size() + spec_.channels.size());
  for (const LinkSpec& link : spec_.links) add(link.rate, link.latency);
  for (const ChannelSpec& channel : spec_.channels) add(channel.rate, channel.latency);
  equal_rates_ = std::ranges::all_of(kinds_, [&](const Kind& kind) { return kind.rate == kinds_.front().rate; });
}

void Network::number_ranks() {
  hosts_.clear();
  host_of_.clear();
  first_rank_.assign(nodes(), 0);
  hosts_.reserve(nodes() - static_cast<std::size_t>(std::ranges::count(spec_.ranks, 0u)));
  host_of_.reserve(std::reduce(spec_.ranks.begin(), spec_.ranks.end(), std::size_t{0}));
  for (Node node = 0; node < nodes(); ++node) {
    if (!is_host(node)) continue;
    first_rank_[node] = ranks();
    hosts_.push_back(node);
    host_of_.insert(host_of_.end(), spec_.ranks[node], node);
  }
}

void Network::measure_hosts() {
  host_rate_ = 0;
  for (const LinkSpec& link : spec_.links)
    if (is_host(link.a) || is_host(link.b)) host_rate_ = std::max(host_rate_, link.rate);
  // The first channel of an explicit route is the host's own.
  for (const RouteSpec& route : spec_.routes)
    if (!route.channels.empty()) host_rate_ = std::max(host_rate_, rate(route.channels.front()));
  if (spec_.shape == Shape::routed && spec_.routes.empty() && !kinds_.empty())
    host_rate_ = std::ranges::max(kinds_, {}, &Kind::rate).rate;

  const double unit = message_rate();
  for (Kind& kind : kinds_) {
    const double units = std::floor(kind.rate / unit * (1 + 1e-9));
    kind.capacity = static_cast<std::uint32_t>(std::clamp(units, 1.0, 1e6));
  }
}

/// Full host speed; that of a port, where hosts have more ports than links and no message can be faster: between any
/// two hosts lies a slower link.
double Network::message_rate() const {
  if (spec_.ports.empty() || spec_.links.empty()) return host_rate_;
  std::vector<std::uint32_t> links(nodes(), 0), hosts(nodes(), 0);
  for (const LinkSpec& link : spec_.links) ++links[link.a], ++links[link.b];
  double rate = 0, slowest = host_rate_;
  for (const LinkSpec& link : spec_.links) {
    slowest = std::min(slowest, link.rate);
    for (const Node end : {link.a, link.b})
      if (is_host(end)) rate = std::max(rate, link.rate * std::min(1.0, double(links[end]) / spec_.ports[end]));
  }
  rate = std::max(rate, slowest);
  std::vector<Node> part(nodes());  // what faster links join
  std::iota(part.begin(), part.end(), 0U);
  const auto part_of = [&](Node node) {
    while (part[node] != node) node = part[node] = part[part[node]];
    return node;
  };
  for (const LinkSpec& link : spec_.links)
    if (link.rate > rate * (1 + 1e-9)) part[part_of(link.a)] = part_of(link.b);
  for (const Node host : hosts_)
    if (++hosts[part_of(host)] > 1) return host_rate_;
  return rate;
}

std::optional<Node> Network::find(const std::string& name) const {
  const auto it = std::find(spec_.names.begin(), spec_.names.end(), name);
  if (it == spec_.names.end()) return std::nullopt;
  return static_cast<Node>(it - spec_.names.begin());
}

std::uint32_t Network::ranks_per_host() const {
  const std::uint32_t first = spec_.ranks.front();
  return std::ranges::all_of(spec_.ranks, [&](std::uint32_t count) { return count == first; }) ? first : 0;
}

std::string Network::channel_name(Channel channel) const {
  if (spec_.shape == Shape::routed) return spec_.channels[channel].name;
  return name(spec_.tail(channel)) + "->" + name(spec_.head(channel));
}

Network Network::turned_round() const {
  Network turned = *this;
  const bool links = spec_.shape != Shape::routed;
  turned.routes_.routing = std::make_unique<WaysBack>(routes_.routing, links);
  turned.routes_.fat_tree = nullptr;
  for (RouteSpec& route : turned.spec_.routes) {
    std::swap(route.src, route.dst);
    std::ranges::reverse(route.channels);
  }
  return turned;
}

Network Network::restricted_to(std::span<const std::uint32_t> ranks_per_node) const {
  Network part = *this;
  part.spec_.ranks.assign(ranks_per_node.begin(), ranks_per_node.end());
  check_nodes(part.spec_);
  for (Node node = 0; node < nodes(); ++node)
    if (part.is_host(node) && !is_host(node))
      throw NetworkProblem("'" + name(node) + "' has no ranks in the whole network", node);
  std::erase_if(part.spec_.routes,
                [&](const RouteSpec& route) { return !part.is_host(route.src) || !part.is_host(route.dst); });
  part.number_ranks();
  part.measure_hosts();
  return part;
}

static std::string_view short_name(std::string_view name) {
  if (name.find_first_not_of("0123456789.") == std::string_view::npos) return name;
  return name.substr(0, name.find('.'));
}

static std::vector<Node> hosts_called(const Network& network, std::string_view name) {
  std::vector<Node> same_short_name;
  for (const Node host : network.hosts()) {
    if (network.name(host) == name) return {host};
    if (short_name(network.name(host)) == short_name(name)) same_short_name.push_back(host);
  }
  return same_short_name;
}

HostMatch match_host(const Network& network, std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::vector<Node> hosts = hosts_called(network, names[i]); !hosts.empty()) return {std::move(hosts), i};
  return {};
}

}  // namespace hocket
