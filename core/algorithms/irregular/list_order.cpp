#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <utility>

#include "core/algorithms/irregular/workload.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

namespace {

/// Priority queues of numbers. Scheduling a list of messages is little else.

/// A number and its key. Keys are not negative, so that their bits compare as they do: that takes no branch.
struct Keyed {
  std::uint64_t key;
  std::uint32_t number;

  Keyed(double value, std::uint32_t of) : key(std::bit_cast<std::uint64_t>(value)), number(of) {}
  [[nodiscard]] double value() const { return std::bit_cast<double>(key); }
  /// Ascending keys; entries with equal keys by ascending number.
  bool operator<(const Keyed& other) const {
    const int equal = key == other.key, smaller = key < other.key, before = number < other.number;
    return (smaller | (equal & before)) != 0;
  }
};

/// The greatest key first; of equal keys the greatest number.
class KeyedHeap {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const Keyed& top() const { return entries_.front(); }

  void push(Keyed entry) {
    entries_.push_back(entry);
    raise(entries_.size() - 1, entry);
  }

  std::uint32_t pop() {
    const std::uint32_t number = entries_.front().number;
    const Keyed last = entries_.back();
    entries_.pop_back();
    const std::size_t size = entries_.size();
    if (size == 0) return number;
    std::size_t hole = 0, child = 2;
    for (; child < size; child = 2 * hole + 2) {
      child -= static_cast<std::size_t>(entries_[child] < entries_[child - 1]);
      entries_[hole] = entries_[child];
      hole = child;
    }
    if (child == size) {
      entries_[hole] = entries_[size - 1];
      hole = size - 1;
    }
    raise(hole, last);
    return number;
  }

  /// Empties it; the entries in ascending order go to `sorted`.
  void move_to(std::vector<Keyed>& sorted) {
    std::sort(entries_.begin(), entries_.end());
    sorted.swap(entries_);
    entries_.clear();
  }

 private:
  void raise(std::size_t hole, Keyed entry) {
    while (hole > 0 && entries_[(hole - 1) / 2] < entry) {
      entries_[hole] = entries_[(hole - 1) / 2];
      hole = (hole - 1) / 2;
    }
    entries_[hole] = entry;
  }

  std::vector<Keyed> entries_;
};

/// A queue in the order of KeyedHeap, for long queues whose latest entries mostly leave first: these lie in a small
/// heap, the others sorted.
class KeyedQueue {
 public:
  [[nodiscard]] bool empty() const { return latest_.empty() && sorted_.empty(); }
  [[nodiscard]] const Keyed& top() const { return latest_first() ? latest_.top() : sorted_.back(); }

  void push(Keyed entry) {
    latest_.push(entry);
    if (latest_.size() > std::max(most_latest, sorted_.size() / most_latest)) merge();
  }

  std::uint32_t pop() {
    if (latest_first()) return latest_.pop();
    const std::uint32_t number = sorted_.back().number;
    sorted_.pop_back();
    return number;
  }

 private:
  static constexpr std::size_t most_latest = 512;

  [[nodiscard]] bool latest_first() const {
    return sorted_.empty() || (!latest_.empty() && sorted_.back() < latest_.top());
  }

  /// Merges from the back, as far as there are new entries.
  void merge() {
    latest_.move_to(moved_);
    std::size_t from = sorted_.size(), added = moved_.size();
    sorted_.insert(sorted_.end(), moved_.begin(), moved_.end());
    for (std::size_t to = sorted_.size(); added > 0;) {
      const bool old = from > 0 && moved_[added - 1] < sorted_[from - 1];
      sorted_[--to] = old ? sorted_[--from] : moved_[--added];
    }
  }

  KeyedHeap latest_;
  std::vector<Keyed> sorted_, moved_;  ///< ascending
};

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
