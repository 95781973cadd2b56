#include "runtime/team/proposed_phases.hpp"

#include <algorithm>
#include <numeric>

#include "hocket/schedulers/irregular/proposals.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/team/agreement.hpp"

namespace hocket::runtime {
namespace {

enum Tag : int { sizes = 1, proposals, replies, places, tokens };

/// Messages of a round, all under way at once.
class Round {
 public:
  explicit Round(MPI_Comm comm) : comm_(comm) {}

  template <class T>
  void send(const T& value, Rank to, Tag tag) {
    check(PMPI_Isend(&value, sizeof(T), MPI_BYTE, static_cast<int>(to), tag, comm_, &requests_.emplace_back()));
  }
  template <class T>
  void receive(T& value, Rank from, Tag tag) {
    check(PMPI_Irecv(&value, sizeof(T), MPI_BYTE, static_cast<int>(from), tag, comm_, &requests_.emplace_back()));
  }
  void finish() {
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

template <class T>
T reduced(T own, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  T all{};
  reduce(&own, &all, 1, type, op, comm);
  return all;
}

/// One message that has come in, if there is one.
bool take_size(MPI_Comm comm, std::vector<Volume>& sources) {
  int there = 0;
  MPI_Status status;
  check(PMPI_Iprobe(MPI_ANY_SOURCE, Tag::sizes, comm, &there, &status));
  if (there == 0) return false;
  Volume& source = sources.emplace_back(Volume{static_cast<Rank>(status.MPI_SOURCE), 0});
  check(PMPI_Recv(&source.bytes, 1, MPI_UINT64_T, status.MPI_SOURCE, Tag::sizes, comm, MPI_STATUS_IGNORE));
  return true;
}

void rounds_of(MPI_Comm comm, const PeerBytes& peer_bytes, ProposalPace pace, ProposingRank& rank) {
  const auto &sends = peer_bytes.sends, &receives = peer_bytes.receives;
  std::vector<PhaseProposal> proposed(sends.size()), heard(receives.size());
  std::vector<PhaseReply> answers(receives.size()), learnt(sends.size());
  Round round(comm);
  const auto each_round = [&](bool taking) {
    std::vector<std::uint32_t> asked, asking;  // who gets a reply, and who gives one
    for (std::uint32_t i = 0; i < receives.size(); ++i) {
      if (rank.receive_phase(i) == no_phase) round.receive(heard[i], receives[i].peer, Tag::proposals);
      if (taking || rank.receive_phase(i) == no_phase) asked.push_back(i);
    }
    rank.propose(taking, proposed);
    for (std::uint32_t i = 0; i < sends.size(); ++i) {
      if (rank.send_phase(i) == no_phase) round.send(proposed[i], sends[i].peer, Tag::proposals);
      if (taking || rank.send_phase(i) == no_phase) asking.push_back(i);
    }
    round.finish();
    rank.reply(heard, answers);
    for (const std::uint32_t i : asking) round.receive(learnt[i], sends[i].peer, Tag::replies);
    for (const std::uint32_t i : asked) round.send(answers[i], receives[i].peer, Tag::replies);
    round.finish();
    rank.learn(taking, proposed, learnt);
  };
  for (std::uint64_t left = 1; left > 0;) {
    for (std::uint32_t i = 0; i < pace.rounds(); ++i) each_round(pace.taking());
    left = reduced<std::uint64_t>(rank.left(), MPI_UINT64_T, MPI_SUM, comm);
    pace.count(left);
    rank.allow(pace.phases());
  }
}

/// Numbers 0, 1, … by ascending phase.
template <class PhaseOf>
std::vector<std::uint32_t> by_phase(std::size_t count, PhaseOf phase_of) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, phase_of);
  return order;
}

/// A receiver lets the sender of its message number `window` after a message go when that is in; both have to know
/// that, and the receiver which of the sender's messages it is.
RankProgram with_tokens(MPI_Comm comm, const PeerBytes& peer_bytes, const ProposingRank& rank, std::uint32_t window) {
  const auto &sends = peer_bytes.sends, &receives = peer_bytes.receives;
  int own_rank = 0;
  check(PMPI_Comm_rank(comm, &own_rank));
  const auto own = static_cast<Rank>(own_rank);
  const auto sent = by_phase(sends.size(), [&](std::uint32_t i) { return rank.send_phase(i); });
  const auto received = by_phase(receives.size(), [&](std::uint32_t i) { return rank.receive_phase(i); });
  std::vector<std::uint32_t> place(sends.size()), place_there(receives.size()), waits(sends.size()),
      released(receives.size());
  for (std::uint32_t i = 0; i < sent.size(); ++i) place[sent[i]] = i;
  for (std::uint32_t i = 0; i < received.size(); ++i) released[received[i]] = i >= window ? 1 : 0;
  Round round(comm);
  for (std::uint32_t i = 0; i < sends.size(); ++i) {
    round.receive(waits[i], sends[i].peer, Tag::tokens);
    round.send(place[i], sends[i].peer, Tag::places);
  }
  for (std::uint32_t i = 0; i < receives.size(); ++i) {
    round.receive(place_there[i], receives[i].peer, Tag::places);
    round.send(released[i], receives[i].peer, Tag::tokens);
  }
  round.finish();

  RankProgram program;
  for (const std::uint32_t i : sent) {
    const auto [peer, bytes] = sends[i];
    program.sends.push_back({peer, rank.send_phase(i), {{own, peer, 0, bytes}}, {}});
    if (waits[i] != 0) program.sends.back().tokens.push_back(peer);
  }
  for (std::size_t i = 0; i < received.size(); ++i) {
    const auto [peer, bytes] = receives[received[i]];
    program.receives.push_back({peer, rank.receive_phase(received[i]), {{peer, own, 0, bytes}}, {}});
    if (i + window >= received.size()) continue;
    const std::uint32_t next = received[i + window];
    program.receives.back().releases.push_back({receives[next].peer, place_there[next]});
  }
  return program;
}

std::uint64_t total(std::span<const Volume> volumes) {
  std::uint64_t sum = 0;
  for (const Volume& volume : volumes) sum += volume.bytes;
  return sum;
}

}  // namespace

std::vector<Volume> find_sources(MPI_Comm comm, std::span<const Volume> sends) {
  std::vector<MPI_Request> requests;
  for (const Volume& volume : sends)
    check(PMPI_Issend(&volume.bytes, 1, MPI_UINT64_T, static_cast<int>(volume.peer), Tag::sizes, comm,
                      &requests.emplace_back()));
  std::vector<Volume> sources;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool all_taken = false;
  wait_for([&] {
    const bool moved = Requests::instance().progress();
    if (take_size(comm, sources)) return Progress::some;
    if (!all_taken) {
      if (!all_done(requests)) return moved ? Progress::some : Progress::none;
      all_taken = true;
      check(PMPI_Ibarrier(comm, &barrier));
    }
    int done = 0;
    check(PMPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
    return done != 0 ? Progress::over : moved ? Progress::some : Progress::none;
  });
  std::ranges::sort(sources, {}, &Volume::peer);
  return sources;
}

ProposedPhases propose_phases(MPI_Comm comm, const PeerBytes& peer_bytes, std::uint64_t seed, std::uint32_t window) {
  const auto &sends = peer_bytes.sends, &receives = peer_bytes.receives;
  ProposedPhases made;
  const auto degree =
      reduced(static_cast<std::uint32_t>(std::max(sends.size(), receives.size())), MPI_UINT32_T, MPI_MAX, comm);
  if (degree == 0) return made;
  int own = 0;
  check(PMPI_Comm_rank(comm, &own));
  const ProposalPace pace(degree);
  ProposingRank rank(static_cast<std::uint32_t>(sends.size()), static_cast<std::uint32_t>(receives.size()),
                     pace.phases(), proposal_seed(seed, static_cast<Rank>(own)));
  rounds_of(comm, peer_bytes, pace, rank);
  made.program = with_tokens(comm, peer_bytes, rank, window);
  const std::uint64_t last = made.program.sends.empty() ? 0 : made.program.sends.back().phase + 1;
  made.phases = reduced(last, MPI_UINT64_T, MPI_MAX, comm);
  std::vector<std::uint64_t> longest(made.phases, 0), longest_of_all(made.phases);
  for (const auto& send : made.program.sends) longest[send.phase] = send.pieces.front().length;
  reduce(longest.data(), longest_of_all.data(), static_cast<int>(made.phases), MPI_UINT64_T, MPI_MAX, comm);
  made.lockstep_bytes = std::accumulate(longest_of_all.begin(), longest_of_all.end(), std::uint64_t{0});
  made.bound_bytes = reduced(std::max(total(sends), total(receives)), MPI_UINT64_T, MPI_MAX, comm);
  return made;
}

}  // namespace hocket::runtime
