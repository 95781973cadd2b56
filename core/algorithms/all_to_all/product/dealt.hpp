#pragma once
/// The lines of a grid, and the groups that their moves are dealt out to.
#include <vector>

#include "core/algorithms/all_to_all/product/group.hpp"
#include "core/algorithms/all_to_all/product/line_forms.hpp"
#include "core/network/network.hpp"

namespace hocket::product {

using Dealt = std::vector<std::vector<Group>>;  ///< per dimension

[[nodiscard]] std::vector<Line> lines_of(const Network& network);
/// First attempt of the product algorithm: all messages of ranks to themselves in one phase where the ports set the
/// bound, otherwise closed forms and short searches. Empty if neither finds groups.
[[nodiscard]] Dealt deal_quickly(const std::vector<Line>& lines);
/// True if a schedule of so many phases is accepted without comparing it with packing.
[[nodiscard]] bool taken_at_once(std::uint64_t messages, std::uint64_t phases, std::uint64_t bound);

}  // namespace hocket::product
