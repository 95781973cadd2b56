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

void PhaseMessages::find(const Network& network, std::span<const Hop> hops) {
  hops_.assign(hops.begin(), hops.end());
  find_routes(network);
}

void PhaseMessages::find(const Network& network, const ClosedForm& form, std::uint64_t phase) {
  hops_.clear();
  form.append_messages(phase, hops_);
  find_routes(network);
}

void PhaseMessages::find_routes(const Network& network) {
  routes_.clear();
  begin_.assign(1, 0);
  for (const Hop hop : hops_) {
    network.append_route(hop.src, hop.dst, routes_);
    begin_.push_back(routes_.size());
  }
}

TokenSimulation::TokenSimulation(const Network& network, const TokenModel& model, Away away)
    : network_(network),
      model_(model),
      away_(std::move(away)),
      channels_(network.channels()),
      senders_(network.ranks()),
      ends_(network.ranks(), 0) {
  check_model(network, model);
  if (away_.ranks() != 0 && away_.ranks() != network.ranks())
    throw InputError("who is away is said for another number of ranks");
  uses_.assign(std::size_t{network.channels()} * model.window, Use{-std::numeric_limits<double>::infinity()});
  own_ends_.assign(std::size_t{network.ranks()} * model.window, 0);
  if (network.channels() > 0) transmission_ = model.bytes / network.rate(0);
}

double TokenSimulation::latency(Rank src, Rank dst) {
  if (model_.latency) return network_.host_of(src) == network_.host_of(dst) ? 0 : *model_.latency;
  way_back_.clear();
  network_.append_route(src, dst, way_back_);
  return latency(way_back_);
}

double TokenSimulation::latency(std::span<const Channel> route) const {
  if (model_.latency) return route.empty() ? 0 : *model_.latency;
  double sum = 0;
  for (const Channel channel : route) sum += network_.latency(channel);
  return sum;
}

bool TokenSimulation::add(Hop message, std::span<const Channel> route) {
  const auto [src, dst] = message;
  Sender& sender = senders_[src];
  bool alone = std::exchange(sender.phase, phase_) != phase_;
  double& own = own_ends_[std::size_t{src} * model_.window + sender.oldest];
  sender.over = std::max(sender.over, own);
  double ready = std::max(sender.posted, sender.over), free = 0;
  const Use* last = nullptr;
  for (const Channel channel : route) {
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
  double end = sender.posted + latency(route);
  if (!route.empty()) end = std::max(end, free) + transmission_;
  const double released = away_.never() ? end : away_.after(dst, end);
  for (const Channel channel : route) {
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

bool TokenSimulation::add(const PhaseMessages& messages) {
  ++phase_;
  bool alone = true;
  for (std::size_t i = 0; i < messages.hops().size(); ++i) alone = add(messages.hops()[i], messages.route(i)) && alone;
  return alone;
}

FormSimulation::FormSimulation(const Network& network, const ClosedForm& form, const TokenModel& model,
                               std::vector<Away> runs)
    : network_(network), form_(form) {
  if (form.ranks() != network.ranks()) throw InputError("schedule and network differ in the number of ranks");
  for (Away& away : runs) runs_.emplace_back(network, model, std::move(away));
}

void FormSimulation::advance(std::uint64_t phases) {
  const std::uint64_t end = phases_ + std::min(phases, form_.phases() - phases_);
  Steps steps("simulating", end - phases_);
  for (; phases_ < end; ++phases_) {
    of_phase_.find(network_, form_, phases_);
    messages_ += of_phase_.hops().size();
    for (TokenSimulation& run : runs_)
      if (!run.add(of_phase_)) throw InputError("two messages of a phase share a channel or a sender");
    steps.tick();
  }
}

}  // namespace hocket
