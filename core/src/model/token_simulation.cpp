#include "hocket/model/token_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hocket/error.hpp"
#include "hocket/progress.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t widest = 1 << 10;

void check_model(const Network& network, const TokenModel& model) {
  if (!network.equal_rates()) throw InputError("links differ in rate: such a schedule is simulated as a whole");
  if (model.window == 0 || model.window > widest)
    throw InputError("the window must be from 1 to " + std::to_string(widest));
  for (const double cost : {model.bytes, model.startup, model.token, model.latency.value_or(0)})
    if (!(cost >= 0 && std::isfinite(cost))) throw InputError("bytes and times must be 0 or more");
}

}  // namespace

TokenSimulation::TokenSimulation(const Network& network, const TokenModel& model, Away away)
    : network_(network),
      model_(model),
      away_(std::move(away)),
      channels_(network.channels()),
      senders_(network.ranks()),
      ends_(network.ranks(), 0) {
  check_model(network, model);
  uses_.assign(std::size_t{network.channels()} * model.window, Use{-std::numeric_limits<double>::infinity()});
  own_ends_.assign(std::size_t{network.ranks()} * model.window, 0);
  if (network.channels() > 0) transmission_ = model.bytes / network.rate(0);
}

double TokenSimulation::latency(Rank src, Rank dst) {
  if (model_.latency) return network_.host_of(src) == network_.host_of(dst) ? 0 : *model_.latency;
  way_back_.clear();
  network_.append_route(src, dst, way_back_);
  double sum = 0;
  for (const Channel channel : way_back_) sum += network_.latency(channel);
  return sum;
}

double TokenSimulation::latency_of_route() const {
  if (model_.latency) return route_.empty() ? 0 : *model_.latency;
  double sum = 0;
  for (const Channel channel : route_) sum += network_.latency(channel);
  return sum;
}

bool TokenSimulation::add(Hop message) {
  const auto [src, dst] = message;
  route_.clear();
  network_.append_route(src, dst, route_);
  Sender& sender = senders_[src];
  bool alone = std::exchange(sender.phase, phase_) != phase_;
  double& own = own_ends_[std::size_t{src} * model_.window + sender.oldest];
  sender.over = std::max(sender.over, own);
  double ready = std::max(sender.posted, sender.over), free = 0;
  const Use* last = nullptr;
  for (const Channel channel : route_) {
    Channels& at = channels_[channel];
    alone = std::exchange(at.phase, phase_) != phase_ && alone;
    free = std::max(free, at.free);
    const Use& use = uses_[std::size_t{channel} * model_.window + at.oldest];
    // Neighbouring channels often had the same message.
    if (use.released < 0 || (last != nullptr && last->src == use.src && last->dst == use.dst)) continue;
    last = &use;
    if (use.src == src)
      ready = std::max(ready, use.end);
    else if (use.dst == src)
      ready = std::max(ready, use.released);
    else
      ready = std::max(ready, use.released + model_.token + latency(use.dst, src));
  }
  const double posted = away_.never() ? ready : away_.after(src, ready);
  sender.posted = posted + model_.startup;
  double end = sender.posted + latency_of_route();
  if (!route_.empty()) end = std::max(end, free) + transmission_;
  const double released = away_.never() ? end : away_.after(dst, end);
  for (const Channel channel : route_) {
    Channels& at = channels_[channel];
    at.free = end;
    uses_[std::size_t{channel} * model_.window + at.oldest] = {released, end, src, dst};
    if (++at.oldest == model_.window) at.oldest = 0;
  }
  own = ends_[src] = end;
  if (++sender.oldest == model_.window) sender.oldest = 0;
  seconds_ = std::max(seconds_, end);
  return alone;
}

bool TokenSimulation::add(std::span<const Hop> messages) {
  ++phase_;
  bool alone = true;
  for (const Hop message : messages) alone = add(message) && alone;
  messages_ += messages.size();
  return alone;
}

FormSimulation::FormSimulation(const Network& network, const ClosedForm& form, const TokenModel& model, Away away)
    : form_(form), times_(network, model, std::move(away)) {
  if (form.ranks() != network.ranks()) throw InputError("schedule and network differ in the number of ranks");
}

void FormSimulation::advance(std::uint64_t phases) {
  const std::uint64_t end = phases_ + std::min(phases, form_.phases() - phases_);
  Steps steps("simulating", end - phases_);
  for (; phases_ < end; ++phases_) {
    messages_.clear();
    form_.append_messages(phases_, messages_);
    if (!times_.add(messages_)) throw InputError("two messages of a phase share a channel or a sender");
    steps.tick();
  }
}

}  // namespace hocket
