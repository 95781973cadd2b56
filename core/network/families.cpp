#include <initializer_list>

#include "core/network/routing.hpp"

namespace hocket {
namespace {

constexpr double most_nodes = 1u << 22, most_links = 1u << 23;

double product(std::span<const std::uint32_t> factors) {
  double result = 1;
  for (const std::uint32_t factor : factors) result *= factor;
  return result;
}

double product(std::initializer_list<std::uint32_t> factors) {
  return product(std::span(factors.begin(), factors.end()));
}

/// Nodes and links in the order in which they are added.
class Builder {
 public:
  Builder(Shape shape, double nodes, double links, const Equipment& equipment) : equipment_(equipment) {
    if (nodes > most_nodes || links > most_links) throw InputError("the sizes give too many nodes or links");
    spec.shape = shape;
    spec.names.reserve(static_cast<std::size_t>(nodes));
    spec.ranks.reserve(static_cast<std::size_t>(nodes));
    spec.links.reserve(static_cast<std::size_t>(links));
  }

  Node add_switch() { return add("s" + std::to_string(switches_++), 0); }
  void add_switches(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) add_switch();
  }
  Node add_host() { return add("n" + std::to_string(hosts_++), equipment_.ranks); }
  /// Adds the hosts of a switch and their links.
  void add_hosts(Node node, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) join(node, add_host());
  }
  void join(Node a, Node b, std::uint32_t cables = 1) {
    spec.links.push_back({a, b, equipment_.rate * cables, equipment_.latency});
  }

  /// `between` links from each group to each: port p of `ports` of a group leads p + 1 groups further, what comes back
  /// from there has the opposite port. node(group, port, ports) has that port.
  void join_groups(std::uint32_t groups, std::uint32_t between, auto node) {
    const std::uint64_t others = groups - 1, ports = others * between;
    for (std::uint32_t group = 0; group < groups; ++group)
      for (std::uint32_t ahead = 0; ahead < others; ++ahead)
        for (std::uint32_t copy = 0; copy < between; ++copy) {
          const std::uint32_t other = (group + ahead + 1) % groups;
          if (group > other) continue;
          const std::uint64_t first = copy * others;
          join(node(group, first + ahead, ports), node(other, first + others - 1 - ahead, ports));
        }
  }

  NetworkSpec spec;

 private:
  Node add(std::string name, std::uint32_t ranks) {
    spec.names.push_back(std::move(name));
    spec.ranks.push_back(ranks);
    return static_cast<Node>(spec.names.size() - 1);
  }

  Equipment equipment_;
  std::uint32_t hosts_ = 0, switches_ = 0;
};

void check_sizes(std::initializer_list<std::uint32_t> sizes) {
  if (std::ranges::find(sizes, 0u) != sizes.end()) throw InputError("a size of 0");
}

}  // namespace

NetworkSpec tree_spec(const std::vector<std::int32_t>& parents, const std::vector<std::uint32_t>& hosts,
                      const Equipment& equipment) {
  if (parents.size() != hosts.size()) throw InputError("a tree needs one number of hosts per switch");
  double nodes = static_cast<double>(parents.size());
  for (const std::uint32_t count : hosts) nodes += count;
  Builder builder(Shape::tree, nodes, std::max(nodes - 1, 0.0), equipment);
  std::vector<Node> switches;
  switches.reserve(parents.size());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const std::int64_t parent = parents[i];
    if (parent >= static_cast<std::int64_t>(i)) throw InputError("a switch stands before the one above it");
    switches.push_back(builder.add_switch());
    if (parent >= 0) builder.join(switches[static_cast<std::size_t>(parent)], switches.back());
    builder.add_hosts(switches.back(), hosts[i]);
  }
  return std::move(builder.spec);
}

NetworkSpec fat_tree_spec(const std::vector<std::uint32_t>& down, const std::vector<std::uint32_t>& up,
                          const std::vector<std::uint32_t>& cables, const Equipment& equipment) {
  const std::size_t levels = down.size();
  if (levels == 0 || up.size() != levels || cables.size() != levels)
    throw InputError("a fat tree needs as many numbers of parents and cables as of children");
  for (std::size_t level = 0; level < levels; ++level) check_sizes({down[level], up[level], cables[level]});

  std::vector<double> sizes;  // nodes of each level
  double nodes = 0, links = 0;
  for (std::size_t level = 0; level <= levels; ++level) {
    sizes.push_back(product(std::span(up).first(level)) * product(std::span(down).subspan(level)));
    nodes += sizes.back();
    if (level < levels) links += sizes.back() * up[level];
  }
  Builder builder(*std::ranges::max_element(up) == 1 ? Shape::tree : Shape::graph, nodes, links, equipment);
  const auto hosts = static_cast<std::uint64_t>(sizes[0]);
  for (std::uint64_t host = 0; host < hosts; ++host) builder.add_host();
  builder.add_switches(static_cast<std::uint64_t>(nodes) - hosts);

  Node first = 0;  // first node of the level
  for (std::size_t level = 0; level < levels; ++level) {
    // A node's position is a number whose digit j counts parents below its level and children above; a child and its
    // parent differ in digit `level` only.
    const auto step = static_cast<Node>(product(std::span(up).first(level)));
    const auto highs = static_cast<Node>(product(std::span(down).subspan(level + 1)));
    const Node first_above = first + static_cast<Node>(sizes[level]);
    for (Node high = 0; high < highs; ++high)
      for (Node child = 0; child < down[level]; ++child)
        for (Node low = 0; low < step; ++low)
          for (Node parent = 0; parent < up[level]; ++parent)
            builder.join(first_above + (high * up[level] + parent) * step + low,
                         first + (high * down[level] + child) * step + low, cables[level]);
    first = first_above;
  }
  return std::move(builder.spec);
}

NetworkSpec dragonfly_spec(std::uint32_t groups, std::uint32_t routers, std::uint32_t hosts, std::uint32_t between,
                           const Equipment& equipment) {
  check_sizes({groups, routers, hosts, between});
  const double all = product({groups, routers});
  Builder builder(Shape::graph, all * (1.0 + hosts),
                  all * (hosts + (routers - 1) / 2.0) + product({groups, groups - 1, between}) / 2, equipment);
  for (std::uint64_t router = 0; router < std::uint64_t{groups} * routers; ++router)
    builder.add_hosts(builder.add_switch(), hosts);
  const auto node = [=](std::uint32_t group, std::uint64_t router) {
    return static_cast<Node>((std::uint64_t{group} * routers + router) * (1 + hosts));
  };
  for (std::uint32_t group = 0; group < groups; ++group)
    for (std::uint32_t a = 0; a < routers; ++a)
      for (std::uint32_t b = a + 1; b < routers; ++b) builder.join(node(group, a), node(group, b));
  builder.join_groups(groups, between, [&](std::uint32_t group, std::uint64_t port, std::uint64_t ports) {
    return node(group, port * routers / ports);
  });
  return std::move(builder.spec);
}

NetworkSpec dragonfly_plus_spec(std::uint32_t groups, std::uint32_t leaves, std::uint32_t hosts, std::uint32_t spines,
                                std::uint32_t between, const Equipment& equipment) {
  check_sizes({groups, leaves, hosts, spines, between});
  const double all = product({groups, leaves});
  Builder builder(Shape::graph, all * (1.0 + hosts) + product({groups, spines}),
                  all * (hosts + double{1} * spines) + product({groups, groups - 1, between}) / 2, equipment);
  const auto first_spine = [=](std::uint32_t group) {
    return group * (leaves * (1 + hosts) + spines) + leaves * (1 + hosts);
  };
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      const Node node = builder.add_switch();
      builder.add_hosts(node, hosts);
      for (std::uint32_t spine = 0; spine < spines; ++spine) builder.join(node, first_spine(group) + spine);
    }
    builder.add_switches(spines);
  }
  builder.join_groups(groups, between, [&](std::uint32_t group, std::uint64_t port, std::uint64_t ports) {
    return first_spine(group) + static_cast<Node>(port * spines / ports);
  });
  return std::move(builder.spec);
}

}  // namespace hocket
