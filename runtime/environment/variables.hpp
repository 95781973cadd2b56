#pragma once
/// The environment variables of Hocket: their names, what they may hold, and what is wrong with those of a
/// process. The runtime and the Python extension are built with it: it knows no MPI.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::runtime {

/// Bytes per MPI message: below the limits from which MPI libraries make receivers wait.
inline constexpr std::uint64_t usual_segment = 16384;
/// Segments of a send that are handed to MPI before one completes.
inline constexpr std::size_t most_outstanding = 32;

struct Variable {
  enum class Kind : std::uint8_t {
    text,    ///< anything; judged where it is used
    number,  ///< a whole number from `least` to `most`
    word,    ///< one of `words`, the first if empty
  };

  std::string_view name, meaning;
  Kind kind = Kind::text;
  std::uint64_t fallback = 0, least = 0, most = 0;
  std::vector<std::string_view> words = {};
  bool must_match = false;  ///< the ranks of a communicator decide by it, so it must be the same on all of them
};

/// In the order in which docs/commands.md describes them.
[[nodiscard]] std::span<const Variable> variables();
/// Null if there is none of this name.
[[nodiscard]] const Variable* find_variable(std::string_view name);

/// The value of a number or of nothing, which is the fallback; no value if it is no such number.
[[nodiscard]] std::optional<std::uint64_t> number_of(const Variable& variable, std::string_view value);
/// The place of a word in Variable::words, the first if empty; no value if it is none of them.
[[nodiscard]] std::optional<std::size_t> word_of(const Variable& variable, std::string_view value);

/// One line for each variable of this environment ("NAME=VALUE") that holds a wrong value, with what is
/// used instead, and for each name that begins as ours do and is none of ours.
[[nodiscard]] std::vector<std::string> wrong_variables(std::span<const std::string> environment);

}  // namespace hocket::runtime
