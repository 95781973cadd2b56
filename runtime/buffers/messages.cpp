#include "runtime/buffers/messages.hpp"

#include <algorithm>
#include <iterator>

namespace hocket::runtime {

void Messages::add(std::byte* at, std::size_t length) {
  if (length == 0) return;
  if (spans_.size() > begin_.back() && spans_.back().at + spans_.back().length == at)
    spans_.back().length += length;
  else
    spans_.push_back({at, length});
}

void Messages::end_message() {
  std::size_t bytes = 0;
  for (std::size_t i = begin_.back(); i < spans_.size(); ++i) bytes += spans_[i].length;
  bytes_.push_back(bytes);
  begin_.push_back(spans_.size());
}

void Cursor::take(std::size_t bytes, std::vector<Span>& spans) {
  spans.clear();
  while (bytes > 0) {
    const Span& first = left_.front();
    const std::size_t length = std::min(bytes, first.length - within_);
    spans.push_back({first.at + within_, length});
    bytes -= length;
    within_ += length;
    if (within_ < first.length) return;
    left_ = left_.subspan(1);
    within_ = 0;
  }
}

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
