/// The receives and sends of ExchangeRun.
#include <algorithm>
#include <cstring>

#include "runtime/environment/variables.hpp"
#include "runtime/exchange/exchange_run.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {
namespace {

std::byte* staged(std::vector<std::byte>& staging, std::size_t length) {
  if (staging.size() < length) staging.resize(length);
  return staging.data();
}

/// The buffer of a segment: its memory if that is contiguous, else staging memory.
std::byte* buffer_of(const std::vector<Span>& spans, std::vector<std::byte>& staging, std::size_t length) {
  if (spans.size() <= 1) return spans.empty() ? nullptr : spans.front().at;
  return staged(staging, length);
}

bool overlap(const std::vector<Span>& some, const std::vector<Span>& others) {
  for (const Span& a : some)
    for (const Span& b : others)
      if (a.at < b.at + b.length && b.at < a.at + a.length) return true;
  return false;
}

}  // namespace

// Receives

void ExchangeRun::post_receives() {
  for (std::size_t message = 0; (remaining_posted_ || !free_receives_.empty()) && next_receive(message);) {
    if (free_receives_.empty()) free_receives_.push_back(add_slot());
    post_receive(free_receives_.back(), message);
    free_receives_.pop_back();
  }
}

/// Groups one after the other; within a group a segment of each message in turn.
bool ExchangeRun::next_receive(std::size_t& message) {
  for (; group_ + 1 < owner_.group_begin_.size(); ++group_, round_ = 0, turn_ = 0) {
    const std::size_t begin = owner_.group_begin_[group_], end = owner_.group_begin_[group_ + 1];
    const std::uint64_t phase = program_.receives[begin].phase;
    if (phase > last_phase_) return false;
    // Results take the place of partial results: MPI must have read those.
    if (partial_sends_left_ > 0 && !combines(phase)) return false;
    for (bool more = true; more; ++round_, turn_ = 0) {
      more = turn_ > 0;
      for (; begin + turn_ < end; ++turn_) {
        message = begin + turn_;
        if (round_ >= segments_of(traffic_.receives.bytes(message)) || is_stray(program_.receives[message].src))
          continue;
        ++turn_;
        return true;
      }
    }
  }
  return false;
}

void ExchangeRun::post_receive(std::size_t index, std::size_t message) {
  Slot& slot = slots_[index];
  slot.sends = false;
  slot.message = message;
  slot.segment = receive_posted_[message]++;
  slot.sequence = posted_++;
  const std::size_t length = length_of(traffic_.receives, message, slot.segment);
  receive_at_[message].take(length, slot.spans);
  const bool partial = combines(program_.receives[message].phase);
  if (partial) to_combine_.push_back(index);
  std::byte* const to = partial ? staged(slot.staging, length) : buffer_of(slot.spans, slot.staging, length);
  const bool more = slot.segment + 1 < segments_of(traffic_.receives.bytes(message));
  check(PMPI_Irecv(to, static_cast<int>(length), MPI_BYTE, static_cast<int>(program_.receives[message].src),
                   owner_.tags_.segment(receive_begin_[message] + slot.segment, length, more), owner_.comm_,
                   &requests_[index]));
}

void ExchangeRun::collect_received(std::size_t index) {
  Slot& slot = slots_[index];
  slot.in = combines(program_.receives[slot.message].phase);
  if (!slot.in) {
    const std::byte* from = slot.staging.data();
    for (const Span& span : slot.spans) {
      if (slot.spans.size() > 1) std::memcpy(span.at, from, span.length);
      from += slot.spans.size() > 1 ? span.length : 0;
      if (held_) hold(*held_, span);
      if (missing_) missing_->arrived(span);
    }
    free_receives_.push_back(index);
  }
  trace("received", slot.message, slot.segment);
  const std::size_t message = slot.message;
  if (slot.segment + 1 == segments_of(traffic_.receives.bytes(message))) last_in_[message] = true;
  if (--receive_missing_[message] > 0) return;
  if (signals() && !remaining_posted_ && !order_given_up_) release(message);
  ++receives_done_;
}

/// Partial results for the same bytes are combined in the order in which their receives were posted, so that a sum does
/// not depend on which came in first.
void ExchangeRun::combine_received() {
  for (std::size_t waiting = 0; waiting < to_combine_.size();) {
    const std::size_t index = to_combine_[waiting];
    Slot& slot = slots_[index];
    if (!slot.in || comes_after_another(waiting)) {
      ++waiting;
      continue;
    }
    const std::byte* from = slot.staging.data();
    for (const Span& span : slot.spans) {
      traffic_.combining->combine(from, span.at, span.length);
      missing_->arrived(span);
      from += span.length;
    }
    slot.in = false;
    free_receives_.push_back(index);
    to_combine_.erase(to_combine_.begin() + static_cast<std::ptrdiff_t>(waiting));
  }
}

/// For some of its bytes.
bool ExchangeRun::comes_after_another(std::size_t waiting) const {
  const std::vector<Span>& spans = slots_[to_combine_[waiting]].spans;
  return std::any_of(to_combine_.begin(), to_combine_.begin() + static_cast<std::ptrdiff_t>(waiting),
                     [&](std::size_t before) { return overlap(spans, slots_[before].spans); });
}

void ExchangeRun::release(std::size_t receive) {
  trace("acknowledge", receive);
  signal(program_.receives[receive].src, owner_.tags_.acknowledgement());
  if (!tokens()) return;
  for (const Release& waiting : program_.receives[receive].releases) {
    trace("release", receive, waiting.rank, waiting.send);
    if (is_self(waiting.rank))
      ++own_tokens_[waiting.send];
    else
      signal(waiting.rank, owner_.tags_.token(waiting.send));
  }
}

void ExchangeRun::release_all() {
  for (std::size_t r = 0; r < program_.receives.size(); ++r)
    if (receive_missing_[r] > 0) release(r);
}

/// No send waits for them any more; they must not be left over for the next exchange.
void ExchangeRun::keep_tokens(SendSlot& send_slot) {
  signals_.insert(signals_.end(), send_slot.tokens.begin(), send_slot.tokens.end());
  send_slot.tokens.clear();
}

void ExchangeRun::signal(Rank rank, int tag) {
  signals_.emplace_back();
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(rank), tag, owner_.comm_, &signals_.back()));
}

// Sends

/// The next send gets a send_slot when all of the phases before it have started.
bool ExchangeRun::admit() {
  if (next_send_ == program_.sends.size()) return false;
  if (free_send_slots_.empty() && !remaining_posted_) return false;
  const RankProgram::Send& send = program_.sends[next_send_];
  if (send.phase > last_phase_) return false;
  if (!remaining_posted_ && started_ < next_send_ && send.phase != program_.sends[next_send_ - 1].phase) return false;
  if (free_send_slots_.empty()) {
    free_send_slots_.push_back(send_slots_.size());
    send_slots_.emplace_back();
  }
  SendSlot& send_slot = send_slots_[free_send_slots_.back()];
  active_.push_back(free_send_slots_.back());
  free_send_slots_.pop_back();
  send_slot.send = next_send_++;
  send_slot.open = false;
  send_slot.next_segment = send_slot.done = send_slot.own_tokens = 0;
  send_slot.at = Cursor(traffic_.sends.spans(send_slot.send));
  prepare_next(send_slot);
  send_slot.tokens.clear();
  if (signals()) expect_acknowledgements(owner_.acks_before_[send_slot.send]);
  if (!tokens()) return true;
  for (const Rank releaser : send.tokens) {
    if (is_self(releaser)) {
      ++send_slot.own_tokens;
      continue;
    }
    send_slot.tokens.push_back(expect_signal(releaser, owner_.tags_.token(send_slot.send)));
  }
  return true;
}

void ExchangeRun::expect_acknowledgements(std::size_t sends) {
  for (; acks_expected_ < sends; ++acks_expected_)
    acks_[acks_expected_] = expect_signal(program_.sends[acks_expected_].dst, owner_.tags_.acknowledgement());
}

void ExchangeRun::poll_acknowledgements() {
  for (int in = 1; acks_in_ < acks_expected_; ++acks_in_) {
    check(PMPI_Test(&acks_[acks_in_], &in, MPI_STATUS_IGNORE));
    if (!in) return;
    trace("acknowledged", acks_in_);
  }
}

bool ExchangeRun::may_start(SendSlot& send_slot) {
  if (send_slot.open || remaining_posted_) return true;
  const std::size_t before = owner_.before_to_same_[send_slot.send];
  if (before < send_slot.send && !handed_[before]) return false;
  if (order_given_up_) {
    keep_tokens(send_slot);
    return send_slot.open = true;
  }
  if (signals() && acks_in_ < owner_.acks_before_[send_slot.send]) return false;
  if (owes_signals(send_slot.send)) return false;
  if (own_tokens_[send_slot.send] < send_slot.own_tokens) return false;
  if (!all_done(send_slot.tokens)) return false;
  if (owner_.trace_ != nullptr) {
    // Counted from what MPI says, not from what was waited for.
    const auto received = std::count(send_slot.tokens.begin(), send_slot.tokens.end(), MPI_REQUEST_NULL);
    trace("tokens", send_slot.send, received + own_tokens_[send_slot.send]);
  }
  return send_slot.open = true;
}

/// Its receiver waits for this rank. Forwarded data is not held up for that.
bool ExchangeRun::owes_signals(std::size_t send) const {
  if (!signals() || held_ || missing_) return false;
  return std::ranges::any_of(owner_.owed_before_[send],
                             [&](std::size_t receive) { return receive_missing_[receive] > 0; });
}

void ExchangeRun::prepare_next(SendSlot& send_slot) {
  send_slot.at.take(length_of(traffic_.sends, send_slot.send, send_slot.next_segment), send_slot.next);
  send_slot.held = 0;
}

bool ExchangeRun::holds_next(SendSlot& send_slot) const {
  if (!held_ && !missing_) return true;
  const RankProgram::Send& send = program_.sends[send_slot.send];
  while (send_slot.held < send_slot.next.size() && is_there(send_slot.next[send_slot.held], send)) ++send_slot.held;
  return send_slot.held == send_slot.next.size();
}

bool ExchangeRun::is_there(const Span& span, const RankProgram::Send& send) const {
  if (held_) return holds(*held_, span);
  return missing_->lack_at_most(span, combines(send.phase) ? traffic_.combining->replacing : 0);
}

ExchangeRun::Push ExchangeRun::push(std::size_t index) {
  SendSlot& send_slot = send_slots_[index];
  const bool ends = ends_early();
  if (handed_[send_slot.send] || !may_start(send_slot) || !(ends || holds_next(send_slot))) return Push::waits;
  std::size_t at = receive_slots + index * most_outstanding + send_slot.next_segment % most_outstanding;
  if (remaining_posted_)
    at = add_slot();
  else if (requests_[at] != MPI_REQUEST_NULL)
    return Push::full;
  Slot& slot = slots_[at];
  slot.sends = true;
  slot.message = index;
  slot.sequence = posted_++;
  std::swap(slot.spans, send_slot.next);
  if (ends) slot.spans.clear();
  const std::size_t length = ends ? 0 : length_of(traffic_.sends, send_slot.send, send_slot.next_segment);
  const bool more = !ends && send_slot.next_segment + 1 < segments_of(traffic_.sends.bytes(send_slot.send));
  std::byte* const from = buffer_of(slot.spans, slot.staging, length);
  if (slot.spans.size() > 1) {
    std::byte* to = from;
    for (const Span& span : slot.spans) to = std::copy_n(span.at, span.length, to);
  }
  trace("send", send_slot.send, send_slot.next_segment);
  check(PMPI_Isend(from, static_cast<int>(length), MPI_BYTE, static_cast<int>(program_.sends[send_slot.send].dst),
                   owner_.tags_.segment(send_begin_[send_slot.send] + send_slot.next_segment, length, more || ends),
                   owner_.comm_, &requests_[at]));
  if (send_slot.next_segment++ == 0) ++started_;
  handed_[send_slot.send] = !more;
  if (more) prepare_next(send_slot);
  return Push::moved;
}

/// The sends of one phase take turns. A later phase gets its chance when those before it wait for
/// bytes to forward, not when MPI has enough of theirs in hand.
bool ExchangeRun::push_sends() {
  bool moved = false;
  poll_acknowledgements();
  while (admit()) {
  }
  const auto phase_of = [&](std::size_t send_slot) { return program_.sends[send_slots_[send_slot].send].phase; };
  for (std::size_t begin = 0, end = 0; begin < active_.size(); begin = end) {
    while (end < active_.size() && phase_of(active_[end]) == phase_of(active_[begin])) ++end;
    bool full = false;
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = begin; i < end; ++i) {
        const Push result = push(active_[i]);
        any |= result == Push::moved;
        full |= result == Push::full;
      }
      moved |= any;
    }
    if (full) break;
  }
  return moved;
}

void ExchangeRun::collect_sent(std::size_t index) {
  const std::size_t send_slot = slots_[index].message;
  const std::size_t send = send_slots_[send_slot].send;
  if (++send_slots_[send_slot].done < send_slots_[send_slot].next_segment || !handed_[send]) return;
  ++sends_done_;
  if (combines(program_.sends[send].phase)) --partial_sends_left_;
  active_.erase(std::find(active_.begin(), active_.end(), send_slot));
  free_send_slots_.push_back(send_slot);
}

bool ExchangeRun::collect_completions() {
  int count = 0;
  check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(),
                      MPI_STATUSES_IGNORE));
  if (count == MPI_UNDEFINED || count == 0) return false;
  // Two messages from one rank must be acknowledged in the order of posting.
  std::sort(finished_.begin(), finished_.begin() + count, [&](int a, int b) {
    return slots_[static_cast<std::size_t>(a)].sequence < slots_[static_cast<std::size_t>(b)].sequence;
  });
  for (int i = 0; i < count; ++i) {
    const auto slot = static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)]);
    if (slots_[slot].sends)
      collect_sent(slot);
    else
      collect_received(slot);
  }
  combine_received();  // after all acknowledgements
  post_receives();
  return true;
}

}  // namespace hocket::runtime
