#include "hocket/demand/demand.hpp"

#include <string>

#include "hocket/error.hpp"

namespace hocket {

std::string_view to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return "all-to-all";
    case Pattern::all_gather:
      return "all-gather";
  }
  return "?";
}

Pattern parse_pattern(std::string_view text) {
  for (std::uint8_t i = 0; i < pattern_kinds; ++i)
    if (to_string(static_cast<Pattern>(i)) == text) return static_cast<Pattern>(i);
  throw InputError("no pattern is called '" + std::string(text) + "'; there are all-to-all and all-gather");
}

}  // namespace hocket
