/// "disjoint-trees": one contribution on networks whose hosts are wired to each other, down trees that share no
/// channel.
///
/// If every cut between the giver and another host has k channels, there are k spanning trees of directed channels
/// that share none (Edmonds, "Edge-disjoint branchings", 1973): each carries 1/k of the contribution in pieces, and the
/// bound of the narrowest cut is met. The trees grow together, near hosts first, by single channels after which
/// all can still be completed: one flow says so (after Lovász, "On two minimax theorems in graphs", 1976).
#include <limits>
#include <queue>

#include "core/algorithms/rooted/one_giver.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t most_hosts = 1024;  // half a second on one core
constexpr std::uint32_t most_trees = 32;    // bits of a mask
constexpr std::uint32_t none = ~std::uint32_t{0};

struct Arc {
  Node from, to;
};

/// The channels from host to host over which messages between these two go.
std::vector<Arc> wired_hosts(const Network& network) {
  std::vector<Arc> arcs;
  if (network.shape() == Shape::routed) return arcs;
  std::vector<Channel> route;
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const Node from = network.spec().tail(channel), to = network.spec().head(channel);
    if (!network.is_host(from) || !network.is_host(to)) continue;
    network.find_route(network.first_rank(from), network.first_rank(to), route);
    if (route.size() == 1 && route.front() == channel) arcs.push_back({from, to});
  }
  return arcs;
}

/// Trees that grow together. Every tree is a source that reaches the hosts it has; all can be completed as long as
/// each host is reached from all trees at once by paths that share no free arc.
class GrowingTrees {
 public:
  GrowingTrees(std::uint32_t nodes, std::vector<Arc> arcs, Node root, std::uint32_t trees)
      : arcs_(std::move(arcs)),
        trees_(trees),
        out_(nodes),
        in_(nodes),
        has_(nodes, 0),
        free_(arcs_.size(), 1),
        came_(nodes),
        tree_came_(trees),
        enters_(trees),
        carries_(arcs_.size()) {
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      out_[arcs_[arc].from].push_back(arc);
      in_[arcs_[arc].to].push_back(arc);
    }
    has_[root] = static_cast<std::uint32_t>((std::uint64_t{1} << trees) - 1);
  }

  [[nodiscard]] bool can_reach(Node host) {
    std::ranges::fill(enters_, none);
    std::ranges::fill(carries_, char{0});
    for (std::uint32_t path = 0; path < trees_; ++path)
      if (!add_path(host)) return false;
    return true;
  }

  [[nodiscard]] bool has(std::uint32_t tree, Node host) const { return (has_[host] >> tree & 1) != 0; }
  [[nodiscard]] const std::vector<std::uint32_t>& leaving(Node host) const { return out_[host]; }
  [[nodiscard]] Arc arc(std::uint32_t arc) const { return arcs_[arc]; }
  [[nodiscard]] bool is_free(std::uint32_t arc) const { return free_[arc] != 0; }

  /// False if the others could not be completed any more.
  bool add(std::uint32_t tree, std::uint32_t arc) {
    free_[arc] = 0;
    has_[arcs_[arc].to] |= std::uint32_t{1} << tree;
    if (can_reach(arcs_[arc].to)) return true;
    free_[arc] = 1;
    has_[arcs_[arc].to] &= ~(std::uint32_t{1} << tree);
    return false;
  }

 private:
  enum class By : std::uint8_t { unseen, target, arc, arc_back, tree };
  struct Came {
    By by = By::unseen;
    std::uint32_t from = 0;  ///< arc or tree
  };

  /// Backwards from the host to a tree that is no source yet.
  bool add_path(Node host) {
    std::ranges::fill(came_, Came{});
    std::ranges::fill(tree_came_, none);
    came_[host].by = By::target;
    queue_.assign(1, host);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const Node node = queue_[at];
      for (std::uint32_t tree = 0; tree < trees_; ++tree) {
        if (!has(tree, node) || tree_came_[tree] != none || enters_[tree] == node) continue;
        tree_came_[tree] = node;
        if (enters_[tree] == none) {
          take(tree);
          return true;
        }
        see(enters_[tree], By::tree, tree);
      }
      for (const std::uint32_t arc : in_[node])
        if (free_[arc] != 0 && carries_[arc] == 0) see(arcs_[arc].from, By::arc, arc);
      for (const std::uint32_t arc : out_[node])
        if (carries_[arc] != 0) see(arcs_[arc].to, By::arc_back, arc);
    }
    return false;
  }

  void see(Node node, By by, std::uint32_t from) {
    if (came_[node].by != By::unseen) return;
    came_[node] = {by, from};
    queue_.push_back(node);
  }

  void take(std::uint32_t tree) {
    for (Node node = enters_[tree] = tree_came_[tree];;) {
      const Came came = came_[node];
      if (came.by == By::target) return;
      if (came.by == By::tree) {
        node = enters_[came.from] = tree_came_[came.from];
        continue;
      }
      carries_[came.from] = came.by == By::arc ? 1 : 0;
      node = came.by == By::arc ? arcs_[came.from].to : arcs_[came.from].from;
    }
  }

  std::vector<Arc> arcs_;
  std::uint32_t trees_;
  std::vector<std::vector<std::uint32_t>> out_, in_;  ///< per node: arcs
  std::vector<std::uint32_t> has_;                    ///< per node: a bit for each tree that has it
  std::vector<char> free_;                            ///< per arc: in no tree
  std::vector<Came> came_;                            ///< per node, of one search
  std::vector<Node> tree_came_;
  std::vector<Node> enters_;   ///< per tree: where its path begins
  std::vector<char> carries_;  ///< per arc: in a path
  std::vector<Node> queue_;
};

/// Number of trees: the narrowest cut between the root and a host, at most `most_trees`.
std::uint32_t narrowest_cut(const Network& network, const std::vector<Arc>& arcs, Node root) {
  std::vector<std::uint32_t> in(network.nodes(), 0), out(network.nodes(), 0);
  for (const Arc& arc : arcs) ++out[arc.from], ++in[arc.to];
  std::uint32_t trees = std::min(out[root], most_trees);
  for (const Node host : network.hosts())
    if (host != root) trees = std::min(trees, in[host]);
  for (; trees > 0; --trees) {
    GrowingTrees paths(network.nodes(), arcs, root, trees);
    if (std::ranges::all_of(network.hosts(), [&](Node host) { return host == root || paths.can_reach(host); })) break;
  }
  return trees;
}

/// A tree's relay to a host, which may follow.
struct Growth {
  std::uint32_t depth, arc, tree;
  std::uint64_t number;
  bool operator>(const Growth& other) const {
    return depth != other.depth ? depth > other.depth : number > other.number;
  }
};

/// Grows the trees; returns each one's arcs with the depths at which they end.
std::vector<std::vector<Growth>> grow(const Network& network, std::vector<Arc> arcs, Node root, std::uint32_t trees) {
  GrowingTrees growing(network.nodes(), std::move(arcs), root, trees);
  std::vector<std::vector<Growth>> grown(trees);
  std::priority_queue<Growth, std::vector<Growth>, std::greater<>> next;
  std::vector<Growth> refused;
  std::uint64_t number = 0;
  const auto reach = [&](std::uint32_t tree, Node host, std::uint32_t depth) {
    for (const std::uint32_t arc : growing.leaving(host)) next.push({depth + 1, arc, tree, number++});
  };
  for (std::uint32_t tree = 0; tree < trees; ++tree) reach(tree, root, 0);
  for (std::uint64_t left = std::uint64_t{trees} * (network.hosts().size() - 1); left > 0;) {
    if (next.empty()) {  // refused growths may be possible now that other trees have grown
      for (const Growth& growth : refused) next.push(growth);
      refused.clear();
    }
    const Growth growth = next.top();
    next.pop();
    const Node to = growing.arc(growth.arc).to;
    if (!growing.is_free(growth.arc) || growing.has(growth.tree, to)) continue;
    if (!growing.add(growth.tree, growth.arc)) {
      refused.push_back(growth);
      continue;
    }
    grown[growth.tree].push_back(growth);
    reach(growth.tree, to, growth.depth);
    --left;
  }
  return grown;
}

}  // namespace

static std::string_view disjoint_trees_refuses(const Network& network, const Demand& demand) {
  if (!demand.only_block()) return "it serves one contribution";
  if (network.hosts().size() > most_hosts) return "more than 1024 hosts: it would take long";
  if (network.tree() != nullptr) return "it needs hosts that are wired to each other";
  const Node root = network.host_of(demand.only_block().value());
  return network.hosts().size() < 2 || narrowest_cut(network, wired_hosts(network), root) > 0
             ? ""
             : "it needs hosts that are wired to each other";
}

static Schedule make_disjoint_trees(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const Rank giver = demand.only_block().value();
  const Node root = network.host_of(giver);
  const std::vector<Arc> arcs = wired_hosts(network);
  const auto grown = grow(network, arcs, root, std::max(1u, narrowest_cut(network, arcs, root)));
  // Messages go from one rank of a host to one of the next; the others of a host get theirs through memory.
  const auto entry = [&](Node host) { return host == root ? giver : network.first_rank(host); };
  Pipeline pipeline{static_cast<std::uint32_t>(grown.size()), 1, 1, std::numeric_limits<double>::max()};
  std::vector<std::vector<Relay>> relays(grown.size());
  std::vector<std::uint32_t> sends(demand.ranks, 0);
  const auto relay = [&](std::size_t tree, Rank src, Rank dst, std::uint32_t age) {
    relays[tree].push_back({src, dst, age});
    pipeline.depth = std::max(pipeline.depth, age + 1);
    pipeline.sends_at_once = std::max(pipeline.sends_at_once, ++sends[src]);
    pipeline.rate = std::min(pipeline.rate, own_speed(network, network.route(src, dst)));
  };
  const auto share_out = [&](std::size_t tree, Node host, std::uint32_t age) {
    for (const Rank rank : network.ranks_of(host))
      if (rank != entry(host)) relay(tree, entry(host), rank, age);
  };
  for (std::size_t tree = 0; tree < grown.size(); ++tree) {
    share_out(tree, root, 0);
    for (const Growth& growth : grown[tree]) {
      relay(tree, entry(arcs[growth.arc].from), entry(arcs[growth.arc].to), growth.depth - 1);
      share_out(tree, arcs[growth.arc].to, growth.depth);
    }
  }
  return send_in_pieces(demand, pipeline, pieces_of_a_lane(demand, pipeline, costs),
                        [&](std::uint32_t tree, std::uint64_t, auto visit) {
                          for (const Relay& one : relays[tree]) visit(one);
                        });
}

static bool disjoint_trees_is_far(const Network& network, const Demand& demand, const Bounds& bounds) {
  return network.tree() == nullptr && is_far_piped(network, bounds, make_disjoint_trees(network, demand, {}));
}

constinit const Algorithm disjoint_trees{
    .pattern = Pattern::all_gather,
    .name = "disjoint-trees",
    .summary = "one contribution in pieces down trees that share no channel",
    .source = "Edmonds; grown together by flows: own, after Lovász",
    .contention_free = true,
    .ports = PortModel::all_port,
    .refuses = disjoint_trees_refuses,
    .make = make_disjoint_trees,
    .rank = 1,
    .is_far = disjoint_trees_is_far,
    .one_contribution = true,
};

}  // namespace hocket::algorithms
