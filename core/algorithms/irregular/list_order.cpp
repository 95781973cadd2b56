#include "core/algorithms/irregular/list_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "core/algorithms/irregular/keyed_queue.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t no_kind = ~std::uint32_t{0};

/// Every waiting message queues at one resource that it found busy; only when that has room is it looked
/// at again. It then starts, or queues at another.
class ListRun {
 public:
  ListRun(const Claims& work, Urgency urgency, std::span<const double> factor)
      : work_(work),
        urgency_(urgency),
        factor_(factor),
        per_bound_(1 / std::max(work.bound(), 1e-300)),
        left_(work.load()),
        state_(work.resources()),
        queue_(work.kinds()),
        looks_(work.kinds()) {
    for (std::uint32_t r = 0; r < work.resources(); ++r) state_[r].room = work.whole(r);
    starts_.order.reserve(work.size());
    starts_.end.assign(work.size(), 0);
  }

  Starts run() {
    KeyedHeap all;
    for (std::uint32_t m = 0; m < work_.size(); ++m) all.push({urgency(m), m});
    while (!all.empty()) start_or_queue(all.pop());
    while (!running_.empty() || !postponed_.empty()) {
      advance();
      while (!with_room_.empty()) {
        const std::uint32_t kind = with_room_.pop();
        if (queue_[kind].empty() || !has_room(kind)) continue;
        if (looks_[kind].round != round_) looks_[kind] = {round_, 0};
        if (++looks_[kind].count > work_.most_looks()) {
          postponed_.push_back(kind);
          continue;
        }
        start_or_queue(queue_[kind].pop());
        offer(kind);
      }
    }
    return std::move(starts_);
  }

 private:
  /// Time from which the resource has room for a claim of that kind.
  double free_at(std::uint32_t kind) {
    State& state = state_[work_.resource(kind)];
    std::size_t over = 0;
    while (over < state.running.size() && state.running[over].end <= now_) state.room += state.running[over++].amount;
    state.running.erase(state.running.begin(), state.running.begin() + static_cast<std::ptrdiff_t>(over));
    std::uint32_t room = state.room;
    double time = now_;
    for (std::size_t i = 0; room < work_.amount(kind); ++i) {
      room += state.running[i].amount;
      time = state.running[i].end;
    }
    return time;
  }
  bool has_room(std::uint32_t kind) { return free_at(kind) <= now_; }

  void offer(std::uint32_t kind) {
    if (!queue_[kind].empty() && has_room(kind)) with_room_.push({queue_[kind].top().value(), kind});
  }

  /// Moves the clock to the next end of a message; those that end together, but for rounding, are handled together.
  void advance() {
    ++round_;
    if (!running_.empty()) now_ = running_.top().first * (1 + 1e-12);
    while (!running_.empty() && running_.top().first <= now_) {
      const std::uint32_t message = running_.top().second;
      running_.pop();
      for (const std::uint32_t claim : work_.of(message))
        for (const std::uint32_t kind : work_.kinds_of(work_.resource(claim))) offer(kind);
    }
    for (const std::uint32_t kind : postponed_) offer(kind);
    postponed_.clear();
  }

  /// Work left plus time gone: that of a resource that is never idle stays the same, so that the order of a
  /// queue remains nearly right. To the eighth power, against the bound.
  double power(std::uint32_t resource) {
    State& state = state_[resource];
    if (state.round != round_) {
      const double share = (left_[resource] + now_) * per_bound_;
      const double square = share * share, fourth = square * square;
      state.power = fourth * fourth;
      state.round = round_;
    }
    return state.power;
  }

  double urgency(std::uint32_t message) {
    double largest = 0, sum = 0;
    for (const std::uint32_t kind : work_.of(message)) {
      const double eighth = power(work_.resource(kind));
      largest = std::max(largest, eighth);
      sum += eighth;
    }
    return (urgency_ == Urgency::sum ? sum : largest) * factor_[message];
  }

  void start_or_queue(std::uint32_t message) {
    std::uint32_t busy = no_kind;
    double latest = now_;
    for (const std::uint32_t kind : work_.of(message))
      if (const double time = free_at(kind); time > latest) busy = kind, latest = time;
    if (busy != no_kind)
      queue_[busy].push({urgency(message), message});
    else
      start(message);
  }

  void start(std::uint32_t message) {
    const double end = now_ + work_.seconds(message);
    for (const std::uint32_t kind : work_.of(message)) {
      const std::uint32_t resource = work_.resource(kind), amount = work_.amount(kind);
      left_[resource] -= work_.seconds(message) * amount / work_.whole(resource);
      State& state = state_[resource];
      state.room -= amount;
      state.round = 0;
      const auto later = std::ranges::upper_bound(state.running, end, {}, &Running::end);
      state.running.insert(later, {end, amount});
    }
    running_.emplace(end, message);
    starts_.order.push_back(message);
    starts_.end[message] = end;
    starts_.seconds = std::max(starts_.seconds, end);
    steps_.tick();
  }

  struct Running {
    double end;
    std::uint32_t amount;
  };
  /// State of a resource that is read often.
  struct State {
    std::uint32_t room = 0;        ///< the part that no running message claims
    std::vector<Running> running;  ///< the claims on the rest, by their end
    double power = 0;              ///< its addition to urgencies
    std::uint64_t round = 0;       ///< round in which `power` was computed; 0: never
  };
  using End = std::pair<double, std::uint32_t>;  ///< end and number of a message

  const Claims& work_;
  const Urgency urgency_;
  const std::span<const double> factor_;
  const double per_bound_;
  std::vector<double> left_;       ///< per resource: seconds of messages that have not started, over its capacity
  std::vector<State> state_;       ///< per resource
  std::vector<KeyedQueue> queue_;  ///< per kind of claim: messages by urgency
  struct Looks {
    std::uint64_t round = 0;
    std::uint32_t count = 0;
  };
  std::vector<Looks> looks_;              ///< per kind: messages looked at in a round
  std::vector<std::uint32_t> postponed_;  ///< kinds with room whose messages were not all looked at
  KeyedHeap with_room_;                   ///< kinds by the urgency of what queues first
  std::priority_queue<End, std::vector<End>, std::greater<>> running_;
  std::uint64_t round_ = 1;  ///< advances of the clock so far, and one
  double now_ = 0;
  Steps steps_{"listing messages", work_.size()};
  Starts starts_;
};

}  // namespace

Starts list_starts(const Claims& work, Urgency urgency, std::span<const double> factor) {
  return ListRun(work, urgency, factor).run();
}

}  // namespace hocket::algorithms
