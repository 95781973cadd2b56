#include "runtime/environment/variables.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "core/choose/candidate.hpp"
#include "core/error.hpp"
#include "runtime/environment/table.h"

namespace hocket::runtime {
namespace {

using Kind = Variable::Kind;

constexpr std::uint64_t most_set_bytes = std::uint64_t{1} << 40, most_segment = std::uint64_t{1} << 30;
constexpr std::string_view prefix = "HOCKET_";
constexpr std::string_view of_tests = "HOCKET_TEST";

#define TEXT(field, name, must_match, meaning) {name, meaning, Kind::text, 0, 0, 0, {}, must_match},
#define NUMBER(field, name, fallback, least, most, must_match, meaning) \
  {name, meaning, Kind::number, fallback, least, most, {}, must_match},
#define WORD(field, Type, name, must_match, meaning, ...) \
  {name, meaning, Kind::word, 0, 0, 0, {__VA_ARGS__}, must_match},
#define ELSEWHERE(name, meaning) {name, meaning},
std::span<const Variable> table() {
  static const std::vector<Variable> all = [] {
    std::vector<Variable> rows{HOCKET_VARIABLES(TEXT, NUMBER, WORD, ELSEWHERE)};
    std::vector<std::string_view>& ways = std::ranges::find(rows, "HOCKET_CHOOSE", &Variable::name)->words;
    for (const Candidate& candidate : all_candidates) ways.push_back(candidate.name);
    return rows;
  }();
  return all;
}
#undef TEXT
#undef NUMBER
#undef WORD
#undef ELSEWHERE

/// Letters to insert, remove or exchange to make one of the other (V. I. Levenshtein, 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// "token, barrier or free"; of many words the first ones and how many more there are.
std::string words_of(const Variable& variable) {
  constexpr std::size_t most = 5;
  const std::size_t count = variable.words.size(), named = count > most + 1 ? most : count;
  std::string said;
  for (std::size_t i = 0; i < named; ++i)
    said += std::string(i == 0 ? "" : i + 1 == count ? " or " : ", ") + std::string(variable.words[i]);
  return count > named ? said + " or " + std::to_string(count - named) + " more" : said;
}

std::string wrong_name(std::string_view name) {
  constexpr std::size_t longest = 64;  // no name of ours is near that
  std::string said = "no variable of Hocket is called " + shown(name);
  if (name.size() > longest) return said;
  const auto all = table();
  const auto closest =
      std::ranges::min_element(all, {}, [&](const Variable& variable) { return distance(name, variable.name); });
  if (distance(name, closest->name) <= name.size() / 3) said += "; did you mean " + std::string(closest->name) + "?";
  return said;
}

/// Empty if it is right.
std::string wrong_value(const Variable& variable, std::string_view value) {
  std::string said = std::string(variable.name) + "='" + shown(value) + "' is not ";
  if (variable.kind == Kind::number && !number_of(variable, value))
    return said + "a whole number from " + std::to_string(variable.least) + " to " + std::to_string(variable.most) +
           "; using " + std::to_string(variable.fallback);
  if (variable.kind == Kind::word && !word_of(variable, value))
    return said + words_of(variable) + "; using " + std::string(variable.words.front());
  return "";
}

}  // namespace

std::span<const Variable> variables() { return table(); }

const Variable* find_variable(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Variable::name);
  return found == table().end() ? nullptr : &*found;
}

std::optional<std::uint64_t> number_of(const Variable& variable, std::string_view value) {
  if (value.empty()) return variable.fallback;
  std::uint64_t parsed = 0;
  const char* const end = value.data() + value.size();
  const auto [read_to, error] = std::from_chars(value.data(), end, parsed);
  if (error != std::errc{} || read_to != end || parsed < variable.least || parsed > variable.most) return std::nullopt;
  return parsed;
}

std::optional<std::size_t> word_of(const Variable& variable, std::string_view value) {
  if (value.empty()) return 0;
  const auto found = std::ranges::find(variable.words, value);
  if (found == variable.words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - variable.words.begin());
}

std::vector<std::string> wrong_variables(std::span<const std::string> environment) {
  std::vector<std::string> config_warnings;
  for (const std::string_view entry : environment) {
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!name.starts_with(prefix) || name.starts_with(of_tests)) continue;
    const std::string_view value = name.size() < entry.size() ? entry.substr(name.size() + 1) : "";
    const Variable* const variable = find_variable(name);
    std::string config_warning = variable != nullptr ? wrong_value(*variable, value) : wrong_name(name);
    if (!config_warning.empty()) config_warnings.push_back(std::move(config_warning));
  }
  std::ranges::sort(config_warnings);
  return config_warnings;
}

}  // namespace hocket::runtime
