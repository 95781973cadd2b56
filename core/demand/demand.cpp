#include "core/demand/demand.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace hocket {

namespace {

constexpr auto most_bytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::string name(const Message& message) { return std::to_string(message.src) + "->" + std::to_string(message.dst); }

}  // namespace

TrafficMatrix::TrafficMatrix(std::uint32_t ranks, std::vector<Message> messages) {
  std::erase_if(messages, [](const Message& m) { return m.bytes == 0 || m.src == m.dst; });
  begin_.assign(std::size_t{ranks} + 1, 0);
  for (const Message& message : messages) {
    if (message.src >= ranks || message.dst >= ranks)
      throw InputError("message " + name(message) + " names a rank beyond the " + std::to_string(ranks) + " ranks");
    if (message.bytes > most_bytes - total_)
      throw InputError("the messages have more than 2^63 - 1 bytes in all (at message " + name(message) + ")");
    total_ += message.bytes;
    largest_ = std::max(largest_, message.bytes);
    ++begin_[message.src + 1];
  }
  const auto place = [](const Message& m) { return std::pair(m.src, m.dst); };
  if (!std::ranges::is_sorted(messages, {}, place)) std::ranges::sort(messages, {}, place);
  for (Rank rank = 0; rank < ranks; ++rank) begin_[rank + 1] += begin_[rank];
  target_.reserve(messages.size());
  bytes_.reserve(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i > 0 && place(messages[i]) == place(messages[i - 1]))
      throw InputError("message " + name(messages[i]) + " is given twice");
    target_.push_back(messages[i].dst);
    bytes_.push_back(messages[i].bytes);
  }
}

std::uint64_t TrafficMatrix::size(Rank src, Rank dst) const {
  if (src >= ranks()) return 0;
  const auto row = targets(src);
  const auto found = std::ranges::lower_bound(row, dst);
  return found != row.end() && *found == dst ? bytes(src)[static_cast<std::size_t>(found - row.begin())] : 0;
}

std::vector<Message> TrafficMatrix::list() const {
  std::vector<Message> messages;
  messages.reserve(target_.size());
  each([&](Rank src, Rank dst, std::uint64_t bytes) { messages.push_back({src, dst, bytes}); });
  return messages;
}

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
