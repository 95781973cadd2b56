/// How a pass receives and sends.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/exchange/exchange_run.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {
namespace {

// Signals are empty messages. A token for the k-th send of a rank has the tag first_token_tag + k, so
// that source and tag say it all: no wildcard is needed, and since messages of one source and tag
// arrive in order, a signal of the next exchange cannot be taken for one of this.
constexpr int data_tag = 0;
constexpr int acknowledgement_tag = 1;

int tag_of_token(std::size_t send) { return Exchange::first_token_tag + static_cast<int>(send); }

/// Where MPI finds the bytes of a segment: in place if they lie side by side.
std::byte* buffer_of(const std::vector<Span>& spans, std::vector<std::byte>& staging, std::size_t length) {
  if (spans.size() <= 1) return spans.empty() ? nullptr : spans.front().at;
  if (staging.size() < length) staging.resize(length);
  return staging.data();
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
    if (program_.receives[begin].phase > last_phase_) return false;
    for (bool more = true; more; ++round_, turn_ = 0) {
      more = turn_ > 0;
      for (; begin + turn_ < end; ++turn_) {
        message = begin + turn_;
        if (round_ >= segments_of(traffic_.receives.bytes(message))) continue;
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
  check(PMPI_Irecv(buffer_of(slot.spans, slot.staging, length), static_cast<int>(length), MPI_BYTE,
                   static_cast<int>(program_.receives[message].src), data_tag, owner_.comm_, &requests_[index]));
}

void ExchangeRun::collect_received(std::size_t index) {
  Slot& slot = slots_[index];
  const std::byte* from = slot.staging.data();
  for (const Span& span : slot.spans) {
    if (slot.spans.size() > 1) std::memcpy(span.at, from, span.length);
    from += slot.spans.size() > 1 ? span.length : 0;
    if (held_) hold(*held_, span);
  }
  trace("received", slot.message, slot.segment);
  const std::size_t message = slot.message, missing = --receive_missing_[message];
  if (signals() && !remaining_posted_ && missing == missing_at_release(message)) release(message);
  if (missing == 0) ++receives_done_;
  free_receives_.push_back(index);
}

/// Segments; all of them are never missing.
std::size_t ExchangeRun::missing_at_release(std::size_t receive) const {
  return std::min(settings_.early / settings_.segment, segments_of(traffic_.receives.bytes(receive)) - 1);
}

void ExchangeRun::release(std::size_t receive) {
  trace("acknowledge", receive);
  signal(program_.receives[receive].src, acknowledgement_tag);
  if (!tokens()) return;
  for (const Release& waiting : program_.receives[receive].releases) {
    trace("release", receive, waiting.rank, waiting.send);
    if (is_self(waiting.rank))
      ++own_tokens_[waiting.send];
    else
      signal(waiting.rank, tag_of_token(waiting.send));
  }
}

void ExchangeRun::signal(Rank rank, int tag) {
  signals_.emplace_back();
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(rank), tag, owner_.comm_, &signals_.back()));
}

// Sends

/// The next send gets a lane when all of the phases before it have started.
bool ExchangeRun::admit() {
  if (next_send_ == program_.sends.size()) return false;
  if (free_lanes_.empty() && !remaining_posted_) return false;
  const RankProgram::Send& send = program_.sends[next_send_];
  if (send.phase > last_phase_) return false;
  if (!remaining_posted_ && started_ < next_send_ && send.phase != program_.sends[next_send_ - 1].phase) return false;
  if (free_lanes_.empty()) {
    free_lanes_.push_back(lanes_.size());
    lanes_.emplace_back();
  }
  SendSlot& lane = lanes_[free_lanes_.back()];
  active_.push_back(free_lanes_.back());
  free_lanes_.pop_back();
  lane.send = next_send_++;
  lane.open = false;
  lane.next_segment = lane.done = lane.own_tokens = 0;
  lane.at = Cursor(traffic_.sends.spans(lane.send));
  prepare_next(lane);
  lane.tokens.clear();
  if (signals()) expect_acknowledgements(owner_.acks_before_[lane.send]);
  if (!tokens()) return true;
  for (const Rank releaser : send.tokens) {
    if (is_self(releaser)) {
      ++lane.own_tokens;
      continue;
    }
    lane.tokens.emplace_back();
    check(PMPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(releaser), tag_of_token(lane.send), owner_.comm_,
                     &lane.tokens.back()));
  }
  return true;
}

void ExchangeRun::expect_acknowledgements(std::size_t sends) {
  for (; acks_expected_ < sends; ++acks_expected_)
    check(PMPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(program_.sends[acks_expected_].dst), acknowledgement_tag,
                     owner_.comm_, &acks_[acks_expected_]));
}

void ExchangeRun::poll_acknowledgements() {
  for (int in = 1; acks_in_ < acks_expected_; ++acks_in_) {
    check(PMPI_Test(&acks_[acks_in_], &in, MPI_STATUS_IGNORE));
    if (!in) return;
    trace("acknowledged", acks_in_);
  }
}

bool ExchangeRun::may_start(SendSlot& lane) {
  if (lane.open || remaining_posted_) return true;
  if (signals() && acks_in_ < owner_.acks_before_[lane.send]) return false;
  if (own_tokens_[lane.send] < lane.own_tokens) return false;
  const std::size_t before = owner_.before_to_same_[lane.send];
  if (before < lane.send && !handed_[before]) return false;
  if (!all_done(lane.tokens)) return false;
  if (owner_.trace_ != nullptr) {
    // Counted from what MPI says, not from what was waited for.
    const auto received = std::count(lane.tokens.begin(), lane.tokens.end(), MPI_REQUEST_NULL);
    trace("tokens", lane.send, received + own_tokens_[lane.send]);
  }
  return lane.open = true;
}

void ExchangeRun::prepare_next(SendSlot& lane) {
  lane.at.take(length_of(traffic_.sends, lane.send, lane.next_segment), lane.next);
  lane.held = 0;
}

bool ExchangeRun::holds_next(SendSlot& lane) const {
  if (!held_) return true;
  while (lane.held < lane.next.size() && holds(*held_, lane.next[lane.held])) ++lane.held;
  return lane.held == lane.next.size();
}

ExchangeRun::Push ExchangeRun::push(std::size_t index) {
  SendSlot& lane = lanes_[index];
  if (handed_[lane.send] || !may_start(lane) || !holds_next(lane)) return Push::waits;
  std::size_t at = receive_slots + index * settings_.ahead + lane.next_segment % settings_.ahead;
  if (remaining_posted_)
    at = add_slot();
  else if (requests_[at] != MPI_REQUEST_NULL)
    return Push::full;
  Slot& slot = slots_[at];
  slot.sends = true;
  slot.message = index;
  slot.sequence = posted_++;
  std::swap(slot.spans, lane.next);
  const std::size_t length = length_of(traffic_.sends, lane.send, lane.next_segment);
  std::byte* const from = buffer_of(slot.spans, slot.staging, length);
  if (slot.spans.size() > 1) {
    std::byte* to = from;
    for (const Span& span : slot.spans) to = std::copy_n(span.at, span.length, to);
  }
  trace("send", lane.send, lane.next_segment);
  check(PMPI_Isend(from, static_cast<int>(length), MPI_BYTE, static_cast<int>(program_.sends[lane.send].dst), data_tag,
                   owner_.comm_, &requests_[at]));
  if (lane.next_segment++ == 0) ++started_;
  handed_[lane.send] = lane.next_segment == segments_of(traffic_.sends.bytes(lane.send));
  if (!handed_[lane.send]) prepare_next(lane);
  return Push::moved;
}

/// The sends of one phase take turns. A later phase gets its chance when those before it wait for
/// bytes to forward, not when MPI has enough of theirs in hand.
bool ExchangeRun::push_sends() {
  bool moved = false;
  poll_acknowledgements();
  while (admit()) {
  }
  const auto phase_of = [&](std::size_t lane) { return program_.sends[lanes_[lane].send].phase; };
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
  const std::size_t lane = slots_[index].message;
  if (++lanes_[lane].done < segments_of(traffic_.sends.bytes(lanes_[lane].send))) return;
  ++sends_done_;
  active_.erase(std::find(active_.begin(), active_.end(), lane));
  free_lanes_.push_back(lane);
}

bool ExchangeRun::collect_completions() {
  int count = 0;
  check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(),
                      MPI_STATUSES_IGNORE));
  if (count == MPI_UNDEFINED || count == 0) return false;
  // Of two messages from one rank, the first is acknowledged first.
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
  post_receives();
  return true;
}

}  // namespace hocket::runtime
