#include "core/algorithms/registry.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "core/error.hpp"

namespace hocket {
namespace {

#define HOCKET_ADDRESS(name) &algorithms::name,
constexpr std::array table{HOCKET_ALGORITHMS(HOCKET_ADDRESS)};
#undef HOCKET_ADDRESS

}  // namespace

std::span<const Algorithm* const> all_algorithms() { return table; }

std::vector<const Algorithm*> by_rank(Pattern pattern) {
  std::vector<const Algorithm*> found;
  std::ranges::copy_if(table, std::back_inserter(found),
                       [&](const Algorithm* one) { return one->pattern == pattern && one->rank > 0; });
  std::ranges::sort(found, {}, &Algorithm::rank);
  return found;
}

const Algorithm& find_algorithm(std::string_view name, Pattern pattern) {
  if (reduces(pattern)) return find_algorithm(name, Pattern::all_gather);
  std::string known;
  for (const Algorithm* const algorithm : table) {
    if (algorithm->pattern != pattern) continue;
    if (algorithm->name == name) return *algorithm;
    known += (known.empty() ? "" : ", ") + std::string(algorithm->name);
  }
  throw InputError("no " + std::string(to_string(pattern)) + " algorithm is called '" + std::string(name) +
                   "'; there are " + known);
}

}  // namespace hocket
