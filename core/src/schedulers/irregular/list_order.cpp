#include "hocket/schedulers/irregular/list_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "hocket/progress.hpp"
#include "keyed_queue.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t no_resource = ~std::uint32_t{0};

/// Every waiting message queues at one resource that it found busy; only when that has room is it looked
/// at again. It then starts, or queues at another.
class ListRun {
 public:
  ListRun(const Workload& work, Urgency urgency, std::span<const double> factor)
      : work_(work),
        urgency_(urgency),
        factor_(factor),
        per_bound_(1 / std::max(work.bound(), 1e-300)),
        left_(work.load()),
        state_(work.resources()),
        next_(work.resources(), 0),
        queue_(work.resources()) {
    for (std::uint32_t r = 0; r < work.resources(); ++r) first_.push_back(first_.back() + work.capacity(r));
    ends_.assign(first_.back(), 0);
    starts_.order.reserve(work.size());
    starts_.end.assign(work.size(), 0);
  }

  Starts run() {
    KeyedHeap all;
    for (std::uint32_t m = 0; m < work_.size(); ++m) all.push({urgency(m), m});
    while (!all.empty()) start_or_queue(all.pop());
    while (!running_.empty()) {
      advance();
      while (!with_room_.empty()) {
        const std::uint32_t resource = with_room_.pop();
        if (queue_[resource].empty() || !has_room(resource)) continue;
        start_or_queue(queue_[resource].pop());
        offer(resource);
      }
    }
    return std::move(starts_);
  }

 private:
  /// When the resource takes the next message.
  [[nodiscard]] double free_at(std::uint32_t resource) const { return state_[resource].free_at; }
  [[nodiscard]] bool has_room(std::uint32_t resource) const { return free_at(resource) <= now_; }

  void offer(std::uint32_t resource) {
    if (!queue_[resource].empty() && has_room(resource)) with_room_.push({queue_[resource].top().value(), resource});
  }

  /// To the next end of a message; those that end together, but for rounding, are handled together.
  void advance() {
    ++round_;
    now_ = running_.top().first * (1 + 1e-12);
    while (!running_.empty() && running_.top().first <= now_) {
      const std::uint32_t message = running_.top().second;
      running_.pop();
      for (const std::uint32_t resource : work_.needs(message)) offer(resource);
    }
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
    for (const std::uint32_t resource : work_.needs(message)) {
      const double eighth = power(resource);
      largest = std::max(largest, eighth);
      sum += eighth;
    }
    return (urgency_ == Urgency::sum ? sum : largest) * factor_[message];
  }

  void start_or_queue(std::uint32_t message) {
    std::uint32_t busy = no_resource;
    double latest = now_;
    for (const std::uint32_t resource : work_.needs(message))
      if (const double time = free_at(resource); time > latest) busy = resource, latest = time;
    if (busy != no_resource)
      queue_[busy].push({urgency(message), message});
    else
      start(message);
  }

  void start(std::uint32_t message) {
    const double end = now_ + work_.seconds(message);
    for (const std::uint32_t resource : work_.needs(message)) {
      ends_[first_[resource] + next_[resource]] = end;
      if (++next_[resource] == work_.capacity(resource)) next_[resource] = 0;
      left_[resource] -= work_.seconds(message) / work_.capacity(resource);
      state_[resource] = {ends_[first_[resource] + next_[resource]], 0, 0};
    }
    running_.emplace(end, message);
    starts_.order.push_back(message);
    starts_.end[message] = end;
    starts_.seconds = std::max(starts_.seconds, end);
    steps_.tick();
  }

  /// What is asked of a resource time and again.
  struct State {
    double free_at = 0;
    double power = 0;         ///< what it adds to urgencies
    std::uint64_t round = 0;  ///< that of the power; 0: there is none
  };
  using End = std::pair<double, std::uint32_t>;  ///< of a message

  const Workload& work_;
  const Urgency urgency_;
  const std::span<const double> factor_;
  const double per_bound_;
  std::vector<double> left_;  ///< per resource: seconds of messages that have not started, over its capacity
  std::vector<State> state_;  ///< per resource
  std::vector<std::uint64_t> first_{0};
  std::vector<double> ends_;         ///< per resource: of the latest messages, as many as its capacity
  std::vector<std::uint32_t> next_;  ///< per resource: the oldest of these
  std::vector<KeyedQueue> queue_;    ///< per resource: messages by urgency
  KeyedHeap with_room_;              ///< resources by the urgency of what queues first
  std::priority_queue<End, std::vector<End>, std::greater<>> running_;
  std::uint64_t round_ = 1;  ///< of advances
  double now_ = 0;
  Steps steps_{"listing messages", work_.size()};
  Starts starts_;
};

}  // namespace

Starts list_starts(const Workload& work, Urgency urgency, std::span<const double> factor) {
  return ListRun(work, urgency, factor).run();
}

}  // namespace hocket::algorithms
