#pragma once
/// Edge colouring: of complete graphs as a round-robin tournament, in which each meets each other once (the circle
/// method); of bipartite graphs: as many colours as the largest degree are enough (König, 1916).
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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

  void set(std::uint32_t edge, std::uint32_t colour) {
    colour_of_[edge] = colour;
    for (const std::uint32_t end : graph_.edges[edge].ends) at(end, colour) = edge;
  }
  /// Gives an edge the first colour that is free at its first end. If that is taken at the second one, swaps it with
  /// the first colour that is free there, along the path that begins there (Kempe, 1879). It never comes to the first
  /// end: on that side it always arrives by the colour that is free there.
  void add(std::uint32_t edge) {
    const auto [first, second] = graph_.edges[edge].ends;
    const std::uint32_t wanted = free_at(first), other = free_at(second);
    if (at(second, wanted) != none) swap_path(second, wanted, other);
    set(edge, wanted);
  }

 private:
  [[nodiscard]] std::uint32_t& at(std::uint32_t vertex, std::uint32_t colour) {
    return at_[std::size_t{vertex} * graph_.degree + colour];
  }
  [[nodiscard]] std::uint32_t free_at(std::uint32_t vertex) const {
    const auto row = at_.begin() + static_cast<std::ptrdiff_t>(std::size_t{vertex} * graph_.degree);
    return static_cast<std::uint32_t>(std::find(row, row + graph_.degree, none) - row);
  }
  /// Swaps two colours along the path from a vertex of the second side, where colour `b` is free; afterwards `a` is.
  void swap_path(std::uint32_t vertex, std::uint32_t a, std::uint32_t b) {
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

  const BipartiteGraph& graph_;
  std::vector<std::uint32_t> colour_of_;
  std::vector<std::uint32_t> at_;  ///< per vertex and colour: the edge
};

/// The perfect matchings of the complete graph of `teams` vertices; of an odd number one rests in each round, another
/// one every time.
class Tournament {
 public:
  explicit Tournament(std::uint32_t teams) : teams_(teams), odd_(teams % 2 == 0 ? teams - 1 : teams) {}

  [[nodiscard]] std::uint32_t rounds() const { return odd_; }
  /// Pairs of one round.
  [[nodiscard]] std::uint32_t pairs() const { return teams_ / 2; }

  struct Place {
    std::uint32_t pair;
    bool second;
  };
  [[nodiscard]] std::uint32_t team(std::uint32_t round, Place at) const {
    if (teams_ % 2 == 0 && at.pair + 1 == pairs()) return at.second ? odd_ : round;
    const std::uint32_t apart = at.pair + 1;
    return wrapped(at.second ? round + odd_ - apart : round + apart);
  }
  /// The pair of a team in a round; none: the team rests.
  [[nodiscard]] std::optional<Place> place(std::uint32_t round, std::uint32_t team) const {
    const bool even = teams_ % 2 == 0;
    if (even && team == odd_) return Place{pairs() - 1, true};
    const std::uint32_t apart = wrapped(team + odd_ - round);
    if (apart == 0) return even ? std::optional(Place{pairs() - 1, false}) : std::nullopt;
    const bool second = 2 * apart > odd_;
    return Place{(second ? odd_ - apart : apart) - 1, second};
  }
  /// The round in which two teams meet: half their sum, by the odd modulus.
  [[nodiscard]] std::uint32_t round_of(std::uint32_t a, std::uint32_t b) const {
    if (teams_ % 2 == 0 && a == odd_) return b;
    if (teams_ % 2 == 0 && b == odd_) return a;
    const std::uint32_t sum = wrapped(a + b);
    return (sum % 2 == 0 ? sum : sum + odd_) / 2;
  }

 private:
  [[nodiscard]] std::uint32_t wrapped(std::uint32_t sum) const { return sum < odd_ ? sum : sum - odd_; }

  std::uint32_t teams_, odd_;
};

}  // namespace hocket
