#include "core/model/token_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/progress/progress.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t widest = 1 << 10;

void check_model(const Network& network, const TokenModel& model) {
  if (!network.equal_rates()) throw InputError("links differ in rate: such a schedule is simulated as a whole");
  if (model.window == 0 || model.window > widest)
    throw InputError("the window must be from 1 to " + std::to_string(widest));
  for (const double cost : {model.bytes, model.alpha, model.token, model.latency.value_or(0)})
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

TokenSimulation::TokenSimulation(const Network& network, const TokenModel& model, std::vector<Away> away)
    : network_(network),
      model_(model),
      away_(std::move(away)),
      channels_(network.channels()),
      senders_(network.ranks()),
      ready_(away_.size()),
      free_(away_.size()),
      seconds_(away_.size()),
      use_(away_.size()) {
  check_model(network, model);
  if (away_.empty()) throw InputError("there must be a run");
  for (const Away& of_run : away_)
    if (of_run.ranks() != 0 && of_run.ranks() != network.ranks())
      throw InputError("who is away is said for another number of ranks");
  users_.assign(at(network.channels(), 0), {nobody, nobody});
  uses_.resize(users_.size() * runs());
  own_ends_.resize(at(network.ranks(), 0) * runs());
  for (auto* of_ranks : {&over_, &posted_, &ends_}) of_ranks->resize(network.ranks() * runs());
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

void TokenSimulation::wait_for_own(Rank src) {
  const double* oldest = &own_ends_[at(src, senders_[src].oldest) * runs()];
  const double* posted = &posted_[src * runs()];
  double* over = &over_[src * runs()];
  for (std::size_t run = 0; run < runs(); ++run) {
    over[run] = std::max(over[run], oldest[run]);
    ready_[run] = std::max(over[run], posted[run]);
  }
}

void TokenSimulation::wait_for_channels(Rank src, std::span<const Channel> route) {
  std::ranges::fill(free_, 0);
  Hop last{nobody, nobody};
  for (const Channel channel : route) {
    const std::uint32_t oldest = channels_[channel].oldest, newest = (oldest == 0 ? model_.window : oldest) - 1;
    const Use* before = &uses_[at(channel, newest) * runs()];
    for (std::size_t run = 0; run < runs(); ++run) free_[run] = std::max(free_[run], before[run].end);
    const Hop user = users_[at(channel, oldest)];
    // Neighbouring channels often had the same message.
    if (user.src == nobody || user == last) continue;
    last = user;
    const Use* use = &uses_[at(channel, oldest) * runs()];
    if (user.src == src) {
      for (std::size_t run = 0; run < runs(); ++run) ready_[run] = std::max(ready_[run], use[run].end);
      continue;
    }
    const double pause = user.dst == src ? 0 : model_.token + latency(user.dst, src);
    for (std::size_t run = 0; run < runs(); ++run) ready_[run] = std::max(ready_[run], use[run].released + pause);
  }
}

void TokenSimulation::transmit(Hop message, std::span<const Channel> route) {
  const auto [src, dst] = message;
  Turn& sender = senders_[src];
  double* own = &own_ends_[at(src, sender.oldest) * runs()];
  const double delay = latency(route);
  for (std::size_t run = 0; run < runs(); ++run) {
    const Away& away = away_[run];
    const double posted = (away.never() ? ready_[run] : away.after(src, ready_[run])) + model_.alpha;
    double end = posted + delay;
    if (!route.empty()) end = std::max(end, free_[run]) + transmission_;
    posted_[src * runs() + run] = posted;
    own[run] = ends_[src * runs() + run] = end;
    use_[run] = {end, away.never() ? end : away.after(dst, end)};
    seconds_[run] = std::max(seconds_[run], end);
  }
  if (++sender.oldest == model_.window) sender.oldest = 0;
  for (const Channel channel : route) {
    Turn& turn = channels_[channel];
    users_[at(channel, turn.oldest)] = message;
    std::ranges::copy(use_, &uses_[at(channel, turn.oldest) * runs()]);
    if (++turn.oldest == model_.window) turn.oldest = 0;
  }
}

bool TokenSimulation::add(Hop message, std::span<const Channel> route) {
  bool alone = std::exchange(senders_[message.src].phase, phase_) != phase_;
  for (const Channel channel : route) alone = std::exchange(channels_[channel].phase, phase_) != phase_ && alone;
  wait_for_own(message.src);
  wait_for_channels(message.src, route);
  transmit(message, route);
  return alone;
}

bool TokenSimulation::add(const PhaseMessages& messages) {
  ++phase_;
  bool alone = true;
  for (std::size_t i = 0; i < messages.hops().size(); ++i) alone = add(messages.hops()[i], messages.route(i)) && alone;
  return alone;
}

FormSimulation::FormSimulation(const Network& network, const ClosedForm& form, const TokenModel& model,
                               std::vector<Away> away)
    : network_(network), form_(form), times_(network, model, std::move(away)) {
  if (form.ranks() != network.ranks()) throw InputError("schedule and network differ in the number of ranks");
}

void FormSimulation::advance(std::uint64_t phases) {
  const std::uint64_t end = phases_ + std::min(phases, form_.phases() - phases_);
  Steps steps("simulating", end - phases_);
  for (; phases_ < end; ++phases_) {
    of_phase_.find(network_, form_, phases_);
    messages_ += of_phase_.hops().size();
    if (!times_.add(of_phase_)) throw InputError("two messages of a phase share a channel or a sender");
    steps.tick();
  }
}

}  // namespace hocket
