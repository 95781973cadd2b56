#include "runtime/irregular/plan_by_rounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/algorithms/plan_exchange.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/irregular/proposal_rounds.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A number for a message between the ranks that `key` stands for. Sums of them, modulo 2^64, are equal where the
/// messages are, in any order; of others by a chance of 2^-64.
constexpr std::uint64_t mark(std::uint64_t key, std::uint64_t size) { return mixed(mixed(key) ^ size); }

constexpr int digit_bits = 6;
constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits;

/// One side of a message, as one of its ends sees it.
struct View {
  std::uint64_t key;  ///< sorts by receiver, then by sender
  std::uint64_t sent, expected;

  [[nodiscard]] std::uint64_t disagreement() const {
    return (sent > 0 ? mark(key, sent) : 0) - (expected > 0 ? mark(key, expected) : 0);
  }
};

std::vector<View> views_of(const PeerBytes& peer_bytes, std::uint64_t rank, std::uint64_t ranks) {
  std::vector<View> views;
  views.reserve(peer_bytes.sends.size() + peer_bytes.receives.size());
  for (const Volume& volume : peer_bytes.sends) views.push_back({volume.peer * ranks + rank, volume.bytes, 0});
  for (const Volume& volume : peer_bytes.receives) views.push_back({rank * ranks + volume.peer, 0, volume.bytes});
  return views;
}

/// Describes the first mismatch by receiver, then by sender; empty if all sizes agree. Each rank gives only its own
/// messages, and all get the same answer. Collective.
std::string why_sizes_disagree(MPI_Comm comm, const PeerBytes& peer_bytes) {
  const int rank = rank_in(comm), size = size_of(comm);
  const auto ranks = static_cast<std::uint64_t>(size);
  const std::vector<View> views = views_of(peer_bytes, static_cast<std::uint64_t>(rank), ranks);
  // Search for the first mismatch, one digit of its key per step: each reduction sums marks of sent minus expected
  // sizes per value of the next digit, and the first nonzero sum selects that digit.
  const int key_digits = (std::bit_width(ranks * ranks - 1) + digit_bits - 1) / digit_bits;
  std::uint64_t key = 0;
  for (int shift = (key_digits - 1) * digit_bits; shift >= 0; shift -= digit_bits) {
    std::array<std::uint64_t, digits> own{}, all{};
    for (const View& view : views)
      if (view.key >> shift >> digit_bits == key) own[(view.key >> shift) % digits] += view.disagreement();
    reduce(own.data(), all.data(), static_cast<int>(digits), MPI_UINT64_T, MPI_SUM, comm);
    const auto found = std::ranges::find_if(all, [](std::uint64_t sum) { return sum != 0; });
    if (found == all.end()) return {};
    key = key << digit_bits | static_cast<std::uint64_t>(found - all.begin());
  }
  std::array<std::uint64_t, 2> own{0, 0}, all{};
  for (const View& view : views)
    if (view.key == key) own = {own[0] + view.sent, own[1] + view.expected};
  reduce(own.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
  return "rank " + std::to_string(key % ranks) + " sends " + std::to_string(all[0]) + " bytes to rank " +
         std::to_string(key / ranks) + ", which expects " + std::to_string(all[1]);
}

constexpr std::string_view algorithm = "proposals";

/// Partners as the network numbers them.
PeerBytes in_network(PeerBytes peer_bytes, const Numbering& numbering) {
  for (auto* const side : {&peer_bytes.sends, &peer_bytes.receives}) {
    for (Volume& volume : *side) volume.peer = numbering.network_rank[volume.peer];
    std::ranges::sort(*side, {}, &Volume::peer);
  }
  return peer_bytes;
}

}  // namespace

bool wants_rounds(std::uint32_t ranks) {
  const std::string& wanted = settings().algorithm;
  return wanted == algorithm ||
         ((wanted.empty() || wanted == any_algorithm) && ranks > limits::most_ranks_planned_for_run);
}

PortLoads port_loads(MPI_Comm comm, const PeerBytes& peer_bytes) {
  const auto bytes = [](const std::vector<Volume>& volumes) {
    std::uint64_t sum = 0;
    for (const Volume& volume : volumes) sum += volume.bytes;
    return sum;
  };
  const auto& [sends, receives] = peer_bytes;
  const std::array<std::uint64_t, 2> own{std::max(bytes(sends), bytes(receives)),
                                         std::max(sends.size(), receives.size())};
  std::array<std::uint64_t, 2> most{};
  reduce(own.data(), most.data(), 2, MPI_UINT64_T, MPI_MAX, comm);
  const std::uint64_t messages = sends.size();
  PortLoads loads{most[0], static_cast<std::uint32_t>(most[1])};
  reduce(&messages, &loads.messages, 1, MPI_UINT64_T, MPI_SUM, comm);
  return loads;
}

std::optional<Planned> plan_by_rounds(MPI_Comm comm, const Network& part, const Numbering& numbering,
                                      const PeerBytes& peer_bytes, const PortLoads& loads, std::uint32_t& rounds_made,
                                      std::string& problem) {
  if (const std::string reason = why_sizes_disagree(comm, peer_bytes); !reason.empty()) throw InputError(reason);

  const std::string consequence = "the MPI library serves this exchange";
  PeerBytes partners;
  std::optional<ProposalRounds> rounds;
  try_local(problem, [&] {
    partners = in_network(peer_bytes, numbering);
    rounds.emplace(comm, numbering, partners, loads.most_messages);
  });
  if (!all_ok(comm, problem, consequence)) return std::nullopt;
  rounds->run();
  const std::vector<std::uint64_t> largest = rounds->close_gaps();

  Planned planned;
  planned.demand.pattern = Pattern::irregular;
  planned.demand.ranks = part.ranks();
  planned.demand.bytes = std::ranges::max(largest);
  planned.phases = largest.size();
  planned.window = PlanStore::instance().window(planned.demand).value_or(run_window(planned.demand));
  planned.algorithm = algorithm;
  planned.figures.predicted = std::accumulate(largest.begin(), largest.end(), 0.0) / part.host_rate();
  planned.figures.bound = static_cast<double>(loads.most_bytes) / part.host_rate();
  planned.program = rounds->program(std::max(planned.window, 1u));
  try_local(problem, [&] {
    translate(planned, numbering);
    check_tags(planned, comm);
  });
  if (!all_ok(comm, problem, consequence)) return std::nullopt;
  rounds_made = rounds->rounds();
  return planned;
}

}  // namespace hocket::runtime
