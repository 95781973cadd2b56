#include "core/algorithms/shared/edge_colours.hpp"

#include <algorithm>
#include <utility>

namespace hocket {

void EdgeColours::set(std::uint32_t edge, std::uint32_t colour) {
  colour_of_[edge] = colour;
  for (const std::uint32_t end : graph_.edges[edge].ends) at(end, colour) = edge;
}

void EdgeColours::add(std::uint32_t edge) {
  const auto [first, second] = graph_.edges[edge].ends;
  const std::uint32_t wanted = free_at(first), other = free_at(second);
  if (at(second, wanted) != none) swap_path(second, wanted, other);
  set(edge, wanted);
}

std::uint32_t EdgeColours::free_at(std::uint32_t vertex) const {
  const auto row = at_.begin() + static_cast<std::ptrdiff_t>(std::size_t{vertex} * graph_.degree);
  return static_cast<std::uint32_t>(std::find(row, row + graph_.degree, none) - row);
}

void EdgeColours::swap_path(std::uint32_t vertex, std::uint32_t a, std::uint32_t b) {
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
