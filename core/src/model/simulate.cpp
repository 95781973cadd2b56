#include "hocket/model/simulate.hpp"

#include <algorithm>
#include <queue>

#include "dependencies.hpp"
#include "hocket/model/fair_share.hpp"
#include "hocket/progress.hpp"
#include "sends.hpp"

namespace hocket {
namespace {

using model::Successors;
constexpr double infinity = std::numeric_limits<double>::infinity();

void check(const Network& network, const Schedule& schedule, const ModelParameters& p) {
  const auto cost = [](double value, const char* what) {
    if (!(value >= 0 && value < infinity)) throw InputError(std::string(what) + " must be 0 or more seconds");
  };
  cost(p.startup, "the startup time");
  cost(p.token, "the token time");
  cost(p.barrier, "the barrier time");
  if (!(p.overhead >= 1 && p.overhead <= 100)) throw InputError("the overhead must be between 1 and 100");
  if (!(p.memory_rate > 0)) throw InputError("the memory rate must be positive");
  model::check_fits(network, schedule);
}

/// Where a rank stands in its list of sends.
struct Sender {
  std::span<const std::uint32_t> left;  ///< transfers to be posted
  std::uint32_t flying = 0;             ///< posted and not over
  std::uint32_t flying_in_phase = 0;    ///< of those, in `phase`
  std::uint32_t phase = 0;              ///< of the last one posted
  double free_at = 0;                   ///< its processor is done with the startups so far
};

struct Departure {  ///< bytes of a transfer begin to flow
  double time;
  std::uint32_t transfer;
  bool operator>(const Departure& other) const {
    return time != other.time ? time > other.time : transfer > other.transfer;
  }
};

class Simulator {
 public:
  Simulator(const Network& network, const Schedule& schedule, FlowControl flow, const ModelParameters& parameters)
      : network_(network),
        schedule_(schedule),
        flow_(flow),
        p_(parameters),
        share_(network),
        pending_(schedule.size(), 0),
        ready_(schedule.size(), 0),
        sends_(schedule),
        senders_(network.ranks()),
        result_(model::unsent(schedule)) {
    for (Rank rank = 0; rank < network.ranks(); ++rank) senders_[rank].left = sends_.of(rank);
  }

  void hold_back(Successors tokens, Successors data) {
    for (const auto* successors : {&tokens, &data})
      for (const std::uint32_t transfer : successors->next) ++pending_[transfer];
    tokens_ = std::move(tokens);
    data_ = std::move(data);
  }

  /// None if it takes more than so many steps.
  std::optional<Simulation> run(std::uint64_t most_steps) {
    if (barrier()) {
      open_phase(0);
    } else {
      for (Rank rank = 0; rank < network_.ranks(); ++rank) post_next(rank);
    }
    while (true) {
      double time = share_.next(now_);
      if (!departures_.empty()) time = std::min(time, departures_.top().time);
      if (time == infinity) break;
      if (share_.steps() > most_steps) return {};
      now_ = std::max(now_, time);
      // Transfers that end together, but for rounding, are handled together.
      const double horizon = now_ * (1 + 1e-11) + 1e-15;
      while (depart(horizon) || arrive(horizon)) {
      }
    }
    if (over_ != schedule_.size()) throw InputError("transfers of the schedule wait for each other for ever");
    model::sum_up(schedule_, result_);
    result_.channel_bytes = share_.bytes();
    result_.channel_busy = share_.busy();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool barrier() const { return flow_.kind == FlowControl::Kind::barrier; }

  double latency(Rank src, Rank dst) {
    route_.clear();
    network_.append_route(src, dst, route_);
    double sum = 0;
    for (const Channel channel : route_) sum += network_.latency(channel);
    return sum;
  }

  void post(std::uint32_t transfer, double time) {
    const Hop hop = schedule_.hops()[transfer];
    Sender& sender = senders_[hop.src];
    time = std::max(time, sender.free_at);
    result_.posted[transfer] = time;
    sender.free_at = time + p_.startup;
    departures_.push({sender.free_at + latency(hop.src, hop.dst), transfer});
  }

  void open_phase(std::uint64_t phase) {
    while (phase < schedule_.phases() && schedule_.phase(phase).empty()) ++phase;
    if (phase == schedule_.phases()) return;
    open_phase_ = phase;
    left_in_phase_ = schedule_.phase(phase).size();
    const double time = over_ == 0 ? 0 : now_ + p_.barrier;
    for (std::uint64_t i = schedule_.phase_begin()[phase]; i < schedule_.phase_begin()[phase + 1]; ++i)
      post(static_cast<std::uint32_t>(i), time);
  }

  /// Posts the rank's next sends, as far as flow control lets it.
  void post_next(Rank rank) {
    Sender& sender = senders_[rank];
    while (!sender.left.empty()) {
      const std::uint32_t transfer = sender.left.front(), phase = result_.phase[transfer];
      const std::uint32_t companions = phase == sender.phase ? sender.flying_in_phase : 0;
      if (pending_[transfer] > 0 || sender.flying - companions >= flow_.window) return;
      sender.left = sender.left.subspan(1);
      ++sender.flying;
      sender.flying_in_phase = companions + 1;
      sender.phase = phase;
      post(transfer, std::max(now_, ready_[transfer]));
    }
  }

  bool depart(double horizon) {
    if (departures_.empty() || departures_.top().time > horizon) return false;
    const std::uint32_t transfer = departures_.top().transfer;
    departures_.pop();
    result_.start[transfer] = std::max(now_, result_.posted[transfer]);
    const Hop hop = schedule_.hops()[transfer];
    const double delay = latency(hop.src, hop.dst);
    FlowSpec flow;
    flow.tag = transfer;
    flow.bytes = static_cast<double>(schedule_.length(transfer)) * p_.overhead;
    flow.mark = std::min(flow.bytes, static_cast<double>(p_.early_release) * p_.overhead);
    if (p_.latency_weighted) flow.weight = 1 / std::max(delay, 1e-9);
    if (route_.empty()) flow.limit = p_.memory_rate;
    share_.start(now_, flow, route_);
    return true;
  }

  bool arrive(double horizon) {
    FairShare::Event event{};
    if (!share_.take(now_, horizon, event)) return false;
    if (!event.end) {
      release(event.tag);
      return true;
    }
    const std::uint32_t transfer = event.tag;
    const Rank src = schedule_.hops()[transfer].src;
    result_.end[transfer] = std::max(now_, result_.start[transfer]);
    ++over_;
    steps_.tick();
    if (p_.early_release == 0 || schedule_.length(transfer) == 0) release(transfer);
    for (const std::uint32_t next : data_.of(transfer)) set_free(next, now_);
    if (barrier()) {
      if (--left_in_phase_ == 0) open_phase(open_phase_ + 1);
    } else {
      Sender& sender = senders_[src];
      --sender.flying;
      if (result_.phase[transfer] == sender.phase) --sender.flying_in_phase;
      post_next(src);
    }
    return true;
  }

  /// The receiver sends a token to every sender that waits for this transfer.
  void release(std::uint32_t transfer) {
    const Rank releaser = schedule_.hops()[transfer].dst;
    for (const std::uint32_t next : tokens_.of(transfer)) {
      const Rank waiting = schedule_.hops()[next].src;
      if (waiting == releaser) {
        set_free(next, now_);
      } else {
        ++result_.tokens;
        set_free(next, now_ + p_.token + latency(releaser, waiting));
      }
    }
  }

  void set_free(std::uint32_t transfer, double time) {
    ready_[transfer] = std::max(ready_[transfer], time);
    if (--pending_[transfer] == 0 && !barrier()) post_next(schedule_.hops()[transfer].src);
  }

  const Network& network_;
  const Schedule& schedule_;
  const FlowControl flow_;
  const ModelParameters p_;
  FairShare share_;
  Successors tokens_, data_;
  std::vector<std::uint32_t> pending_;  ///< per transfer: tokens and pieces still missing
  std::vector<double> ready_;           ///< per transfer: when the last of them so far is there
  const model::Sends sends_;
  std::vector<Sender> senders_;
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures_;
  std::vector<Channel> route_;
  std::uint64_t open_phase_ = 0, left_in_phase_ = 0, over_ = 0;
  double now_ = 0;
  Simulation result_;
  Steps steps_{"simulating", schedule_.size()};
};

}  // namespace

Simulation simulate(const Network& network, const Schedule& schedule, const Waits* waits, FlowControl flow,
                    const ModelParameters& parameters) {
  return *simulate_within(~std::uint64_t{0}, network, schedule, waits, flow, parameters);
}

std::optional<Simulation> simulate_within(std::uint64_t steps, const Network& network, const Schedule& schedule,
                                          const Waits* waits, FlowControl flow, const ModelParameters& parameters) {
  check(network, schedule, parameters);
  if (flow.window == 0) throw InputError("the window must be at least 1");
  Simulator simulator(network, schedule, flow, parameters);
  Successors tokens;
  if (flow.kind == FlowControl::Kind::window)
    tokens = model::released_by(schedule, waits != nullptr ? *waits : derive_waits(network, schedule, flow.window));
  Successors data;
  if (flow.kind != FlowControl::Kind::barrier) data = model::forwarded_after(schedule);
  simulator.hold_back(std::move(tokens), std::move(data));
  return simulator.run(steps);
}

}  // namespace hocket
