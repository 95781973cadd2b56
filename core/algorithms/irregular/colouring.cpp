/// Edge colouring of the bipartite graph of senders and receivers, with as many colours as the largest degree
/// (König, 1916). Small ranks are put together first, so that tables stay linear in the messages (Cole, Ost and
/// Schirra, 2001). Euler splits halve the degree until only matchings are left (Gabow, 1976); those beyond the
/// largest degree are taken apart again, and each of their messages goes to another colour.
#include <bit>
#include <functional>
#include <numeric>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/edge_colours.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// Puts ranks of one side that follow each other into one vertex, as long as the largest degree allows: a
/// colouring of this graph is one of the other. No two vertices in a row fit together, so that there are less
/// than 4 × messages / degree + 2.
BipartiteGraph merged(const TrafficMatrix& matrix) {
  // Per side and rank: first its degree, then its vertex.
  std::array<std::vector<std::uint32_t>, 2> sides;
  for (auto& side : sides) side.assign(matrix.ranks(), 0);
  matrix.each([&](Rank src, Rank dst, std::uint64_t) { ++sides[0][src], ++sides[1][dst]; });
  BipartiteGraph graph;
  for (const auto& side : sides)
    for (const std::uint32_t degree : side) graph.degree = std::max(graph.degree, degree);
  for (auto& side : sides) {
    std::uint32_t sum = graph.degree;
    for (std::uint32_t& vertex : side) {
      const std::uint32_t degree = vertex;
      if (degree == 0) continue;
      const bool fits = degree <= graph.degree - sum;
      if (!fits) ++graph.vertices;
      sum = fits ? sum + degree : degree;
      vertex = graph.vertices - 1;
    }
  }
  graph.edges.reserve(matrix.messages());
  matrix.each([&](Rank src, Rank dst, std::uint64_t) { graph.edges.push_back({{sides[0][src], sides[1][dst]}}); });
  return graph;
}

/// Halves every degree, rounded up or down: pairs the edges of each vertex and lets the two of a pair go
/// different ways. The pairs string the edges into paths and, as the graph is bipartite, cycles of even length.
class EulerSplit {
 public:
  explicit EulerSplit(const BipartiteGraph& graph) : edges_(graph.edges), single_(graph.vertices, none) {
    for (auto& mate : mates_) mate.resize(graph.edges.size());
    half_.resize(graph.edges.size());
  }

  /// Sorts the edges into two halves; returns the size of the first.
  std::size_t operator()(std::span<std::uint32_t> edges) {
    for (const int side : {0, 1}) pair_up(edges, side);
    for (const std::uint32_t edge : edges) half_[edge] = unknown;
    for (const std::uint32_t edge : edges) {
      if (half_[edge] != unknown) continue;
      half_[edge] = 0;
      for (const int side : {0, 1}) follow(edge, side);
    }
    const auto second = std::stable_partition(edges.begin(), edges.end(), [&](auto edge) { return half_[edge] == 0; });
    return static_cast<std::size_t>(second - edges.begin());
  }

 private:
  static constexpr std::uint8_t unknown = 2;

  void pair_up(std::span<const std::uint32_t> edges, int side) {
    auto& mate = mates_[side];
    for (const std::uint32_t edge : edges) {
      std::uint32_t& single = single_[edges_[edge].ends[side]];
      mate[edge] = single;
      if (single != none) mate[single] = edge;
      single = single == none ? edge : none;
    }
    for (const std::uint32_t edge : edges) single_[edges_[edge].ends[side]] = none;
  }
  /// Along the string that leaves the edge by one of its ends.
  void follow(std::uint32_t edge, int side) {
    for (std::uint32_t next = none; (next = mates_[side][edge]) != none && half_[next] == unknown; side = 1 - side) {
      half_[next] = static_cast<std::uint8_t>(1 - half_[edge]);
      edge = next;
    }
  }

  const std::vector<BipartiteGraph::Edge>& edges_;
  std::vector<std::uint32_t> single_;                ///< per vertex: its edge that has no mate yet
  std::array<std::vector<std::uint32_t>, 2> mates_;  ///< per edge: its mate at either end
  std::vector<std::uint8_t> half_;
};

/// The edges in `classes` matchings, a power of two not below the largest degree.
std::vector<std::vector<std::uint32_t>> split_into_matchings(const BipartiteGraph& graph, std::size_t classes) {
  std::vector<std::uint32_t> edges(graph.edges.size());
  std::iota(edges.begin(), edges.end(), 0u);
  EulerSplit split(graph);
  std::vector<std::span<std::uint32_t>> parts{edges};
  while (parts.size() < classes) {
    std::vector<std::span<std::uint32_t>> halves;
    for (const auto part : parts) {
      const std::size_t first = split(part);
      halves.push_back(part.first(first));
      halves.push_back(part.subspan(first));
    }
    parts = std::move(halves);
  }
  std::vector<std::vector<std::uint32_t>> matchings;
  for (const auto part : parts) matchings.emplace_back(part.begin(), part.end());
  return matchings;
}

std::vector<std::uint32_t> colour_edges(const BipartiteGraph& graph) {
  EdgeColours colours(graph);
  auto matchings = split_into_matchings(graph, std::bit_ceil(graph.degree));
  std::ranges::stable_sort(matchings, std::greater{}, [](const auto& matching) { return matching.size(); });
  for (std::uint32_t colour = 0; colour < matchings.size(); ++colour)
    for (const std::uint32_t edge : matchings[colour])
      colour < graph.degree ? colours.set(edge, colour) : colours.add(edge);
  return colours.colour_of();
}

}  // namespace

static Schedule make_colouring(const Network&, const Demand& demand, const AlgorithmOptions&) {
  const BipartiteGraph graph = merged(demand.matrix);
  return whole_messages(demand, colour_edges(graph), graph.degree);
}

constinit const Algorithm colouring{
    .pattern = Pattern::irregular,
    .name = "colouring",
    .summary = "edge colouring: fewest phases, whatever the sizes",
    .source = "König; Euler splits: Gabow",
    .make = make_colouring,
    .guarantee = "exactly as many phases as the busiest rank has messages to send or to receive",
};

}  // namespace hocket::algorithms
