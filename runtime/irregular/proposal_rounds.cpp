#include "runtime/irregular/proposal_rounds.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
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

}  // namespace

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

}  // namespace hocket::runtime
