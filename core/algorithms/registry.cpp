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

std::span<const Scheduler* const> schedulers() { return table; }

std::vector<const Scheduler*> by_rank(Pattern pattern) {
  std::vector<const Scheduler*> found;
  std::ranges::copy_if(table, std::back_inserter(found),
                       [&](const Scheduler* one) { return one->pattern == pattern && one->rank > 0; });
  std::ranges::sort(found, {}, &Scheduler::rank);
  return found;
}

const Scheduler& find_scheduler(std::string_view name, Pattern pattern) {
  if (reduces(pattern)) return find_scheduler(name, Pattern::all_gather);
  std::string known;
  for (const Scheduler* const scheduler : table) {
    if (scheduler->pattern != pattern) continue;
    if (scheduler->name == name) return *scheduler;
    known += (known.empty() ? "" : ", ") + std::string(scheduler->name);
  }
  throw InputError("no " + std::string(to_string(pattern)) + " scheduler is called '" + std::string(name) +
                   "'; there are " + known);
}

}  // namespace hocket
