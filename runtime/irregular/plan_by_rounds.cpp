#include "runtime/irregular/plan_by_rounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/algorithms/irregular/proposals.hpp"
#include "core/algorithms/plan_exchange.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/plan/program.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

/// Messages of a few bytes with known partners, all under way at once.
class PostedMessages {
 public:
  explicit PostedMessages(MPI_Comm comm) : comm_(comm) {}
  PostedMessages(const PostedMessages&) = delete;
  PostedMessages& operator=(const PostedMessages&) = delete;
  /// After a failure of MPI some may be under way.
  ~PostedMessages() {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      PMPI_Cancel(&request);
      PMPI_Request_free(&request);
    }
  }

  /// The buffers must stay valid until wait().
  void receive(int peer, void* at, std::size_t bytes, int tag) {
    check(
        PMPI_Irecv(at, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL)));
  }
  void send(int peer, const void* from, std::size_t bytes, int tag) {
    check(PMPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_,
                     &requests_.emplace_back(MPI_REQUEST_NULL)));
  }
  /// The program's active requests make progress meanwhile.
  void wait() {
    int done = 0;
    check(until(done, [&] {
      return PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    }));
    requests_.clear();
  }

 private:
  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
};

using algorithms::FreePhases, algorithms::no_phase;
using Word = FreePhases::Words::value_type;

constexpr std::uint64_t seed = 1;  // the same on all ranks
constexpr int to_receiver_tag = 0, to_sender_tag = 1;

/// The messages in the order of their phases.
std::vector<std::uint32_t> by_phase(const std::vector<std::uint32_t>& phase_of) {
  std::vector<std::uint32_t> order(phase_of.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t message) { return phase_of[message]; });
  return order;
}

/// One rank's part of the algorithm `proposals` in messages: partners agree on phases, and nobody knows the whole
/// exchange. Proposals and acceptances are the core's (algorithms/irregular/proposals.hpp), so that the phases are
/// those that it computes from the whole matrix. Its memory grows with the number of partners times phases, its
/// messages with partners times rounds. Partners are ranks of the network, in ascending order.
class ProposalRounds {
 public:
  /// `busiest`: messages that a rank sends or receives, at most. All must outlive it; nobody else uses `comm`.
  ProposalRounds(MPI_Comm comm, const Numbering& numbering, const PeerBytes& partners, std::uint32_t busiest);

  /// Until every message has a phase. Senders and receivers must agree on who they are, or ranks wait for ever.
  /// Collective.
  void run();
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  /// The largest message of each phase, of all ranks. Leaves out the phases in which nobody sends. Collective.
  [[nodiscard]] std::vector<std::uint64_t> close_gaps();
  /// This rank's program where a message waits only for its receiver's port: for the message `window` places earlier
  /// there. Partners tell each other which send is released, and whether it waits. Collective.
  [[nodiscard]] RankProgram program(std::uint32_t window) const;

 private:
  void round();
  void grow(std::uint32_t phases);
  /// Takes what it can of the proposals to this rank; per open source, whether that was taken.
  [[nodiscard]] std::vector<bool> take(const std::vector<std::uint32_t>& proposals);

  MPI_Comm comm_;
  const Numbering& numbering_;
  const PeerBytes& partners_;
  std::uint32_t phases_ = 0, rounds_ = 0;
  algorithms::Proposer proposer_;
  std::vector<std::vector<std::uint64_t>> answers_;  ///< per receiver, the last: whether it took, and what it has free
  algorithms::FreePhases free_;                      ///< to receive in
  std::vector<std::uint32_t> open_sources_;          ///< places among those who send to this rank
  std::vector<std::uint32_t> send_phase_, receive_phase_;  ///< per partner
};

ProposalRounds::ProposalRounds(MPI_Comm comm, const Numbering& numbering, const PeerBytes& partners,
                               std::uint32_t busiest)
    : comm_(comm),
      numbering_(numbering),
      partners_(partners),
      proposer_(numbering.network_rank[static_cast<std::size_t>(rank_in(comm))],
                static_cast<std::uint32_t>(partners.sends.size()), seed),
      answers_(partners.sends.size(), std::vector<std::uint64_t>(1)),
      open_sources_(partners.receives.size()),
      send_phase_(partners.sends.size(), no_phase),
      receive_phase_(partners.receives.size(), no_phase) {
  std::iota(open_sources_.begin(), open_sources_.end(), 0u);
  grow(algorithms::first_phases(busiest));
}

void ProposalRounds::grow(std::uint32_t phases) {
  proposer_.grow(phases);
  free_.grow(phases);
  for (auto& answer : answers_) {
    answer.resize(1 + FreePhases::words_for(phases), 0);
    FreePhases::set_free(std::span(answer).subspan(1), phases_, phases);
  }
  phases_ = phases;
}

void ProposalRounds::run() {
  for (std::uint64_t left = 1; left > 0; ++rounds_) {
    round();
    const std::array<std::uint64_t, 2> own{proposer_.open().size(), proposer_.short_of_phases() ? 1u : 0u};
    std::array<std::uint64_t, 2> all{};
    reduce(own.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, comm_);
    left = all[0];
    if (all[1] > 0) grow(algorithms::more_phases(phases_));
  }
}

void ProposalRounds::round() {
  const std::size_t answer_bytes = (1 + FreePhases::words_for(phases_)) * sizeof(Word);
  std::vector<const Word*> told;
  for (const auto& answer : answers_) told.push_back(answer.data() + 1);
  const auto phases = proposer_.propose(rounds_, told);
  const auto open = proposer_.open();
  PostedMessages answered(comm_), proposed(comm_);
  for (std::size_t i = 0; i < open.size(); ++i) {
    const int receiver = numbering_.comm_rank[partners_.sends[open[i]].peer];
    answered.receive(receiver, answers_[open[i]].data(), answer_bytes, to_sender_tag);
    answered.send(receiver, &phases[i], sizeof phases[i], to_receiver_tag);
  }
  std::vector<std::uint32_t> proposals(open_sources_.size());
  const auto source = [&](std::size_t i) { return numbering_.comm_rank[partners_.receives[open_sources_[i]].peer]; };
  for (std::size_t i = 0; i < proposals.size(); ++i)
    proposed.receive(source(i), &proposals[i], sizeof proposals[i], to_receiver_tag);
  proposed.wait();

  const std::vector<bool> taken = take(proposals);
  std::array<std::vector<Word>, 2> answers;  // refused, taken
  for (std::size_t which = 0; which < answers.size(); ++which) {
    answers[which].push_back(which);
    answers[which].insert(answers[which].end(), free_.words().begin(), free_.words().end());
  }
  std::vector<std::uint32_t> still_open;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    answered.send(source(i), answers[taken[i] ? 1 : 0].data(), answer_bytes, to_sender_tag);
    if (!taken[i]) still_open.push_back(open_sources_[i]);
  }
  answered.wait();
  open_sources_ = std::move(still_open);
  proposer_.settle([&](std::size_t i) {
    if (answers_[open[i]][0] == 0) return false;
    send_phase_[open[i]] = phases[i];
    return true;
  });
}

std::vector<bool> ProposalRounds::take(const std::vector<std::uint32_t>& proposals) {
  std::vector<bool> taken(proposals.size(), false);
  const auto ranks = static_cast<std::uint32_t>(numbering_.network_rank.size());
  const Rank first = algorithms::first_proposer(seed, rounds_, ranks);
  const auto begin = std::ranges::lower_bound(open_sources_, first, {},
                                              [&](std::uint32_t place) { return partners_.receives[place].peer; });
  const auto skipped = static_cast<std::size_t>(begin - open_sources_.begin());
  for (std::size_t turn = 0; turn < proposals.size(); ++turn) {
    const std::size_t i = (skipped + turn) % proposals.size();
    if (proposals[i] == no_phase || !free_.take(proposals[i])) continue;
    receive_phase_[open_sources_[i]] = proposals[i];
    taken[i] = true;
  }
  return taken;
}

std::vector<std::uint64_t> ProposalRounds::close_gaps() {
  std::vector<std::uint64_t> own(phases_, 0), largest(phases_);
  for (std::size_t i = 0; i < send_phase_.size(); ++i) own[send_phase_[i]] = partners_.sends[i].bytes;
  reduce(own.data(), largest.data(), static_cast<int>(phases_), MPI_UINT64_T, MPI_MAX, comm_);
  std::vector<std::uint32_t> number;
  std::uint32_t used = 0;
  for (const std::uint64_t bytes : largest) number.push_back(bytes > 0 ? used++ : no_phase);
  for (auto* const side : {&send_phase_, &receive_phase_})
    for (std::uint32_t& phase : *side) phase = number[phase];
  phases_ = used;
  std::erase(largest, 0);
  return largest;
}

RankProgram ProposalRounds::program(std::uint32_t window) const {
  const std::vector<std::uint32_t> sends = by_phase(send_phase_), receives = by_phase(receive_phase_);
  std::vector<std::uint32_t> place(sends.size()), waits(sends.size());                   // this rank's sends
  std::vector<std::uint32_t> place_there(receives.size()), waits_here(receives.size());  // those to this rank
  for (std::uint32_t i = 0; i < sends.size(); ++i) place[sends[i]] = i;
  for (std::uint32_t i = 0; i < receives.size(); ++i) waits_here[receives[i]] = i < window ? 0 : 1;
  PostedMessages told(comm_);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const int receiver = numbering_.comm_rank[partners_.sends[i].peer];
    told.receive(receiver, &waits[i], sizeof waits[i], to_sender_tag);
    told.send(receiver, &place[i], sizeof place[i], to_receiver_tag);
  }
  for (std::size_t i = 0; i < receives.size(); ++i) {
    const int sender = numbering_.comm_rank[partners_.receives[i].peer];
    told.receive(sender, &place_there[i], sizeof place_there[i], to_receiver_tag);
    told.send(sender, &waits_here[i], sizeof waits_here[i], to_sender_tag);
  }
  told.wait();

  RankProgram program;
  for (const std::uint32_t i : sends) {
    const Rank dst = partners_.sends[i].peer;
    program.sends.push_back({dst, send_phase_[i], {}, {}});
    if (waits[i] > 0) program.sends.back().tokens.push_back(dst);
  }
  for (std::size_t at = 0; at < receives.size(); ++at) {
    const std::uint32_t i = receives[at];
    program.receives.push_back({partners_.receives[i].peer, receive_phase_[i], {}, {}});
    if (at + window >= receives.size()) continue;
    const std::uint32_t later = receives[at + window];
    program.receives.back().releases.push_back({partners_.receives[later].peer, place_there[later]});
  }
  return program;
}

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
