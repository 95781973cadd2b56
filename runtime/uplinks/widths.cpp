#include "runtime/uplinks/widths.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/network/switch_links.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/uplinks/file.hpp"
#include "runtime/uplinks/measure.hpp"

namespace hocket::runtime {
namespace {

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
    int rank = 0;
    check(PMPI_Comm_rank(own, &rank));
    if (rank == 0) say(said_of(found, wanted, known) + kept(network, found));
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
