#include "core/demand/demand.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace hocket {

std::string_view to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return "all-to-all";
    case Pattern::all_gather:
      return "all-gather";
    case Pattern::irregular:
      return "irregular";
    case Pattern::reduce_scatter:
      return "reduce-scatter";
    case Pattern::all_reduce:
      return "all-reduce";
  }
  return "?";
}

Pattern parse_pattern(std::string_view text) {
  std::string known;
  for (std::uint8_t i = 0; i < pattern_kinds; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    if (to_string(pattern) == text) return pattern;
    known += (known.empty() ? "" : ", ") + std::string(to_string(pattern));
  }
  throw InputError("no pattern is called '" + std::string(text) + "'; there are " + known);
}

std::optional<Rank> Demand::only_block() const {
  const auto has_some = [](std::uint64_t size) { return size > 0; };
  if (!by_blocks() || std::ranges::count_if(contributions, has_some) != 1) return {};
  return static_cast<Rank>(std::ranges::find_if(contributions, has_some) - contributions.begin());
}

Demand irregular(TrafficMatrix matrix) {
  Demand demand{Pattern::irregular, matrix.ranks(), matrix.largest()};
  demand.matrix = std::move(matrix);
  return demand;
}

Demand gather_of(const Demand& reduction) {
  Demand gather = reduction;
  gather.pattern = Pattern::all_gather;
  return gather;
}

}  // namespace hocket
