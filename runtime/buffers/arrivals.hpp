#pragma once
/// A count of messages still to arrive for each byte of a call's buffers.
#include <cstdint>
#include <map>

#include "runtime/buffers/messages.hpp"

namespace hocket::runtime {

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
