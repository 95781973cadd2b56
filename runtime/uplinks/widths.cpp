#include "runtime/uplinks/widths.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>

#include "runtime/agreement/agreement.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
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
  std::ifstream file;
  if (bytes_of_file(path)) file.open(path);
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

/// Writes what this process has measured so far, in all its communicators, to HOCKET_SWITCH_LINKS. Returns what to say
/// of it: "; kept in PATH", or that it cannot be kept. Called by one rank.
std::string kept(const Network& network, const SwitchLinkMeasurement& found) {
  static std::mutex mutex;
  static SwitchLinks own;
  const std::lock_guard lock(mutex);
  for (const MeasuredSwitchLink& switch_link : found.switch_links) own[switch_link.link] = switch_link;
  const std::string& path = settings().switch_links;
  SwitchLinks all = own;
  all.merge(kept_before(network, path));  // adds links that this job has not measured
  make_folders(path.substr(0, path.rfind('/') + 1));
  errno = 0;
  if (replace_file(path, text_of(network, found.host_rate, all))) return "; kept in " + shown(path);
  return "; not kept: cannot write " + shown(path) + " (HOCKET_SWITCH_LINKS): " + std::strerror(errno);
}

constexpr std::chrono::milliseconds most_measuring{3000};  ///< a longer look would be felt in a short job

/// One number, so that the ranks agree by a maximum on the measurement with most pairs.
class Knowledge {
 public:
  Knowledge() = default;
  explicit Knowledge(std::uint64_t bits) : bits_(bits) {}
  explicit Knowledge(const MeasuredSwitchLink& switch_link)
      : bits_(std::uint64_t{switch_link.pairs} << 32 |
              static_cast<std::uint32_t>(std::min(switch_link.width, 1.0 * switch_link.pairs) * thousand + 0.5)) {}

  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  [[nodiscard]] std::uint32_t pairs() const { return static_cast<std::uint32_t>(bits_ >> 32); }
  [[nodiscard]] double width() const { return settled_width(measured(), pairs()); }
  /// True if measuring again with `hosts` pairs, the hosts on the link's smaller side, could not add information.
  [[nodiscard]] bool does_for(std::uint32_t hosts) const {
    return pairs() > 0 && (pairs() >= hosts || !carries_all(measured(), pairs()));
  }

 private:
  static constexpr double thousand = 1000;
  [[nodiscard]] double measured() const { return static_cast<double>(static_cast<std::uint32_t>(bits_)) / thousand; }
  std::uint64_t bits_ = 0;
};

/// Widths known to this process, shared by all communicators.
class KnownSwitchLinks {
 public:
  [[nodiscard]] static KnownSwitchLinks& instance() {
    static KnownSwitchLinks known;
    return known;
  }
  [[nodiscard]] std::uint64_t bits(std::uint32_t link) {
    const std::lock_guard lock(mutex_);
    const auto found = by_link_.find(link);
    return found == by_link_.end() ? 0 : found->second;
  }
  void learn(std::uint32_t link, std::uint64_t bits) {
    const std::lock_guard lock(mutex_);
    std::uint64_t& known = by_link_[link];
    known = std::max(known, bits);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::uint64_t> by_link_;
};

const std::string remedy = "state them with --oversubscription or --uplink-rate";

std::vector<Knowledge> gathered(MPI_Comm comm, const std::vector<SwitchLink>& switch_links) {
  std::vector<std::uint64_t> own, best(switch_links.size());
  for (const SwitchLink& switch_link : switch_links) own.push_back(KnownSwitchLinks::instance().bits(switch_link.link));
  reduce(own.data(), best.data(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_MAX, comm);
  return {best.begin(), best.end()};
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// "4", or "2 to 4", at each level from the leaves up.
std::string in_words(const std::vector<SwitchLink>& switch_links, const std::vector<Knowledge>& known) {
  std::map<std::uint32_t, std::pair<double, double>> of_level;
  for (std::size_t i = 0; i < switch_links.size(); ++i) {
    const double width = known[i].width();
    const auto [place, fresh] = of_level.emplace(switch_links[i].level, std::pair(width, width));
    if (!fresh) place->second = {std::min(place->second.first, width), std::max(place->second.second, width)};
  }
  std::string text;
  for (const auto& [level, range] : of_level) {
    const auto [least, most] = range;
    const std::string width = least == most ? figure(most) : figure(least) + " to " + figure(most);
    text += text.empty() ? "leaf switches' uplinks carry " + width + (most == 1 ? " host's speed" : " hosts' speed")
                         : ", those of level " + std::to_string(level) + " " + width;
  }
  return text;
}

std::string said_of(const SwitchLinkMeasurement& found, const std::vector<SwitchLink>& switch_links,
                    const std::vector<Knowledge>& known) {
  const std::size_t count = found.switch_links.size();
  std::string text = "measured " + std::to_string(found.probed);
  if (found.probed < count) text += " of " + std::to_string(count);
  text += count == 1 ? " uplink" : " uplinks";
  return text + " in " + figure(found.seconds) + " s: " + in_words(switch_links, known);
}

}  // namespace

SettledNetwork settle_network(MPI_Comm own, const Network& network, const Numbering& numbering,
                              bool machines_differ) try {
  const Network part = network.restricted_to(numbering.ranks_per_node);
  if (network.tree() == nullptr) return {.problem = "the rates of this network's uplinks are unknown; " + remedy};
  const std::vector<SwitchLink> all = switch_links(part);
  if (all.empty()) return {};
  std::vector<Knowledge> known = gathered(own, all);
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!known[i].does_for(all[i].hosts)) unknown.push_back(i);
  if (!unknown.empty()) {
    if (!machines_differ)
      return {.problem =
                  "the rates of uplinks are only assumed, and cannot be measured where hosts of the network share a "
                  "machine; " +
                  remedy};
    std::vector<SwitchLink> wanted;
    for (const std::size_t i : unknown) wanted.push_back(all[i]);
    const SwitchLinkMeasurement found = measure_switch_links(own, part, numbering, wanted, most_measuring);
    if (std::ranges::any_of(found.switch_links,
                            [](const MeasuredSwitchLink& switch_link) { return switch_link.rate == 0; }))
      return {.problem = "the rates of uplinks are only assumed, and measuring them gave no answer; " + remedy};
    for (std::size_t i = 0; i < unknown.size(); ++i) known[unknown[i]] = Knowledge(found.switch_links[i]);
    if (rank_in(own) == 0) say(said_of(found, wanted, known) + kept(network, found));
  }
  std::vector<SwitchLinkWidth> widths;
  for (std::size_t i = 0; i < all.size(); ++i) {
    KnownSwitchLinks::instance().learn(all[i].link, known[i].bits());
    widths.push_back({all[i].link, known[i].width()});
  }
  Network measured = with_widths(network, widths);
  if (measured.spec() == network.spec()) return {};
  return {.measured = std::move(measured)};
} catch (const InputError& error) {  // on all ranks alike
  return {.problem = error.what()};
}

}  // namespace hocket::runtime
