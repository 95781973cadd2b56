#include "runtime/uplinks/file.hpp"

#include <mpi.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>

#include "core/error.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/plan/written_file.hpp"
#include "runtime/report/json_line.hpp"

namespace hocket::runtime {
namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

using SwitchLinks = std::map<std::uint32_t, MeasuredSwitchLink>;  // keyed by link

/// The row of a link as far as it does not depend on what was measured.
std::string row_begin(const Network& network, const LinkSpec& link) {
  JsonLine row;
  std::string text = row.field("a", network.name(link.a)).field("b", network.name(link.b)).end();
  text.resize(text.size() - 2);  // "}\n"
  return text;
}

/// Takes `name` and the number behind it off the front of the text.
template <class Number>
bool take(std::string_view& text, std::string_view name, Number& number) {
  const std::string key = ", \"" + std::string(name) + "\": ";
  if (!text.starts_with(key)) return false;
  text.remove_prefix(key.size());
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return error == std::errc{};
}

/// Reads the widths that an earlier job kept for this wiring. The file is not trusted: lines that this code would not
/// have written are skipped.
SwitchLinks kept_before(const Network& network, const std::string& path) {
  constexpr std::uint32_t most_pairs = 1'000'000;  // same value as in python/hocket/network/measured.py
  std::map<std::string, std::uint32_t, std::less<>> links;
  for (std::uint32_t link = 0; link < network.spec().links.size(); ++link)
    links.emplace(row_begin(network, network.spec().links[link]), link);
  SwitchLinks found;
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) file.open(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('{'), end = line.find(", \"pairs\": ");
    if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
    const auto link = links.find(std::string_view(line).substr(begin, end - begin));
    if (link == links.end()) continue;
    std::string_view rest = std::string_view(line).substr(end);
    MeasuredSwitchLink switch_link{.link = link->second};
    const bool read = take(rest, "pairs", switch_link.pairs) && take(rest, "rate", switch_link.rate) &&
                      take(rest, "width", switch_link.width) && rest.starts_with('}');
    if (read && switch_link.pairs >= 1 && switch_link.pairs <= most_pairs && switch_link.width > 0 &&
        switch_link.width <= most_pairs)
      found[switch_link.link] = switch_link;
  }
  return found;
}

std::string text_of(const Network& network, std::uint64_t host_rate, const SwitchLinks& switch_links) {
  std::string rows;
  for (const auto& [link, switch_link] : switch_links) {
    const LinkSpec& ends = network.spec().links[link];
    JsonLine row;
    rows += rows.empty() ? "\n  " : ",\n  ";
    std::string line = row.field("a", network.name(ends.a))
                           .field("b", network.name(ends.b))
                           .field("pairs", switch_link.pairs)
                           .field("rate", switch_link.rate)
                           .field("width", switch_link.width)
                           .end();
    line.pop_back();
    rows += line;
  }
  const std::string version = library_version();
  JsonLine file;
  return file.field("version", 1)
      .field("date", now())
      .field("mpi", version.substr(0, version.find_first_of("\r\n")))
      .field("host_rate", host_rate)
      .json("switch_links", "[" + rows + "]")
      .end();
}

}  // namespace

std::string kept(const Network& network, const SwitchLinkMeasurement& found) {
  static std::mutex mutex;
  static SwitchLinks own;
  const std::lock_guard lock(mutex);
  for (const MeasuredSwitchLink& switch_link : found.switch_links) own[switch_link.link] = switch_link;
  const std::string& path = settings().switch_links;
  SwitchLinks all = own;
  all.merge(kept_before(network, path));  // adds links that this job has not measured
  make_folders(std::filesystem::path(path).parent_path());
  errno = 0;
  if (replace_file(path, text_of(network, found.host_rate, all))) return "; kept in " + shown(path);
  return "; not kept: cannot write " + shown(path) + " (HOCKET_SWITCH_LINKS): " + std::strerror(errno);
}

}  // namespace hocket::runtime
