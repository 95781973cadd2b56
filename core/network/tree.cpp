/// Trees of switches: rooting, and routes through the lowest common ancestor.
#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/network/routing.hpp"

namespace hocket {
namespace {

class TreeRouting final : public Routing {
 public:
  explicit TreeRouting(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    const Tree& tree = *tree_;
    // Climb from both ends to the lowest common ancestor; the way down is collected backwards.
    const std::size_t start = route.size();
    std::size_t down = 0;
    Channel way_down[64];
    std::vector<Channel> deep;  // only for trees deeper than the array
    while (src != dst) {
      if (tree.depth[src] >= tree.depth[dst]) {
        route.push_back(tree.up[src]);
        src = tree.parent[src];
      } else {
        if (down < std::size(way_down))
          way_down[down] = tree.up[dst] ^ 1;
        else
          deep.push_back(tree.up[dst] ^ 1);
        ++down;
        dst = tree.parent[dst];
      }
    }
    route.reserve(start + down);
    route.insert(route.end(), deep.rbegin(), deep.rend());
    for (std::size_t i = std::min(down, std::size(way_down)); i-- > 0;) route.push_back(way_down[i]);
  }

 private:
  const std::shared_ptr<const Tree> tree_;
};

}  // namespace

Tree root_tree(const NetworkSpec& spec) {
  const auto nodes = static_cast<Node>(spec.names.size());
  // Adjacency as compressed rows: (channel that leaves the node).
  std::vector<std::uint32_t> begin(nodes + 1, 0);
  for (const LinkSpec& link : spec.links) ++begin[link.a + 1], ++begin[link.b + 1];
  for (Node node = 0; node < nodes; ++node) begin[node + 1] += begin[node];
  std::vector<Channel> leaving(spec.links.size() * 2);
  std::vector<std::uint32_t> fill(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    leaving[fill[spec.links[i].a]++] = static_cast<Channel>(2 * i);
    leaving[fill[spec.links[i].b]++] = static_cast<Channel>(2 * i + 1);
  }

  Tree tree{
      std::vector<Node>(nodes, Tree::none), std::vector<std::uint32_t>(nodes, 0), std::vector<Channel>(nodes, 0), {}};
  // Start at a switch where there is one, so that hosts are leaves of the rooted tree.
  Node root = 0;
  while (root + 1 < nodes && spec.ranks[root] > 0) ++root;
  if (spec.ranks[root] > 0) root = 0;
  std::vector<char> seen(nodes, 0);
  seen[root] = 1;
  tree.order.reserve(nodes);
  tree.order.push_back(root);
  for (std::size_t at = 0; at < tree.order.size(); ++at) {
    const Node node = tree.order[at];
    for (std::uint32_t i = begin[node]; i < begin[node + 1]; ++i) {
      const Channel channel = leaving[i];
      if (tree.parent[node] != Tree::none && channel == tree.up[node]) continue;
      const LinkSpec& link = spec.links[channel / 2];
      const Node next = channel % 2 == 0 ? link.b : link.a;
      if (seen[next])
        throw NetworkProblem(
            "the link between '" + spec.names[link.a] + "' and '" + spec.names[link.b] + "' closes a cycle", -1,
            channel / 2);
      seen[next] = 1;
      tree.parent[next] = node;
      tree.depth[next] = tree.depth[node] + 1;
      tree.up[next] = channel ^ 1;
      tree.order.push_back(next);
    }
  }
  if (tree.order.size() < nodes) {
    const auto lost = static_cast<Node>(std::find(seen.begin(), seen.end(), 0) - seen.begin());
    throw NetworkProblem("'" + spec.names[lost] + "' is not connected to '" + spec.names[root] + "'", lost);
  }
  return tree;
}

std::unique_ptr<Routing> tree_routing(std::shared_ptr<const Tree> tree) {
  return std::make_unique<TreeRouting>(std::move(tree));
}

}  // namespace hocket
