#include "core/model/simulate.hpp"

#include <algorithm>
#include <charconv>
#include <queue>

#include "core/progress/progress.hpp"

namespace hocket {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check(const Network& network, const Schedule& schedule, const ModelParameters& p) {
  const auto cost = [](double value, const char* what) {
    if (!(value >= 0 && value < infinity)) throw InputError(std::string(what) + " must be 0 or more seconds");
  };
  cost(p.alpha, "the per-message cost");
  cost(p.receive, "the time of a receive");
  cost(p.token, "the token time");
  cost(p.token_work, "the work on a token");
  cost(p.barrier, "the barrier time");
  if (!(p.overhead > 0 && std::isfinite(p.overhead))) throw InputError("the overhead must be above 0");
  if (!(p.memory_rate > 0)) throw InputError("the memory rate must be positive");
  for (const double latency : p.latencies) cost(latency, "a latency");
  check_contention(p.contention);
  model::check_fits(network, schedule);
}

/// State of a rank in its list of sends.
struct Sender {
  std::span<const std::uint32_t> left;  ///< transfers to be posted
  std::uint32_t flying = 0;             ///< posted and not over
  std::uint32_t flying_in_phase = 0;    ///< posted and not over, in `phase`
  std::uint32_t phase = 0;              ///< phase of the last one posted
  double free_at = 0;                   ///< its processor is done with its work so far
};

struct Event {
  enum Kind : std::uint8_t {
    departure,  ///< bytes of the transfer begin to flow
    received,   ///< the receiver's processor is done with it
    token,      ///< the token that it waits for has reached its sender
    release,    ///< the processor there is done with the token
  };
  double time;
  std::uint32_t transfer;
  Kind kind;
  bool operator>(const Event& other) const {
    if (time != other.time) return time > other.time;
    return transfer != other.transfer ? transfer > other.transfer : kind > other.kind;
  }
};

class Simulator {
 public:
  Simulator(const Network& network, const Schedule& schedule, FlowControl flow, const ModelParameters& parameters)
      : network_(network),
        schedule_(schedule),
        flow_(flow),
        p_(parameters),
        share_(network, parameters.contention),
        pending_(schedule.size(), 0),
        sends_(model::sends_of(schedule)),
        senders_(network.ranks()),
        result_(model::unsent(schedule)) {
    for (Rank rank = 0; rank < network.ranks(); ++rank) senders_[rank].left = sends_.of(rank);
  }

  void hold_back(Grouped tokens, Grouped data) {
    for (const auto* successors : {&tokens, &data})
      for (const std::uint32_t transfer : successors->items) ++pending_[transfer];
    tokens_ = std::move(tokens);
    data_ = std::move(data);
  }

  /// Runs the simulation; none if it takes more than so many steps.
  std::optional<Simulation> run(std::uint64_t most_steps) {
    if (barrier()) {
      open_phase(0);
    } else {
      for (Rank rank = 0; rank < network_.ranks(); ++rank) post_next(rank);
    }
    while (true) {
      double time = share_.next(now_);
      if (!events_.empty()) time = std::min(time, events_.top().time);
      if (time == infinity) break;
      if (share_.steps() > most_steps) return {};
      now_ = std::max(now_, time);
      // Transfers that end together, but for rounding, are handled together.
      const double horizon = now_ * (1 + 1e-11) + 1e-15;
      while (happen(horizon) || arrive(horizon)) {
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

  [[nodiscard]] bool in_steps() const { return flow_.kind == FlowControl::Kind::steps; }

  double latency(Rank src, Rank dst) {
    network_.find_route(src, dst, route_);
    if (!p_.latencies.empty()) return latency_of(route_.size());
    double sum = 0;
    for (const Channel channel : route_) sum += network_.latency(channel);
    return sum;
  }

  [[nodiscard]] double latency_of(std::size_t channels) const {
    const std::vector<double>& known = p_.latencies;
    if (channels < known.size()) return known[channels];
    const double step = known.size() < 2 ? 0 : std::max(known.back() - known[known.size() - 2], 0.0);
    return known.back() + step * static_cast<double>(channels - known.size() + 1);
  }

  /// The rank's processor does something from `time` on; returns when it is done.
  double work(Rank rank, double time, double seconds) {
    double& free_at = senders_[rank].free_at;
    return free_at = std::max(time, free_at) + seconds;
  }

  void post(std::uint32_t transfer, double time) {
    const Hop hop = schedule_.hops()[transfer];
    result_.posted[transfer] = std::max(time, senders_[hop.src].free_at);
    events_.push({work(hop.src, time, p_.alpha) + latency(hop.src, hop.dst), transfer, Event::departure});
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
      post(transfer, now_);
      if (in_steps() && is_eager(transfer)) over_for_sender(transfer);
    }
  }

  [[nodiscard]] bool is_eager(std::uint32_t transfer) const { return schedule_.length(transfer) <= p_.eager; }

  void over_for_sender(std::uint32_t transfer) {
    Sender& sender = senders_[schedule_.hops()[transfer].src];
    --sender.flying;
    if (result_.phase[transfer] == sender.phase) --sender.flying_in_phase;
  }

  bool happen(double horizon) {
    if (events_.empty() || events_.top().time > horizon) return false;
    const Event event = events_.top();
    events_.pop();
    switch (event.kind) {
      case Event::departure:
        depart(event.transfer);
        break;
      case Event::received:
        take(event.transfer);
        break;
      case Event::token:
        token_came(event.transfer);
        break;
      case Event::release:
        set_free(event.transfer);
    }
    return true;
  }

  void depart(std::uint32_t transfer) {
    result_.start[transfer] = std::max(now_, result_.posted[transfer]);
    const Hop hop = schedule_.hops()[transfer];
    const double delay = latency(hop.src, hop.dst);
    FlowSpec flow;
    flow.tag = transfer;
    flow.bytes = static_cast<double>(schedule_.length(transfer)) * p_.overhead;
    if (p_.latency_weighted) flow.weight = 1 / std::max(delay, 1e-9);
    if (route_.empty()) flow.limit = p_.memory_rate;
    share_.start(now_, flow, route_);
  }

  bool arrive(double horizon) {
    std::uint32_t transfer = 0;
    if (!share_.take(now_, horizon, transfer)) return false;
    result_.end[transfer] = std::max(now_, result_.start[transfer]);
    if (p_.receive > 0)
      events_.push({work(schedule_.hops()[transfer].dst, now_, p_.receive), transfer, Event::received});
    else
      take(transfer);
    return true;
  }

  /// The receiver has it.
  void take(std::uint32_t transfer) {
    result_.end[transfer] = std::max(now_, result_.end[transfer]);
    ++over_;
    steps_.tick();
    release(transfer);
    for (const std::uint32_t next : data_.of(transfer)) set_free(next);
    if (barrier()) {
      if (--left_in_phase_ == 0) open_phase(open_phase_ + 1);
      return;
    }
    if (!in_steps() || !is_eager(transfer)) over_for_sender(transfer);
    post_next(schedule_.hops()[transfer].src);
  }

  /// The receiver sends a token to every sender that waits for this transfer.
  void release(std::uint32_t transfer) {
    const Rank releaser = schedule_.hops()[transfer].dst;
    for (const std::uint32_t next : tokens_.of(transfer)) {
      const Rank waiting = schedule_.hops()[next].src;
      if (waiting == releaser) {
        set_free(next);
        continue;
      }
      ++result_.tokens;
      const double sent = p_.token_work > 0 ? work(releaser, now_, p_.token_work) : now_;
      events_.push({sent + p_.token + latency(releaser, waiting), next, Event::token});
    }
  }

  void token_came(std::uint32_t transfer) {
    if (p_.token_work == 0)
      set_free(transfer);
    else
      events_.push({work(schedule_.hops()[transfer].src, now_, p_.token_work), transfer, Event::release});
  }

  void set_free(std::uint32_t transfer) {
    if (--pending_[transfer] == 0 && !barrier()) post_next(schedule_.hops()[transfer].src);
  }

  const Network& network_;
  const Schedule& schedule_;
  const FlowControl flow_;
  const ModelParameters p_;
  FairShare share_;
  Grouped tokens_, data_;
  std::vector<std::uint32_t> pending_;  ///< per transfer: tokens and pieces still missing
  const Grouped sends_;
  std::vector<Sender> senders_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
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
  Grouped tokens;
  if (flow.kind == FlowControl::Kind::window)
    tokens = model::released_by(schedule, waits != nullptr ? *waits : derive_waits(network, schedule, flow.window));
  Grouped data;
  if (flow.kind == FlowControl::Kind::steps)
    data = model::sent_after(schedule);
  else if (flow.kind != FlowControl::Kind::barrier)
    data = model::forwarded_after(schedule);
  simulator.hold_back(std::move(tokens), std::move(data));
  return simulator.run(steps);
}

FlowControl parse_flow_control(std::string_view text) {
  if (text == "barrier") return {FlowControl::Kind::barrier, 1};
  if (text == "token") return {FlowControl::Kind::window, 1};
  if (text == "free") return {FlowControl::Kind::free, 1};
  if (text == "steps") return {FlowControl::Kind::steps, 1};
  constexpr std::string_view prefix = "window:";
  if (text.starts_with(prefix)) {
    std::uint32_t window = 0;
    const auto [rest, error] = std::from_chars(text.data() + prefix.size(), text.data() + text.size(), window);
    if (error == std::errc{} && rest == text.data() + text.size() && window >= 1 && window <= 1024)
      return {FlowControl::Kind::window, window};
  }
  throw InputError(
      "'" + std::string(text.substr(0, 60)) +
      "' is not a known flow control; known are barrier, token, window:K (K from 1 to 1024), free and steps");
}

std::string to_string(FlowControl flow) {
  if (flow.kind == FlowControl::Kind::barrier) return "barrier";
  if (flow.kind == FlowControl::Kind::free) return "free";
  if (flow.kind == FlowControl::Kind::steps) return "steps";
  return flow.window == 1 ? "token" : "window:" + std::to_string(flow.window);
}

}  // namespace hocket

namespace hocket::model {

Simulation unsent(const Schedule& schedule) {
  Simulation result;
  for (auto* times : {&result.posted, &result.start, &result.end}) times->assign(schedule.size(), 0);
  for (auto* times : {&result.phase_start, &result.phase_end}) times->assign(schedule.phases(), 0);
  result.phase.reserve(schedule.size());
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase)
    result.phase.insert(result.phase.end(), schedule.phase(phase).size(), static_cast<std::uint32_t>(phase));
  return result;
}

void sum_up(const Schedule& schedule, Simulation& result) {
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const std::uint64_t first = schedule.phase_begin()[phase], end = schedule.phase_begin()[phase + 1];
    if (first == end) continue;
    result.phase_start[phase] = *std::min_element(result.posted.begin() + first, result.posted.begin() + end);
    result.phase_end[phase] = *std::max_element(result.end.begin() + first, result.end.begin() + end);
    result.seconds = std::max(result.seconds, result.phase_end[phase]);
  }
}

}  // namespace hocket::model
