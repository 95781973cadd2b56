#include "hocket/demand/demand.hpp"

namespace hocket {

std::string_view to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return "all-to-all";
  }
  return "?";
}

}  // namespace hocket
