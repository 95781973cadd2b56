#include "runtime/buffers/arrivals.hpp"

#include <iterator>

namespace hocket::runtime {

bool Arrivals::lack_at_most(const Span& span, int missing) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  const auto end = missing_from_.lower_bound(begin + span.length);
  for (auto step = std::prev(missing_from_.upper_bound(begin)); step != end; ++step)
    if (step->second > missing) return false;
  return true;
}

void Arrivals::add(const Span& span, int change) {
  if (span.length == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  const auto first = cut(begin), last = cut(begin + span.length);
  for (auto step = first; step != last; ++step) step->second += change;
  join(first);
  join(last);
}

/// The step that begins there.
Arrivals::Steps::iterator Arrivals::cut(std::uintptr_t at) {
  const auto after = missing_from_.upper_bound(at), before = std::prev(after);
  return before->first == at ? before : missing_from_.emplace_hint(after, at, before->second);
}

/// One step, if it is like the one before.
void Arrivals::join(Steps::iterator step) {
  if (step->first != 0 && std::prev(step)->second == step->second) missing_from_.erase(step);
}

}  // namespace hocket::runtime
