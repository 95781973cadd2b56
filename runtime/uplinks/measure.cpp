#include "runtime/uplinks/measure.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "runtime/agreement/agreement.hpp"
#include "runtime/uplinks/probe.hpp"

namespace hocket::runtime {
namespace {

using std::chrono::microseconds;

constexpr std::size_t repetitions = 3;
/// Samples of one pair alone: one to learn in what messages, then two pairs.
constexpr std::size_t samples_of_one_pair = 1 + 2 * repetitions;
constexpr microseconds shortest{15'000}, longest{100'000};
constexpr std::size_t least_message_bytes = 4096, first_message_bytes = 16384;
/// Messages that one pair alone sends in the time that counts.
constexpr double messages_in_sample = 64;

class Measuring {
 public:
  Measuring(MPI_Comm comm, const Network& part, const Numbering& numbering, microseconds budget)
      : comm_(comm), part_(part), numbering_(numbering), budget_(budget) {
    check(PMPI_Comm_rank(comm, &rank_));
    std::string problem;
    try_local(problem, [&] { buffers_.emplace(); });
    if (!all_ok(comm, problem, "uplinks are not measured")) throw InputError("no memory to measure uplinks");
  }

  /// The number of inter-switch links that fit the time budget.
  [[nodiscard]] std::size_t most() const {
    const auto samples = static_cast<std::size_t>(budget_ / shortest);
    return std::max<std::size_t>(1, (std::max(samples, samples_of_one_pair) - samples_of_one_pair) / repetitions);
  }
  void divide_time(std::size_t switch_links) {
    const auto samples = static_cast<std::int64_t>(samples_of_one_pair + repetitions * switch_links);
    sample_.time = std::clamp(budget_ / samples, shortest, longest);
  }

  [[nodiscard]] std::uint64_t one_pair(const std::vector<HostPair>& across) {
    std::vector<HostPair> one = pair_without_switch_link(part_);
    if (one.empty()) one.push_back(across.front());
    learn_messages(one);
    return std::max(median(one), median({across.front()}));
  }
  [[nodiscard]] std::uint64_t host_rate() {
    sample_ = {microseconds{10'000}, least_message_bytes};
    std::vector<HostPair> one = pair_without_switch_link(part_);
    if (one.empty()) one.emplace_back(part_.hosts()[0], part_.hosts()[1]);
    learn_messages(one);
    const int partner = partner_in(one);
    const std::uint64_t first = probe(comm_, partner, sample_, *buffers_);
    return std::max(first, probe(comm_, partner, sample_, *buffers_));
  }
  [[nodiscard]] std::uint64_t median(const std::vector<HostPair>& pairs) {
    const int partner = partner_in(pairs);
    std::array<std::uint64_t, repetitions> rates{};
    for (std::uint64_t& rate : rates) rate = probe(comm_, partner, sample_, *buffers_);
    std::ranges::sort(rates);
    return rates[repetitions / 2];
  }

 private:
  /// Chooses the message size from the rate of one pair.
  void learn_messages(const std::vector<HostPair>& one) {
    const auto rough = static_cast<double>(probe(comm_, partner_in(one), sample_, *buffers_));
    const auto bytes = static_cast<std::size_t>(rough * sample_.counted().count() / messages_in_sample);
    sample_.message_bytes = std::clamp(bytes, least_message_bytes, ProbeBuffers::most_message_bytes);
  }
  /// The first rank of a host takes part for it.
  [[nodiscard]] int rank_of(Node host) const { return numbering_.comm_rank[part_.first_rank(host)]; }
  [[nodiscard]] int partner_in(const std::vector<HostPair>& pairs) const {
    for (const auto& [a, b] : pairs) {
      if (rank_of(a) == rank_) return rank_of(b);
      if (rank_of(b) == rank_) return rank_of(a);
    }
    return -1;
  }

  MPI_Comm comm_;
  const Network& part_;
  const Numbering& numbering_;
  microseconds budget_;
  int rank_ = 0;
  Sample sample_{shortest, first_message_bytes};
  std::optional<ProbeBuffers> buffers_;
};

}  // namespace

std::uint64_t measure_host_rate(MPI_Comm comm, const Network& part, const Numbering& numbering) {
  return Measuring(comm, part, numbering, shortest).host_rate();
}

SwitchLinkMeasurement measure_switch_links(MPI_Comm comm, const Network& part, const Numbering& numbering,
                                           std::span<const SwitchLink> wanted, std::chrono::milliseconds budget) {
  const auto begun = std::chrono::steady_clock::now();
  Measuring measuring(comm, part, numbering, budget);
  const std::vector<std::size_t> stands_for = representatives(wanted, measuring.most());
  const std::set<std::size_t> probed(stands_for.begin(), stands_for.end());
  measuring.divide_time(probed.size());

  SwitchLinkMeasurement found;
  found.probed = probed.size();
  found.switch_links.resize(wanted.size());
  found.host_rate = measuring.one_pair(switch_link_pairs(part, wanted.front().link));
  for (const std::size_t i : probed) {
    const std::vector<HostPair> pairs = switch_link_pairs(part, wanted[i].link);
    found.switch_links[i].rate = found.host_rate > 0 ? measuring.median(pairs) : 0;
  }
  for (std::size_t i = 0; i < wanted.size() && found.host_rate > 0; ++i) {
    const std::size_t of = stands_for[i];
    MeasuredSwitchLink& switch_link = found.switch_links[i];
    switch_link.link = wanted[i].link;
    switch_link.pairs = wanted[i].hosts;
    // A link that was not probed gets the same rate per host pair.
    if (i != of) switch_link.rate = found.switch_links[of].rate * wanted[i].hosts / wanted[of].hosts;
    switch_link.width = static_cast<double>(switch_link.rate) / static_cast<double>(found.host_rate);
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return found;
}

}  // namespace hocket::runtime
