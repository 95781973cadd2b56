#include "runtime/exchange/exchange.hpp"

#include <memory>
#include <utility>

#include "core/error.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"

namespace hocket::runtime {
namespace {

template <class Message, class Partner>
std::vector<std::size_t> before_same(std::size_t ranks, const std::vector<Message>& messages, Partner partner) {
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> last(ranks, none), before;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::size_t one = std::exchange(last[partner(messages[i])], i);
    before.push_back(one == none ? i : one);
  }
  return before;
}

}  // namespace

/// An odd number of lengths: sizes that are taken for each other by mistake differ by powers of two.
Tags::Tags(std::size_t largest) : largest_(largest), lengths_((largest / 2 / (2 * positions) - 1) | 1) {}

Tags Tags::of(MPI_Comm comm) {
  constexpr std::size_t least_promised = 32767;
  int* largest = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&largest), &found));
  return Tags(found != 0 ? static_cast<std::size_t>(*largest) : least_promised);
}

void check_tags(const Planned& planned, MPI_Comm comm) {
  if (planned.program.sends.size() > Tags::of(comm).tokens())
    throw InputError("this MPI library has too few message tags for the plan");
}

Trace* Trace::instance() {
  static const std::unique_ptr<Trace> trace = []() -> std::unique_ptr<Trace> {
    if (settings().trace.empty()) return nullptr;
    const std::string path = settings().trace + "." + std::to_string(launched_rank().value_or(0));
    std::unique_ptr<Trace> opened(new Trace(path));
    if (opened->file_ != nullptr) return opened;
    say("cannot write " + shown(path) + " (HOCKET_TRACE)");
    return nullptr;
  }();
  return trace.get();
}

Trace::Trace(const std::string& path) : file_(open_emptied(path)) {}

Trace::~Trace() {
  if (file_ != nullptr) std::fclose(file_);
}

void Trace::plan(const Planned& planned, int rank) {
  event(to_string(planned.demand.pattern), planned.demand.ranks, rank);
  for (std::size_t i = 0; i < planned.program.sends.size(); ++i) {
    const RankProgram::Send& send = planned.program.sends[i];
    event("to", i, send.phase, send.dst);
    for (const Piece& piece : send.pieces) event("piece", i, piece.origin, piece.target, piece.offset, piece.length);
  }
}

Exchange::Exchange(MPI_Comm comm, Planned planned, const Settings& settings, const HostTeam* host_team, bool all_lead)
    : comm_(comm),
      planned_(std::move(planned)),
      settings_(settings),
      host_team_(host_team),
      all_lead_(all_lead),
      trace_(Trace::instance()),
      tags_(Tags::of(comm)) {
  rank_ = rank_in(comm_);
  const auto size = static_cast<std::size_t>(size_of(comm_));
  order_sends(size);
  order_receives(size);
  order_signals(size);
}

/// A buffered send says nothing about when its data has left the host, so its receiver does: a send
/// waits for the acknowledgements of earlier phases' sends, all but the last `window` − 1 of them.
void Exchange::order_sends(std::size_t ranks) {
  const auto& sends = planned_.program.sends;
  before_to_same_ = before_same(ranks, sends, [](const RankProgram::Send& send) { return send.dst; });
  std::size_t phase_begin = 0;
  for (std::size_t k = 0; k < sends.size(); ++k) {
    if (sends[k].phase != sends[phase_begin].phase) phase_begin = k;
    widest_ = std::max(widest_, k + 1 - phase_begin);
    acks_before_.push_back(phase_begin < planned_.window ? 0 : phase_begin + 1 - planned_.window);
  }
}

/// Segments of one sender must be awaited in the order in which it sends them, so a group does not
/// take in two messages from the same rank.
void Exchange::order_receives(std::size_t ranks) {
  const auto& receives = planned_.program.receives;
  before_from_same_ = before_same(ranks, receives, [](const RankProgram::Receive& receive) { return receive.src; });
  std::vector<std::size_t> group_of_last(ranks, 0);  // counted from 1
  for (std::size_t r = 0; r < receives.size(); ++r) {
    if (r == 0 || receives[r].phase != receives[r - 1].phase || group_of_last[receives[r].src] == group_begin_.size())
      group_begin_.push_back(r);
    group_of_last[receives[r].src] = group_begin_.size();
  }
  group_begin_.push_back(receives.size());
}

/// Tokens and acknowledgements for a send's receiver go before it: behind its bytes they would take as long as the
/// message, and a pair that exchanges messages in one phase would do so one after the other. As these receives belong
/// to earlier phases, ranks cannot wait in a circle.
void Exchange::order_signals(std::size_t ranks) {
  const auto& receives = planned_.program.receives;
  std::vector<std::vector<std::size_t>> owed(ranks);
  std::size_t r = 0;
  for (const RankProgram::Send& send : planned_.program.sends) {
    for (; r < receives.size() && receives[r].phase < send.phase; ++r) {
      owed[receives[r].src].push_back(r);
      for (const Release& waiting : receives[r].releases) owed[waiting.rank].push_back(r);
    }
    owed_before_.push_back(std::exchange(owed[send.dst], {}));
  }
}

}  // namespace hocket::runtime
