#pragma once
/// Messages as memory: where the bytes of a message are taken from or put to.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/schedule/ranges.hpp"

namespace hocket::runtime {

struct Span {
  std::byte* at = nullptr;
  std::size_t length = 0;
};

/// A list of messages; each is the concatenation of its spans.
class Messages {
 public:
  /// Adds a span to the message being described. Adjacent spans are merged.
  void add(std::byte* at, std::size_t length);
  void end_message();

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::size_t bytes(std::size_t message) const { return bytes_[message]; }
  [[nodiscard]] std::span<const Span> spans(std::size_t message) const {
    return {spans_.data() + begin_[message], spans_.data() + begin_[message + 1]};
  }

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<Span> spans_;
  std::vector<std::size_t> bytes_;
};

/// A place in a message.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::span<const Span> spans) : left_(spans) {}
  /// Moves over the next `bytes` bytes and puts down where they are.
  void take(std::size_t bytes, std::vector<Span>& spans);

 private:
  std::span<const Span> left_;
  std::size_t within_ = 0;  ///< offset in the first span left
};

/// A span as a range of addresses.
inline void hold(Ranges& held, const Span& span) {
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  held.add(begin, begin + span.length);
}
[[nodiscard]] inline bool holds(const Ranges& held, const Span& span) {
  const auto begin = reinterpret_cast<std::uintptr_t>(span.at);
  return held.covers(begin, begin + span.length);
}

/// A count of messages still to arrive for each byte of a call's buffers.
/// For each address: how many messages that bring something for it are still to come.
class Arrivals {
 public:
  void expect(const Span& span) { add(span, 1); }
  void arrived(const Span& span) { add(span, -1); }
  /// True if no byte of the span waits for more than `missing` messages.
  [[nodiscard]] bool lack_at_most(const Span& span, int missing) const;

 private:
  using Steps = std::map<std::uintptr_t, int>;

  void add(const Span& span, int change);
  Steps::iterator cut(std::uintptr_t at);
  void join(Steps::iterator step);

  Steps missing_from_{{0, 0}};  ///< count for each address up to the next key
};

}  // namespace hocket::runtime
