/// Routes on trees of switches, through the lowest common ancestor, and on tori, meshes and hypercubes, where hosts are
/// wired to each other, dimension by dimension.

#include "core/network/routing.hpp"

namespace hocket {

/// Climbs from both ends; the way down is collected backwards.
void Tree::append(Node src, Node dst, std::vector<Channel>& route) const {
  const std::size_t start = route.size();
  std::size_t down = 0;
  Channel way_down[64];
  std::vector<Channel> deep;  // only for trees deeper than the array
  while (src != dst) {
    if (depth[src] >= depth[dst]) {
      route.push_back(up[src]);
      src = parent[src];
    } else {
      if (down < std::size(way_down))
        way_down[down] = up[dst] ^ 1;
      else
        deep.push_back(up[dst] ^ 1);
      ++down;
      dst = parent[dst];
    }
  }
  route.reserve(start + down);
  route.insert(route.end(), deep.rbegin(), deep.rend());
  for (std::size_t i = std::min(down, std::size(way_down)); i-- > 0;) route.push_back(way_down[i]);
}

Tree root_tree(const NetworkSpec& spec) {
  const auto nodes = static_cast<Node>(spec.names.size());
  const Grouped leaving = leaving_channels(spec);
  Tree tree;
  tree.parent.assign(nodes, Tree::none);
  tree.depth.assign(nodes, 0);
  tree.up.assign(nodes, 0);
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
    for (const Channel channel : leaving.of(node)) {
      if (tree.parent[node] != Tree::none && channel == tree.up[node]) continue;
      const Node next = spec.head(channel);
      if (seen[next]) {
        const LinkSpec& link = spec.links[channel / 2];
        throw NetworkProblem(
            "the link between '" + spec.names[link.a] + "' and '" + spec.names[link.b] + "' closes a cycle", -1,
            channel / 2);
      }
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

namespace {

constexpr std::uint64_t max_grid_nodes = 1u << 20;

/// Row-major coordinates, and which of them have a link to the next one.
class Grid {
 public:
  Grid(Shape shape, const std::vector<std::uint32_t>& given) : wraps(shape == Shape::torus), sides(given) {
    if (shape == Shape::hypercube) {
      if (given.size() != 1 || given[0] > 20) throw NetworkProblem("a hypercube has one number of 0 to 20 dimensions");
      sides.assign(given[0], 2);
    }
    if (sides.empty() && shape != Shape::hypercube) throw NetworkProblem("a torus or mesh needs at least one side");
    std::uint64_t stride = 1;
    strides_.resize(sides.size());
    for (std::size_t d = sides.size(); d-- > 0;) {
      if (sides[d] == 0) throw NetworkProblem("a side of 0");
      strides_[d] = static_cast<std::uint32_t>(stride);
      stride *= sides[d];
      if (stride > max_grid_nodes) throw NetworkProblem("more than 2^20 nodes");
    }
    nodes = static_cast<Node>(stride);
  }

  [[nodiscard]] std::uint32_t coordinate(Node node, std::size_t d) const { return node / strides_[d] % sides[d]; }

  [[nodiscard]] std::uint32_t stride(std::size_t d) const { return strides_[d]; }

  [[nodiscard]] Node neighbour(Node node, std::size_t d, bool up) const {
    const std::uint32_t from = coordinate(node, d);
    const std::uint32_t to = (from + (up ? 1 : sides[d] - 1)) % sides[d];
    return node - from * strides_[d] + to * strides_[d];
  }

  /// One link per node and dimension; none where a mesh ends, and one, not two, on a side of 2.
  [[nodiscard]] bool has_link_up(Node node, std::size_t d) const {
    return coordinate(node, d) + 1 < sides[d] || (wraps && sides[d] > 2);
  }

  bool wraps;
  Node nodes;
  std::vector<std::uint32_t> sides;

 private:
  std::vector<std::uint32_t> strides_;
};

class GridRouting final : public Routing {
 public:
  explicit GridRouting(const NetworkSpec& spec)
      : grid_(spec.shape, spec.sides),
        ties_(grid_.wraps ? spec.ties : std::vector<std::string>(grid_.sides.size())),
        up_(std::size_t{grid_.nodes} * grid_.sides.size()),
        down_(up_) {
    Channel channel = 0;
    for (Node node = 0; node < grid_.nodes; ++node)
      for (std::size_t d = 0; d < grid_.sides.size(); ++d)
        if (grid_.has_link_up(node, d)) {
          up_[index(node, d)] = channel++;
          down_[index(grid_.neighbour(node, d, true), d)] = channel++;
          // On a side of 2 the one link serves both senses.
          if (grid_.wraps && grid_.sides[d] == 2) up_[index(grid_.neighbour(node, d, true), d)] = channel - 1;
        }
  }

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    // Long routes are walked often: few divisions.
    Node rest_of_src = src, rest_of_dst = dst;
    for (std::size_t d = 0; d < grid_.sides.size(); ++d) {
      const std::uint32_t side = grid_.sides[d], stride = grid_.stride(d);
      std::uint32_t at = rest_of_src / stride;
      const std::uint32_t to = rest_of_dst / stride;
      rest_of_src -= at * stride;
      rest_of_dst -= to * stride;
      const bool up = goes_up(side, grid_.wraps, ties_[d], at, to);
      const Node line = src - at * stride;  // where the coordinate is 0
      const std::vector<Channel>& channels = up ? up_ : down_;
      while (at != to) {
        route.push_back(channels[index(line + at * stride, d)]);
        if (up)
          at = at + 1 == side ? 0 : at + 1;
        else
          at = at == 0 ? side - 1 : at - 1;
      }
      src = line + to * stride;
    }
  }

  bool add_uses(std::span<const std::pair<Node, Node>> ends, std::vector<double>& load) const override {
    // Differences along each line: one more from where a message enters it, one fewer from where it leaves; then sums.
    std::vector<std::int32_t> up(up_.size(), 0), down(down_.size(), 0);
    for (const auto& [src, dst] : ends) {
      Node from = src;
      for (std::size_t d = 0; d < grid_.sides.size(); ++d) {
        const std::uint32_t side = grid_.sides[d], stride = grid_.stride(d);
        const std::uint32_t at = grid_.coordinate(from, d), to = grid_.coordinate(dst, d);
        if (at == to) continue;
        const Node line = from - at * stride;
        const bool rises = goes_up(side, grid_.wraps, ties_[d], at, to);
        std::vector<std::int32_t>& changes = rises ? up : down;
        from = line + to * stride;
        ++changes[index(line + at * stride, d)];
        --changes[index(from, d)];
        if (rises != (to > at)) ++changes[index(rises ? line : line + (side - 1) * stride, d)];  // round the end
      }
    }
    for (std::size_t d = 0; d < grid_.sides.size(); ++d) {
      const std::uint32_t side = grid_.sides[d], stride = grid_.stride(d);
      for (Node node = 0; node < grid_.nodes; ++node) {
        if (grid_.coordinate(node, d) > 0) up[index(node, d)] += up[index(node - stride, d)];
        const Node last = grid_.nodes - 1 - node;
        if (grid_.coordinate(last, d) + 1 < side) down[index(last, d)] += down[index(last + stride, d)];
      }
    }
    for (std::size_t i = 0; i < up.size(); ++i) {
      load[up_[i]] += up[i];
      load[down_[i]] += down[i];
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t index(Node node, std::size_t d) const { return node * grid_.sides.size() + d; }

  Grid grid_;
  std::vector<std::string> ties_;  ///< one row per side
  std::vector<Channel> up_, down_;
};

[[nodiscard]] bool has_ties(std::uint32_t side) { return side > 2 && side % 2 == 0; }

void check_ties(const NetworkSpec& spec) {
  if (spec.shape != Shape::torus) {
    if (!spec.ties.empty()) throw NetworkProblem("only a torus has ties");
    return;
  }
  if (spec.ties.size() != spec.sides.size()) throw NetworkProblem("a torus needs one row of ties per side");
  for (std::size_t d = 0; d < spec.sides.size(); ++d) {
    const std::string& row = spec.ties[d];
    const std::uint32_t length = has_ties(spec.sides[d]) ? spec.sides[d] : 0;
    if (row.size() != length || row.find_first_not_of("+-") != std::string::npos)
      throw NetworkProblem("the ties of side " + std::to_string(d + 1) + " are not " + std::to_string(length) +
                           " signs '+' or '-'");
  }
}

}  // namespace

NetworkSpec grid_spec(Shape shape, const std::vector<std::uint32_t>& sides, double rate, double latency) {
  const Grid grid(shape, sides);
  NetworkSpec spec;
  spec.shape = shape;
  spec.sides = sides;
  spec.ranks.assign(grid.nodes, 1);
  spec.names.reserve(grid.nodes);
  for (Node node = 0; node < grid.nodes; ++node) {
    std::string name = "h";
    for (std::size_t d = 0; d < grid.sides.size(); ++d)
      name += (d ? "-" : "") + std::to_string(grid.coordinate(node, d));
    spec.names.push_back(grid.sides.empty() ? "h0" : std::move(name));
    for (std::size_t d = 0; d < grid.sides.size(); ++d)
      if (grid.has_link_up(node, d)) spec.links.push_back({node, grid.neighbour(node, d, true), rate, latency});
  }
  if (shape == Shape::torus) spec.ties = ties_by_rule("parity", sides);
  return spec;
}

std::vector<std::string> ties_by_rule(const std::string& rule, const std::vector<std::uint32_t>& sides) {
  if (rule != "up" && rule != "parity")
    throw InputError("there is no rule '" + rule + "' for ties; there are up, parity");
  std::vector<std::string> ties(sides.size());
  for (std::size_t d = 0; d < sides.size(); ++d) {
    if (!has_ties(sides[d])) continue;
    ties[d].assign(sides[d], '+');
    for (std::uint32_t from = 1; from < sides[d]; from += 2)
      if (rule == "parity") ties[d][from] = '-';
  }
  return ties;
}

std::unique_ptr<Routing> grid_routing(const NetworkSpec& spec) {
  const NetworkSpec whole = grid_spec(spec.shape, spec.sides, 0, 0);
  const auto same_ends = [](const LinkSpec& x, const LinkSpec& y) { return x.a == y.a && x.b == y.b; };
  if (spec.names.size() != whole.names.size() || !std::ranges::equal(spec.links, whole.links, same_ends))
    throw NetworkProblem("the nodes and links are not those of a grid with these sides");
  check_ties(spec);
  return std::make_unique<GridRouting>(spec);
}

}  // namespace hocket
