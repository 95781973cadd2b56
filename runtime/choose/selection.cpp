#include "runtime/choose/selection.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/choose/chooser.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

constexpr int message_tag = 0, token_tag = 1;

/// Sends to one rank and receives from another, then answers. What is received stays unread.
void step(MPI_Comm own, int to, int from) {
  char sent = 0, received = 0;
  MPI_Request message{}, token{}, out{}, answer{};
  check(PMPI_Irecv(&received, 1, MPI_BYTE, from, message_tag, own, &message));
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, to, token_tag, own, &token));
  check(PMPI_Isend(&sent, 1, MPI_BYTE, to, message_tag, own, &out));
  wait_until_done(message);
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, from, token_tag, own, &answer));
  for (MPI_Request* const one : {&token, &out, &answer}) wait_until_done(*one);
}

/// Seconds of a step, in which this rank sends one message and gets another, to partners a third of the ranks away: the
/// least of some, since where ranks outnumber cores one that waits for its turn takes many times as long. The first may
/// open connections.
double measure_step(MPI_Comm stepping) {
  const int rank = rank_in(stepping), size = size_of(stepping);
  const int distance = std::max(size / 3, 1);
  const auto go = [&] { step(stepping, (rank + distance) % size, (rank + size - distance) % size); };
  go();
  double least = 0;
  for (int k = 0; k < 4; ++k) {
    const double since = PMPI_Wtime();
    go();
    const double seconds = PMPI_Wtime() - since;
    least = k == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

Deadline in(double seconds) {
  constexpr double longest = 1e6;
  if (!(seconds < longest)) return never;
  const std::chrono::duration<double> wait(seconds);
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Deadline::duration>(wait);
}

}  // namespace

void AgreedCost::begin() {
  own_ = std::numeric_limits<double>::infinity();
  since_ = std::chrono::steady_clock::now();
}

void AgreedCost::end(double times) {
  own_ = times * std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

AgreedCost::Agreed AgreedCost::agree(MPI_Comm comm, double wires, bool together) {
  std::array own{*own_, wires, together ? 1.0 : 0.0}, all{0.0, 0.0, 0.0};
  own_.reset();
  int ranks = 1;
  if (of_ == Of::mean) check(PMPI_Comm_size(comm, &ranks));
  for (double& one : own) one /= ranks;
  reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, of_ == Of::mean ? MPI_SUM : MPI_MAX, comm);
  return {all[0], all[1], all[2] > 0};
}

double slowest(MPI_Comm comm, double here) {
  double of_all = 0;
  reduce(&here, &of_all, 1, MPI_DOUBLE, MPI_MAX, comm);
  return of_all;
}

double measure_agreement(MPI_Comm comm) {
  (void)slowest(comm, 0);
  constexpr int times = 2;
  const double since = PMPI_Wtime();
  for (int k = 0; k < times; ++k) (void)slowest(comm, 0);
  return slowest(comm, (PMPI_Wtime() - since) / times);
}

SmallCosts measure_small_costs(MPI_Comm own, MPI_Comm stepping) {
  Requests::instance().post_remaining();
  SmallCosts costs;
  constexpr double messages = 2;  // that a rank handles in a step
  costs.step_seconds = slowest(own, stepping != MPI_COMM_NULL ? measure_step(stepping) : 0) / messages;
  costs.agree_seconds = measure_agreement(own);
  return costs;
}

Selection::Selection(std::vector<std::string_view> names, std::span<const double> predicted, double agree_seconds,
                     double setup_seconds, double opening_seconds, AgreedCost::Of of, const KeptTimings& known)
    : names_(std::move(names)),
      measured_(names_.size()),
      chooser_(predicted, agree_seconds, setup_seconds, opening_seconds),
      cost_(of) {
  for (const CandidateTimings& candidate : known.candidates) {
    const auto same = std::ranges::find(names_, candidate.name);
    if (same != names_.end() && candidate.calls > 0)
      chooser_.recall(static_cast<std::size_t>(same - names_.begin()), candidate.seconds);
  }
}

void Selection::measured(std::size_t candidate, double seconds) {
  if (!is_cost(seconds)) return;
  ++measured_[candidate].calls;
  measured_[candidate].logarithms += exact_log(seconds);
}

void Selection::seen(std::uint64_t calls, double seconds) {
  chooser_.seen(0, calls, seconds);
  if (calls > 0) measured(0, seconds);
}

std::size_t Selection::next(MPI_Comm comm) {
  if (cost_.is_open()) {
    const double seconds = cost_.agree(comm).seconds;
    chooser_.learn(seconds);
    measured(timed_, seconds);
  }
  decision_ = chooser_.next();
  return decision_.candidate;
}

void Selection::begin() {
  if (decision_.timed) {
    cost_.begin();
    timed_ = decision_.candidate;
  }
  deadline_ = in(decision_.limit);
}

void Selection::over(double times) {
  if (decision_.timed) cost_.end(times);
}

bool Selection::native_stays() const {
  return chooser_.best() == 0 &&
         std::ranges::all_of(chooser_.beliefs(), [](const Belief& belief) { return belief.timed > 0; });
}

std::optional<KeptTimings> Selection::learned() const {
  KeptTimings timings;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Measured& measured = measured_[i];
    if (measured.calls == 0) continue;
    const double seconds = exact_exp(measured.logarithms / static_cast<double>(measured.calls));
    timings.candidates.push_back({std::string(names_[i]), measured.calls, seconds, chooser_.noise(i)});
  }
  if (timings.candidates.empty()) return std::nullopt;
  const auto cheapest = std::ranges::min_element(timings.candidates, {}, &CandidateTimings::seconds);
  timings.winner = cheapest->name;
  return timings;
}

}  // namespace hocket::runtime
