#include "runtime/exchange/exchange_run.hpp"

#include <algorithm>

#include "runtime/environment/variables.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {
namespace {

constexpr std::size_t most_lanes = 32;  ///< sends under way at once
constexpr std::uint64_t every_phase = ~std::uint64_t{0};

/// Segment length from the settings, rounded down to whole elements.
std::size_t segment_bytes(const Settings& settings, const Traffic& traffic) {
  return settings.segment - (traffic.combining ? settings.segment % traffic.combining->element : 0);
}

/// The index of each message's first segment in the stream of segments between two ranks. `before`:
/// Exchange::before_to_same_.
template <class Segments>
std::vector<std::size_t> begins(const std::vector<std::size_t>& before, Segments segments_of) {
  std::vector<std::size_t> begin(before.size(), 0);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] < i) begin[i] = begin[before[i]] + segments_of(before[i]);
  return begin;
}

}  // namespace

ExchangeRun::ExchangeRun(const Exchange& owner, const Traffic& traffic)
    : owner_(owner),
      program_(owner.planned_.program),
      settings_(owner.settings_),
      traffic_(traffic),
      segment_(segment_bytes(settings_, traffic)),
      held_(traffic.held),
      send_slots_(std::min(2 * owner.widest_, most_lanes)),
      handed_(program_.sends.size(), false),
      own_tokens_(program_.sends.size(), 0),
      acks_(program_.sends.size(), MPI_REQUEST_NULL) {
  slots_.resize(receive_slots + send_slots_.size() * most_outstanding);
  requests_.assign(slots_.size(), MPI_REQUEST_NULL);
  finished_.resize(slots_.size());
  for (std::size_t slot = receive_slots; slot-- > 0;) free_receives_.push_back(slot);
  for (std::size_t send_slot = send_slots_.size(); send_slot-- > 0;) free_send_slots_.push_back(send_slot);
  std::size_t signals = 0;
  receive_posted_.assign(program_.receives.size(), 0);
  for (std::size_t r = 0; r < program_.receives.size(); ++r) {
    receive_at_.emplace_back(traffic_.receives.spans(r));
    receive_missing_.push_back(segments_of(traffic_.receives.bytes(r)));
    signals += program_.receives[r].releases.size() + 1;
  }
  receive_begin_ =
      begins(owner.before_from_same_, [&](std::size_t r) { return segments_of(traffic_.receives.bytes(r)); });
  send_begin_ = begins(owner.before_to_same_, [&](std::size_t s) { return segments_of(traffic_.sends.bytes(s)); });
  last_in_.assign(program_.receives.size(), false);
  if (traffic_.combining) missing_ = traffic_.combining->arrivals;
  for (const RankProgram::Send& send : program_.sends) partial_sends_left_ += combines(send.phase) ? 1 : 0;
  signals_.reserve(signals);
}

/// A message of no bytes travels as one empty segment: others may be waiting for its place in the
/// order.
std::size_t ExchangeRun::segments_of(std::size_t bytes) const {
  return bytes == 0 ? 1 : (bytes + segment_ - 1) / segment_;
}

std::size_t ExchangeRun::length_of(const Messages& messages, std::size_t message, std::size_t segment) const {
  return std::min(segment_, messages.bytes(message) - segment * segment_);
}

void ExchangeRun::begin() {
  if (owner_.trace_ != nullptr) owner_.trace_->plan(owner_.planned_, owner_.rank_);
  begin_phase(settings_.flow_control == Flow::barrier ? 0 : every_phase);
}

bool ExchangeRun::advance() {
  while (stage_ != Stage::over && stage_done()) begin_next_stage();
  return stage_ == Stage::over;
}

bool ExchangeRun::stage_done() {
  switch (stage_) {
    case Stage::messages:
      if (push_sends() | collect_completions() | take_strays()) {
        ++moves_;
        next_look_.reset();
      } else {
        look_for_strays();
      }
      return receives_done_ == receives_due_ && sends_done_ == sends_due_;
    case Stage::barrier:
      return all_done(barriers_);
    case Stage::acknowledgements:
      return all_done(acks_);
    case Stage::signals:
      return all_done(signals_);
    case Stage::over:
      break;
  }
  return true;
}

void ExchangeRun::begin_next_stage() {
  ++moves_;
  switch (stage_) {
    case Stage::messages:
      if (settings_.flow_control == Flow::barrier) {
        // The plain way: everybody finishes a phase before anybody starts the next.
        if (!remaining_posted_) post_barriers(1);
        stage_ = Stage::barrier;
      } else {
        // The last acknowledgements gate no send; they must not be left over for the next exchange.
        expect_acknowledgements(program_.sends.size());
        stage_ = Stage::acknowledgements;
      }
      break;
    case Stage::barrier:
      if (remaining_posted_)
        stage_ = Stage::over;
      else
        begin_phase(last_phase_ + 1);
      break;
    case Stage::acknowledgements:
      stage_ = Stage::signals;
      break;
    case Stage::signals:
    case Stage::over:
      stage_ = Stage::over;
  }
}

void ExchangeRun::begin_phase(std::uint64_t phase) {
  if (phase != every_phase && phase >= owner_.planned_.phases) {
    stage_ = Stage::over;
    return;
  }
  const auto due = [phase](const auto& messages) {
    const auto later = std::find_if(messages.begin(), messages.end(), [&](const auto& m) { return m.phase > phase; });
    return static_cast<std::size_t>(later - messages.begin());
  };
  stage_ = Stage::messages;
  last_phase_ = phase;
  sends_due_ = due(program_.sends);
  receives_due_ = due(program_.receives);
  post_receives();
}

void ExchangeRun::post_barriers(std::uint64_t number) {
  barriers_.resize(number);
  for (MPI_Request& barrier : barriers_) check(PMPI_Ibarrier(owner_.comm_, &barrier));
}

void ExchangeRun::post_remaining() {
  if (remaining_posted_ || held_ || missing_ || stage_ == Stage::over) return;
  if (settings_.flow_control == Flow::barrier) {
    const std::uint64_t begun = last_phase_ + (stage_ == Stage::barrier ? 1 : 0);
    std::vector<MPI_Request> begun_barrier = std::move(barriers_);
    post_barriers(owner_.planned_.phases - begun);
    barriers_.insert(barriers_.end(), begun_barrier.begin(), begun_barrier.end());
    stage_ = Stage::messages;
  }
  if (stage_ != Stage::messages) return;
  remaining_posted_ = true;
  begin_phase(every_phase);
  if (signals()) release_all();
  while (admit()) {
  }
  if (signals()) expect_acknowledgements(program_.sends.size());
  for (const std::size_t send_slot : active_) {
    while (push(send_slot) == Push::moved) {
    }
    keep_tokens(send_slots_[send_slot]);
  }
}

void ExchangeRun::give_up_order() {
  trace("give up order");
  if (!held_ && !missing_) return post_remaining();
  if (order_given_up_ || settings_.flow_control == Flow::barrier || stage_ != Stage::messages) return;
  order_given_up_ = true;
  release_all();
  ++moves_;
}

bool ExchangeRun::handed_over() const {
  return remaining_posted_ || stage_ == Stage::acknowledgements || stage_ == Stage::signals || stage_ == Stage::over;
}

std::size_t ExchangeRun::add_slot() {
  slots_.emplace_back();
  requests_.push_back(MPI_REQUEST_NULL);
  finished_.push_back(0);
  return slots_.size() - 1;
}

}  // namespace hocket::runtime
