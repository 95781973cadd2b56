#pragma once
/// Sizes of the groups among which the lines of each dimension are divided.
#include <vector>

#include "core/algorithms/all_to_all/product/lines.hpp"

namespace hocket::product {

/// One way to deal out the lines of every dimension, and the phases that crossing them takes, estimated.
struct Choice {
  std::vector<std::vector<GroupSize>> sizes;  ///< per dimension
  double phases = 0;
};

/// All sensible ways, fewest phases first; at equal numbers those in closed form first.
[[nodiscard]] std::vector<Choice> choices(const std::vector<Line>& lines);

}  // namespace hocket::product
