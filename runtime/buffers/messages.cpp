#include "runtime/buffers/messages.hpp"

#include <algorithm>

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

}  // namespace hocket::runtime
