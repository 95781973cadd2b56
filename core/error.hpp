#pragma once
/// Errors of the core. Each carries one clear message; nothing is half done when one is thrown.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hocket {

/// A text of unknown origin as a message may show it: one line, no control characters, of bounded length.
[[nodiscard]] inline std::string shown(std::string_view text) {
  constexpr std::size_t longest = 160;
  std::string safe(text.substr(0, longest));
  std::ranges::replace_if(safe, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text.size() > longest ? safe + "..." : safe;
}

/// Bad input of any kind.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A network that cannot exist. `node` and `link` index the specification (-1: none), so that a
/// reader can say in which line of its file the trouble lies.
class NetworkProblem : public InputError {
 public:
  explicit NetworkProblem(const std::string& what, std::int64_t at_node = -1, std::int64_t at_link = -1)
      : InputError(what), node(at_node), link(at_link) {}
  std::int64_t node;
  std::int64_t link;
};

/// Forwarding tables that lead nowhere. `entry` indexes NetworkSpec::next_hops (-1: an entry is missing).
class RouteProblem : public NetworkProblem {
 public:
  explicit RouteProblem(const std::string& what, std::int64_t at_node, std::int64_t at_entry)
      : NetworkProblem(what, at_node), entry(at_entry) {}
  std::int64_t entry;
};

/// A plan file that is damaged, truncated, or of another version.
class PlanProblem : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace hocket
