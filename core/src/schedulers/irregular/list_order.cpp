#include "hocket/schedulers/irregular/list_order.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

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
        next_(work.resources(), 0),
        queue_(work.resources()) {
    for (std::uint32_t r = 0; r < work.resources(); ++r) first_.push_back(first_.back() + work.capacity(r));
    free_at_.assign(first_.back(), 0);
    starts_.order.reserve(work.size());
    starts_.end.assign(work.size(), 0);
  }

  Starts run() {
    std::vector<Entry> all;
    for (std::uint32_t m = 0; m < work_.size(); ++m) all.emplace_back(urgency(m), m);
    std::sort(all.begin(), all.end(), std::greater<>());
    for (const auto& [how, message] : all) start_or_queue(message);
    while (!running_.empty()) {
      advance();
      while (!with_room_.empty()) {
        const std::uint32_t resource = pop(with_room_);
        if (queue_[resource].empty() || !has_room(resource)) continue;
        start_or_queue(pop(queue_[resource]));
        offer(resource);
      }
    }
    return std::move(starts_);
  }

 private:
  using Entry = std::pair<double, std::uint32_t>;  ///< heaps: urgency, then number

  template <class Order = std::less<>>
  static void push(std::vector<Entry>& heap, Entry entry) {
    heap.push_back(entry);
    std::push_heap(heap.begin(), heap.end(), Order());
  }
  template <class Order = std::less<>>
  static std::uint32_t pop(std::vector<Entry>& heap) {
    std::pop_heap(heap.begin(), heap.end(), Order());
    const std::uint32_t top = heap.back().second;
    heap.pop_back();
    return top;
  }

  /// When the resource takes the next message.
  [[nodiscard]] double free_at(std::uint32_t resource) const { return free_at_[first_[resource] + next_[resource]]; }
  [[nodiscard]] bool has_room(std::uint32_t resource) const { return free_at(resource) <= now_; }

  void offer(std::uint32_t resource) {
    if (!queue_[resource].empty() && has_room(resource)) push(with_room_, {queue_[resource].front().first, resource});
  }

  /// To the next end of a message; those that end together, but for rounding, are handled together.
  void advance() {
    now_ = running_.front().first * (1 + 1e-12);
    while (!running_.empty() && running_.front().first <= now_)
      for (const std::uint32_t resource : work_.needs(pop<std::greater<>>(running_))) offer(resource);
  }

  /// Work left plus time gone: that of a resource that is never idle stays the same, so that the order of a
  /// queue remains nearly right. To the eighth power, against the bound.
  [[nodiscard]] double urgency(std::uint32_t message) const {
    double largest = 0, sum = 0;
    for (const std::uint32_t resource : work_.needs(message)) {
      const double share = (left_[resource] + now_) * per_bound_;
      const double square = share * share, fourth = square * square, eighth = fourth * fourth;
      largest = std::max(largest, eighth);
      sum += eighth;
    }
    return (urgency_ == Urgency::sum ? sum : largest) * factor_[message];
  }

  void start_or_queue(std::uint32_t message) {
    std::uint32_t busy = none;
    double latest = now_;
    for (const std::uint32_t resource : work_.needs(message))
      if (const double time = free_at(resource); time > latest) busy = resource, latest = time;
    if (busy != none)
      push(queue_[busy], {urgency(message), message});
    else
      start(message);
  }

  void start(std::uint32_t message) {
    const double end = now_ + work_.seconds(message);
    for (const std::uint32_t resource : work_.needs(message)) {
      free_at_[first_[resource] + next_[resource]] = end;
      if (++next_[resource] == work_.capacity(resource)) next_[resource] = 0;
      left_[resource] -= work_.seconds(message) / work_.capacity(resource);
    }
    push<std::greater<>>(running_, {end, message});
    starts_.order.push_back(message);
    starts_.end[message] = end;
    starts_.seconds = std::max(starts_.seconds, end);
  }

  const Workload& work_;
  const Urgency urgency_;
  const std::span<const double> factor_;
  const double per_bound_;
  std::vector<double> left_;  ///< per resource: seconds of messages that have not started, over its capacity
  std::vector<std::uint64_t> first_{0};
  std::vector<double> free_at_;      ///< per resource: ends of the latest messages, as many as its capacity
  std::vector<std::uint32_t> next_;  ///< per resource: the oldest of these
  std::vector<std::vector<Entry>> queue_;
  std::vector<Entry> running_, with_room_;
  double now_ = 0;
  Starts starts_;
};

}  // namespace

Starts list_starts(const Workload& work, Urgency urgency, std::span<const double> factor) {
  return ListRun(work, urgency, factor).run();
}

}  // namespace hocket::algorithms
