#include "core/choose/kept_timings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr std::string_view version_line = "hocket choices 2";
constexpr std::size_t longest_name = 200, most_candidates = 1000, most_keys = 1'000'000;
constexpr std::uint64_t most_calls = std::uint64_t{1} << 53;
constexpr std::uint64_t most_weight = 1024;  // calls that the past counts for at most
constexpr std::uint32_t classes = 128;

/// Printable, and none of what separates.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != ',' && c != '='; });
}

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class Number>
bool read(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool valid(const KeptTimings& timings) {
  std::set<std::string_view> names;
  for (const CandidateTimings& candidate : timings.candidates)
    if (!is_name(candidate.name) || candidate.calls > most_calls || !is_time(candidate.seconds) ||
        !is_time(candidate.spread) || !names.insert(candidate.name).second)
      return false;
  return is_name(timings.place) && is_name(timings.call) && is_name(timings.layout) && is_name(timings.mpi) &&
         timings.size_class < classes && timings.candidates.size() <= most_candidates && names.contains(timings.winner);
}

/// The value behind `name=` of a word; nothing if the word is another.
std::string_view value_of(std::string_view word, std::string_view name) {
  if (!word.starts_with(name) || !word.substr(name.size()).starts_with('=')) return {};
  return word.substr(name.size() + 1);
}

bool read_line(std::string_view line, KeptTimings& timings) {
  constexpr std::size_t fixed = 8;
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < fixed || words.size() > fixed + most_candidates) return false;
  timings.place = value_of(words[0], "place");
  timings.call = value_of(words[1], "call");
  if (!read(value_of(words[2], "size"), timings.size_class)) return false;
  timings.layout = value_of(words[3], "layout");
  if (!read(value_of(words[4], "ranks"), timings.ranks) || !read(value_of(words[5], "hosts"), timings.hosts))
    return false;
  timings.mpi = value_of(words[6], "mpi");
  timings.winner = value_of(words[7], "winner");
  for (std::size_t i = fixed; i < words.size(); ++i) {
    const std::vector<std::string_view> parts = split(value_of(words[i], "candidate"), ',');
    CandidateTimings& candidate = timings.candidates.emplace_back();
    if (parts.size() != 4 || !read(parts[1], candidate.calls) || !read(parts[2], candidate.seconds) ||
        !read(parts[3], candidate.spread))
      return false;
    candidate.name = parts[0];
  }
  return valid(timings);
}

using Key = std::tuple<std::string, std::string, std::uint32_t, std::string>;
Key key_of(const KeptTimings& timings) { return {timings.place, timings.call, timings.size_class, timings.layout}; }

void add(CandidateTimings& kept, const CandidateTimings& learned) {
  if (learned.calls == 0) return;
  const double before = static_cast<double>(std::min(kept.calls, most_weight)),
               now = static_cast<double>(learned.calls);
  kept.seconds = (kept.seconds * before + learned.seconds * now) / (before + now);
  kept.spread = (kept.spread * before + learned.spread * now) / (before + now);
  kept.calls = std::min(kept.calls + learned.calls, most_calls);
}

}  // namespace

std::uint32_t size_class(std::uint64_t bytes) {
  if (bytes < 2) return 0;
  const std::uint32_t octave = static_cast<std::uint32_t>(std::bit_width(bytes)) - 1;
  return 2 * octave + (bytes >= least_bytes(2 * octave + 1));
}

std::uint64_t least_bytes(std::uint32_t size_class) {
  if (size_class >= classes) throw InputError("there is no class of sizes " + std::to_string(size_class));
  // ceil(2^63.5), of which all others are the leading bits; the class of 1 byte is not halved.
  constexpr std::uint64_t root = 0xb504f333f9de6485;
  const std::uint32_t octave = size_class / 2;
  if (size_class % 2 == 0) return std::uint64_t{1} << octave;
  return (root >> (63 - octave)) + (octave < 63);
}

std::string kept_timings_text(std::span<const KeptTimings> timings) {
  std::string text = std::string(version_line) + "\n";
  for (const KeptTimings& one : timings) {
    if (!valid(one)) throw InputError("timings on '" + shown(one.call) + "' that could not be read back");
    text += "place=" + one.place + " call=" + one.call + " size=" + std::to_string(one.size_class) +
            " layout=" + one.layout + " ranks=" + std::to_string(one.ranks) + " hosts=" + std::to_string(one.hosts) +
            " mpi=" + one.mpi + " winner=" + one.winner;
    for (const CandidateTimings& candidate : one.candidates)
      text += " candidate=" + candidate.name + "," + std::to_string(candidate.calls) + "," + number(candidate.seconds) +
              "," + number(candidate.spread);
    text += '\n';
  }
  return text;
}

std::vector<KeptTimings> parse_kept_timings(std::string_view text) {
  const auto refuse = [](std::size_t line, const std::string& what) {
    throw InputError("line " + std::to_string(line) + ": " + what + "; delete the file, or `hocket tune clear`");
  };
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.front() != version_line)
    refuse(1, "not '" + std::string(version_line) + "' but '" + shown(lines.front()) + "'");
  if (!lines.back().empty() || lines.size() == 1) refuse(lines.size(), "cut off");
  lines.pop_back();
  if (lines.size() > most_keys) refuse(most_keys, "more keys than a file may hold");
  std::vector<KeptTimings> found;
  std::set<Key> keys;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    KeptTimings timings;
    if (!read_line(lines[i], timings)) refuse(i + 1, "damaged: '" + shown(lines[i]) + "'");
    if (!keys.insert(key_of(timings)).second) refuse(i + 1, "a key for the second time: '" + shown(lines[i]) + "'");
    found.push_back(std::move(timings));
  }
  return found;
}

std::vector<KeptTimings> merge(std::span<const KeptTimings> kept, std::span<const KeptTimings> learned) {
  std::map<Key, KeptTimings> all;
  for (const KeptTimings& one : kept) all.emplace(key_of(one), one);
  for (const KeptTimings& one : learned) {
    const auto [at, fresh] = all.emplace(key_of(one), one);
    if (fresh) continue;
    KeptTimings& both = at->second;
    for (const CandidateTimings& candidate : one.candidates) {
      const auto same = std::ranges::find(both.candidates, candidate.name, &CandidateTimings::name);
      if (same == both.candidates.end())
        both.candidates.push_back(candidate);
      else
        add(*same, candidate);
    }
    both.ranks = one.ranks;
    both.hosts = one.hosts;
    both.mpi = one.mpi;
    const auto cost = [](const CandidateTimings& candidate) {
      return candidate.calls > 0 ? candidate.seconds : std::numeric_limits<double>::infinity();
    };
    both.winner = std::ranges::min_element(both.candidates, {}, cost)->name;
  }
  std::vector<KeptTimings> merged;
  for (auto& [key, one] : all) merged.push_back(std::move(one));
  return merged;
}

}  // namespace hocket
