#include "hocket/demand/demand.hpp"

#include <string>
#include <utility>

#include "hocket/error.hpp"

namespace hocket {

std::string_view to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return "all-to-all";
    case Pattern::all_gather:
      return "all-gather";
    case Pattern::irregular:
      return "irregular";
  }
  return "?";
}

Pattern parse_pattern(std::string_view text) {
  for (std::uint8_t i = 0; i < pattern_kinds; ++i)
    if (to_string(static_cast<Pattern>(i)) == text) return static_cast<Pattern>(i);
  throw InputError("no pattern is called '" + std::string(text) + "'; there are all-to-all, all-gather and irregular");
}

Demand irregular(TrafficMatrix matrix) {
  Demand demand{Pattern::irregular, matrix.ranks(), matrix.largest()};
  demand.matrix = std::move(matrix);
  return demand;
}

}  // namespace hocket
