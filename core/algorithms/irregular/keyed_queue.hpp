#pragma once
/// Priority queues of numbers. Scheduling a list of messages is little else.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace hocket::algorithms {

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

}  // namespace hocket::algorithms
