#pragma once
/// Edge colouring of bipartite graphs: as many colours as the largest degree are enough (König, 1916).
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace hocket {

struct BipartiteGraph {
  /// An edge between two vertices: ends[0] on the one side, ends[1] on the other. The vertices of both sides are
  /// numbered together.
  struct Edge {
    std::array<std::uint32_t, 2> ends;
  };
  std::vector<Edge> edges;
  std::uint32_t vertices = 0;
  std::uint32_t degree = 0;  ///< the largest
};

/// A partial colouring that grows edge by edge. The graph must outlive it.
class EdgeColours {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit EdgeColours(const BipartiteGraph& graph)
      : graph_(graph), colour_of_(graph.edges.size(), none), at_(std::size_t{graph.vertices} * graph.degree, none) {}

  [[nodiscard]] const std::vector<std::uint32_t>& colour_of() const { return colour_of_; }
  /// The edge of this colour at a vertex, or none.
  [[nodiscard]] std::uint32_t at(std::uint32_t vertex, std::uint32_t colour) const {
    return at_[std::size_t{vertex} * graph_.degree + colour];
  }

  void set(std::uint32_t edge, std::uint32_t colour);
  /// Gives an edge the first colour that is free at its first end. If that is taken at the second one, swaps it with
  /// the first colour that is free there, along the path that begins there (Kempe, 1879). It never comes to the first
  /// end: on that side it always arrives by the colour that is free there.
  void add(std::uint32_t edge);

 private:
  [[nodiscard]] std::uint32_t& at(std::uint32_t vertex, std::uint32_t colour) {
    return at_[std::size_t{vertex} * graph_.degree + colour];
  }
  [[nodiscard]] std::uint32_t free_at(std::uint32_t vertex) const;
  /// Swaps two colours along the path from a vertex of the second side, where colour `b` is free; afterwards `a` is.
  void swap_path(std::uint32_t vertex, std::uint32_t a, std::uint32_t b);

  const BipartiteGraph& graph_;
  std::vector<std::uint32_t> colour_of_;
  std::vector<std::uint32_t> at_;  ///< per vertex and colour: the edge
};

inline void EdgeColours::set(std::uint32_t edge, std::uint32_t colour) {
  colour_of_[edge] = colour;
  for (const std::uint32_t end : graph_.edges[edge].ends) at(end, colour) = edge;
}

inline void EdgeColours::add(std::uint32_t edge) {
  const auto [first, second] = graph_.edges[edge].ends;
  const std::uint32_t wanted = free_at(first), other = free_at(second);
  if (at(second, wanted) != none) swap_path(second, wanted, other);
  set(edge, wanted);
}

inline std::uint32_t EdgeColours::free_at(std::uint32_t vertex) const {
  const auto row = at_.begin() + static_cast<std::ptrdiff_t>(std::size_t{vertex} * graph_.degree);
  return static_cast<std::uint32_t>(std::find(row, row + graph_.degree, none) - row);
}

inline void EdgeColours::swap_path(std::uint32_t vertex, std::uint32_t a, std::uint32_t b) {
  std::uint32_t edge = at(vertex, a);
  at(vertex, a) = none;
  for (int side = 0; edge != none; side = 1 - side, std::swap(a, b)) {
    // `edge` has colour a and comes from a vertex where b is free by now.
    const std::uint32_t to = graph_.edges[edge].ends[side];
    const std::uint32_t next = at(to, b);
    colour_of_[edge] = b;
    at(vertex, b) = at(to, b) = edge;
    if (next == none) at(to, a) = none;
    vertex = to;
    edge = next;
  }
}

}  // namespace hocket
