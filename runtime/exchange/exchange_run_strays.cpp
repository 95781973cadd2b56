/// Messages that are not as long as their receiver expects: the program has given other counts there. They fit no
/// receive. A rank that waits and waits looks whether such a one has come, takes what its sender still sends as it
/// comes, and lets everybody go on; the call fails when it is over.
#include <algorithm>
#include <cstring>

#include "runtime/exchange/exchange_run.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {
namespace {

using namespace std::chrono_literals;

/// Time without progress before the first look for unexpected messages, and the longest interval between looks; the
/// interval doubles each time.
constexpr std::chrono::milliseconds first_look = 4ms, longest_between_looks = 128ms;

}  // namespace

/// Returns MPI_REQUEST_NULL for a signal that was already received early, else posts its receive.
MPI_Request ExchangeRun::expect_signal(Rank rank, int tag) {
  const auto early = std::ranges::find(early_signals_, std::pair{rank, tag});
  if (early != early_signals_.end()) {
    early_signals_.erase(early);
    return MPI_REQUEST_NULL;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(rank), tag, owner_.comm_, &request));
  return request;
}

bool ExchangeRun::is_stray(Rank src) const {
  return std::ranges::any_of(strays_, [src](const Stray& stray) { return stray.from == src; });
}

/// Nothing moves.
void ExchangeRun::look_for_strays() {
  const auto now = std::chrono::steady_clock::now();
  if (!next_look_) {
    until_look_ = first_look;
    next_look_ = now + until_look_;
  }
  if (now < *next_look_) return;
  until_look_ = std::min(2 * until_look_, longest_between_looks);
  next_look_ = now + until_look_;
  std::vector<Rank> awaited;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    if (!slots_[slot].sends && requests_[slot] != MPI_REQUEST_NULL)
      awaited.push_back(program_.receives[slots_[slot].message].src);
  std::ranges::sort(awaited);
  const auto twice = std::ranges::unique(awaited);
  awaited.erase(twice.begin(), twice.end());
  for (const Rank src : awaited) look_at(src);
}

void ExchangeRun::look_at(Rank src) {
  const std::optional<MPI_Status> found = next_unexpected(src);
  if (found && !moves_after_all() && all_posted_but(src, found->MPI_TAG)) leave_plan(src);
}

/// Collects completions once more: the message found may belong to the next exchange and have arrived together with
/// awaited ones. True if anything moved.
bool ExchangeRun::moves_after_all() {
  if (!collect_completions()) return false;
  ++moves_;
  next_look_.reset();
  return true;
}

/// The first segment of a rank that fits no receive. A signal that comes before it is taken for later, unless all of
/// this exchange's have receives: then it is the next one's.
std::optional<MPI_Status> ExchangeRun::next_unexpected(Rank src) {
  for (;;) {
    int there = 0;
    MPI_Status found;
    check(PMPI_Iprobe(static_cast<int>(src), MPI_ANY_TAG, owner_.comm_, &there, &found));
    if (there == 0) return std::nullopt;
    if (owner_.tags_.is_segment(found.MPI_TAG)) return found;
    if (!is_signal(found) || remaining_posted_) return std::nullopt;  // from other users of this communicator
    if (!is_stray(src) && moves_after_all()) return std::nullopt;
    check(PMPI_Recv(nullptr, 0, MPI_BYTE, static_cast<int>(src), found.MPI_TAG, owner_.comm_, MPI_STATUS_IGNORE));
    early_signals_.emplace_back(src, found.MPI_TAG);
  }
}

bool ExchangeRun::is_signal(const MPI_Status& found) const {
  int bytes = 0;
  check(PMPI_Get_count(&found, MPI_BYTE, &bytes));
  return bytes == 0 && found.MPI_TAG < owner_.tags_.token(program_.sends.size());
}

/// False of a segment that just has no receive yet. Those of a rank come in its order: this is the first without one.
bool ExchangeRun::all_posted_but(Rank src, int tag) const {
  for (std::size_t r = 0; r < program_.receives.size(); ++r)
    if (program_.receives[r].src == src && receive_posted_[r] < segments_of(traffic_.receives.bytes(r)))
      return !Tags::is_at(tag, receive_begin_[r] + receive_posted_[r]);
  return true;
}

/// No receive for it is left with MPI.
void ExchangeRun::leave_plan(Rank src) {
  std::vector<std::size_t> pending;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    if (!slots_[slot].sends && requests_[slot] != MPI_REQUEST_NULL &&
        program_.receives[slots_[slot].message].src == src)
      pending.push_back(slot);
  std::ranges::sort(pending, {}, [&](std::size_t slot) { return slots_[slot].sequence; });
  for (const std::size_t slot : pending) check(PMPI_Cancel(&requests_[slot]));
  Stray stray{.from = src};
  for (const std::size_t slot : pending) {
    MPI_Status status;
    int cancelled = 0;
    check(PMPI_Wait(&requests_[slot], &status));
    check(PMPI_Test_cancelled(&status, &cancelled));
    if (cancelled == 0) {
      collect_received(slot);
      continue;
    }
    if (stray.left.empty()) {
      stray.left.push_back(slots_[slot].message);
      stray.bytes = slots_[slot].segment * segment_;
    }
    std::erase(to_combine_, slot);
    free_receives_.push_back(slot);
  }
  combine_received();
  if (stray.left.empty()) return post_receives();
  const std::size_t first = stray.left.front();
  stray.at = Cursor(traffic_.receives.spans(first));
  stray.at.take(stray.bytes, stray.spans);
  for (std::size_t r = first + 1; r < program_.receives.size(); ++r)
    if (program_.receives[r].src == src && receive_missing_[r] > 0) stray.left.push_back(r);
  strays_.push_back(std::move(stray));
  post_receives();
  ++moves_;
  next_look_.reset();
}

bool ExchangeRun::take_strays() {
  bool moved = false;
  for (Stray& stray : strays_)
    while (stray.over < stray.left.size() && take_next(stray)) moved = true;
  return moved;
}

/// A segment, or that one begins to come in.
bool ExchangeRun::take_next(Stray& stray) {
  // The last segment came where it was expected, others of the message did not.
  if (const std::size_t receive = stray.left[stray.over]; last_in_[receive]) {
    stray.ended_early = false;
    end_message(stray, receive, stray.bytes);
    return true;
  }
  if (stray.request == MPI_REQUEST_NULL) {
    const std::optional<MPI_Status> found = next_unexpected(stray.from);
    if (!found) return false;
    int bytes = 0;
    check(PMPI_Get_count(&*found, MPI_BYTE, &bytes));
    stray.length = static_cast<std::size_t>(bytes);
    stray.ended_early = Tags::has_more(found->MPI_TAG) && bytes == 0;
    stray.more = Tags::has_more(found->MPI_TAG) && bytes > 0;
    if (stray.staging.size() < stray.length) stray.staging.resize(stray.length);
    check(PMPI_Irecv(stray.staging.data(), bytes, MPI_BYTE, static_cast<int>(stray.from), found->MPI_TAG, owner_.comm_,
                     &stray.request));
  }
  int over = 0;
  check(PMPI_Test(&stray.request, &over, MPI_STATUS_IGNORE));
  if (over == 0) return false;
  place(stray);
  stray.bytes += stray.length;
  if (!stray.more) end_message(stray, stray.left[stray.over], stray.bytes);
  return true;
}

/// Copies the segment to its destination, as far as there is room. Skipped for reductions, whose result is invalid
/// anyway.
void ExchangeRun::place(Stray& stray) {
  if (missing_) return;
  const std::size_t room = traffic_.receives.bytes(stray.left[stray.over]);
  if (stray.bytes >= room) return;
  stray.at.take(std::min(stray.length, room - stray.bytes), stray.spans);
  const std::byte* from = stray.staging.data();
  for (const Span& span : stray.spans) {
    std::memcpy(span.at, from, span.length);
    from += span.length;
  }
}

void ExchangeRun::end_message(Stray& stray, std::size_t receive, std::size_t bytes) {
  const std::size_t expected = traffic_.receives.bytes(receive);
  trace("differs", receive, bytes);
  if ((!mismatch_ || mismatch_->passed_on) && (bytes > expected || !traffic_.may_be_short))
    mismatch_ = {stray.from, bytes, expected, stray.ended_early};
  const bool released = remaining_posted_ || order_given_up_ || receive_missing_[receive] == 0;
  receive_missing_[receive] = 0;
  if (signals() && !released) release(receive);
  ++receives_done_;
  stray.bytes = 0;
  if (++stray.over < stray.left.size()) stray.at = Cursor(traffic_.receives.spans(stray.left[stray.over]));
}

}  // namespace hocket::runtime
