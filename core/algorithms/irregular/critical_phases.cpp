/// Preemptive open shop (Gonzalez and Sahni 1976) serves in every phase all machines and jobs whose work
/// left is largest. With channels a message needs several machines at once, and there need not be such a
/// phase; so resources are weighted by the work they have left, steeply, and a phase is a set of messages
/// without conflicts whose resources weigh much, found by local search.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/algorithms/irregular/workload.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {
namespace {

constexpr int lengths = 8;             ///< a phase is as long as one of so many quantiles of the messages left
constexpr int most_passes = 4;         ///< passes of the local search
constexpr std::uint32_t choice = 256;  ///< messages considered in a phase per resource and unit of its capacity

/// Some messages, counted anew, and what they need: in memory in this order.
struct Messages {
  std::vector<std::uint32_t> numbers;
  Grouped needs;

  [[nodiscard]] std::uint32_t size() const { return needs.size(); }
  void clear() {
    numbers.clear();
    needs.clear();
  }
  void add(std::uint32_t number, std::span<const std::uint32_t> its_needs) {
    numbers.push_back(number);
    needs.add_list(its_needs);
  }
};

/// A set of candidates that do not overfill any resource.
class Selection {
 public:
  explicit Selection(const Workload& work) {
    std::uint64_t first = 0;
    for (std::uint32_t r = 0; r < work.resources(); first += work.capacity(r++))
      places_.push_back({.capacity = work.capacity(r), .first = first});
    users_.resize(first);
  }

  [[nodiscard]] bool has(std::uint32_t candidate) const { return chosen_[candidate]; }

  /// Chooses among `candidates`, given the score of a message; returns the sum of the scores. A candidate takes
  /// the place of those in its way if they score less together, until that helps no more.
  double choose(const Messages& candidates, const auto& score_of) {
    for (Places& places : places_) places.used = 0;
    chosen_.assign(candidates.size(), false);
    score_.clear();
    order_.clear();
    for (std::uint32_t i = 0; i < candidates.size(); ++i) {
      score_.push_back(score_of(candidates.numbers[i]));
      order_.push_back({score_.back(), candidates.numbers[i], i});
    }
    sort();
    double sum = 0;
    bool changed = true;
    for (int pass = 0; changed && pass < most_passes; ++pass) {
      changed = false;
      for (const auto& [score, message, candidate] : order_) {
        if (chosen_[candidate]) continue;
        const double lost = find_in_the_way(score, candidates.needs.of(candidate));
        if (lost >= score * (1 - 1e-9)) continue;
        changed = changed || !in_the_way_.empty();
        for (const std::uint32_t other : in_the_way_) drop(other, candidates.needs.of(other));
        take(candidate, candidates.needs.of(candidate));
        sum += score - lost;
      }
    }
    return sum;
  }

  /// Makes use of these resources if there is room.
  bool fill(std::span<const std::uint32_t> needs) {
    if (std::any_of(needs.begin(), needs.end(), [&](auto r) { return places_[r].full(); })) return false;
    for (const std::uint32_t r : needs) ++places_[r].used;
    return true;
  }

 private:
  struct Places {
    std::uint32_t capacity, used = 0;
    std::uint64_t first;  ///< index of the first of its slots
    [[nodiscard]] bool full() const { return used == capacity; }
  };
  struct Scored {
    double score;
    std::uint32_t message, candidate;
    bool operator<(const Scored& other) const {
      return score != other.score ? score > other.score : message < other.message;
    }
    /// The score's bits: as scores are not negative, these compare as scores do.
    [[nodiscard]] std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(score); }
  };

  /// Sorts from the highest score down: into buckets, then within each.
  void sort() {
    constexpr int width = 12;
    std::uint64_t most = 0, least = ~std::uint64_t{0};
    for (const Scored& entry : order_) most = std::max(most, entry.bits()), least = std::min(least, entry.bits());
    const int rest = std::max(0, static_cast<int>(std::bit_width(most - least)) - width);
    const auto bucket = [&](const Scored& entry) { return (most - entry.bits()) >> rest; };
    end_.assign((1u << width) + 1, 0);
    for (const Scored& entry : order_) ++end_[bucket(entry) + 1];
    std::partial_sum(end_.begin(), end_.end(), end_.begin());
    sorted_.resize(order_.size());
    for (const Scored& entry : order_) sorted_[end_[bucket(entry)]++] = entry;
    auto begin = sorted_.begin();
    for (const std::uint32_t end : end_) {
      std::sort(begin, sorted_.begin() + end);
      begin = sorted_.begin() + end;
    }
    order_.swap(sorted_);
  }

  /// Finds the user with the lowest score of each full resource among `needs`; stops once their scores add up to
  /// `score`. Returns the sum.
  double find_in_the_way(double score, std::span<const std::uint32_t> needs) {
    in_the_way_.clear();
    double sum = 0;
    for (const std::uint32_t r : needs) {
      if (!places_[r].full()) continue;
      const auto users = users_of(r);
      const std::uint32_t other =
          *std::min_element(users.begin(), users.end(), [&](auto a, auto b) { return score_[a] < score_[b]; });
      if (std::find(in_the_way_.begin(), in_the_way_.end(), other) != in_the_way_.end()) continue;
      in_the_way_.push_back(other);
      sum += score_[other];
      if (sum >= score) break;
    }
    return sum;
  }

  void take(std::uint32_t candidate, std::span<const std::uint32_t> needs) {
    chosen_[candidate] = true;
    for (const std::uint32_t r : needs) users_[places_[r].first + places_[r].used++] = candidate;
  }

  void drop(std::uint32_t candidate, std::span<const std::uint32_t> needs) {
    chosen_[candidate] = false;
    for (const std::uint32_t r : needs) {
      const auto users = users_of(r);
      *std::find(users.begin(), users.end(), candidate) = users.back();
      --places_[r].used;
    }
  }

  [[nodiscard]] std::span<std::uint32_t> users_of(std::uint32_t r) {
    return {users_.data() + places_[r].first, places_[r].used};
  }

  std::vector<Places> places_;        ///< per resource
  std::vector<std::uint32_t> users_;  ///< per resource: as many slots as its capacity
  std::vector<std::uint8_t> chosen_;  ///< per candidate
  std::vector<double> score_;         ///< per candidate
  std::vector<Scored> order_, sorted_;
  std::vector<std::uint32_t> end_;  ///< per bucket
  std::vector<std::uint32_t> in_the_way_;
};

class Cutter {
 public:
  Cutter(const Workload& work, double alpha)
      : work_(work),
        alpha_(alpha),
        load_(work.load()),
        selection_(work),
        tried_(work),
        weight_(work.size(), 0),
        offered_(work.resources(), 0),
        room_(work.resources(), false) {
    for (std::uint32_t m = 0; m < work.size(); ++m) {
      bytes_left_.push_back(work.message(m).bytes);
      left_.push_back(work.seconds(m));
      if (work.seconds(m) > 0)
        open_.add(m, work.needs(m));
      else
        local_.push_back(m);
    }
    waiting_ = open_.size();
  }

  CutPhases run() {
    while (waiting_ > 0 || !local_.empty()) {
      weigh();
      select();
      cut(best_length());
      steps_.reach(work_.size() - waiting_ - local_.size());
    }
    return std::move(result_);
  }

 private:
  /// A message weighs as much as its resources, each by the eighth power of its load. Sorting all by weight is
  /// put off until the largest load has changed a little.
  void weigh() {
    const double most = *std::max_element(load_.begin(), load_.end());
    resource_weight_.resize(load_.size());
    for (std::size_t r = 0; r < load_.size(); ++r) {
      const double share = load_[r] / most, square = share * share, fourth = square * square;
      resource_weight_[r] = fourth * fourth;
    }
    if (most < sorted_at_) {
      sorted_at_ = most * (1 - 1.0 / 64);
      sort();
    }
    std::fill(offered_.begin(), offered_.end(), 0);
    std::fill(room_.begin(), room_.end(), true);
    candidates_.clear();
    for (std::uint32_t i = 0; i < open_.size(); ++i) {
      if ((room_[scarce_[i][0]] & room_[scarce_[i][1]]) == 0) continue;
      const auto needs = open_.needs.of(i);
      const std::uint32_t m = open_.numbers[i];
      if (std::any_of(needs.begin(), needs.end(), [&](auto r) { return !room_[r]; }) || bytes_left_[m] == 0) continue;
      for (const std::uint32_t r : needs) room_[r] = ++offered_[r] < choice * work_.capacity(r);
      weight_[m] = weight(needs);
      candidates_.add(m, needs);
    }
  }

  /// The messages that are not through, by weight.
  void sort() {
    std::vector<std::uint32_t> order(open_.numbers.begin(), open_.numbers.end());
    std::erase_if(order, [&](auto m) { return bytes_left_[m] == 0; });
    for (const std::uint32_t m : order) weight_[m] = weight(work_.needs(m));
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return weight_[a] != weight_[b] ? weight_[a] > weight_[b] : a < b; });
    open_.clear();
    scarce_.clear();
    for (const std::uint32_t m : order) {
      std::array<std::uint32_t, 2> most{work_.needs(m).front(), work_.needs(m).front()};
      for (const std::uint32_t r : work_.needs(m))
        if (load_[r] > load_[most[0]])
          most = {r, most[0]};
        else if (most[1] == most[0] || load_[r] > load_[most[1]])
          most[1] = r;
      open_.add(m, work_.needs(m));
      scarce_.push_back(most);
    }
  }

  [[nodiscard]] double weight(std::span<const std::uint32_t> needs) const {
    double sum = 0;
    for (const std::uint32_t r : needs) sum += resource_weight_[r];
    return sum;
  }

  /// Lengths of the phase to choose from: quantiles of what is left of the candidates, around that of the
  /// phase before.
  void select() {
    std::vector<double> lefts;
    for (const std::uint32_t m : candidates_.numbers) lefts.push_back(left_[m]);
    const auto length = [&](int quantile) {
      const auto at = lefts.begin() + static_cast<std::ptrdiff_t>(lefts.size() - 1) * quantile / lengths;
      std::nth_element(lefts.begin(), at, lefts.end());
      return *at;
    };
    double most = -1, last = 0;
    int best = quantile_;
    const int from = std::max(1, quantile_ - 1), to = quantile_ == 0 ? lengths : std::min(lengths, quantile_ + 1);
    for (int q = from; !lefts.empty() && q <= to; ++q) {
      const double seconds = length(q);
      if (seconds <= last * (1 + 1e-4)) continue;
      last = seconds;
      const auto score = [&](std::uint32_t m) { return std::min(left_[m], seconds) * weight_[m]; };
      const double value = tried_.choose(candidates_, score) / (seconds + alpha_);
      if (value <= most) continue;
      most = value, best = q;
      std::swap(selection_, tried_);
    }
    quantile_ = best;
    if (lefts.empty()) selection_.choose(candidates_, [](auto) { return 0.0; });
    chosen_.clear();
    for (std::uint32_t i = 0; i < candidates_.size(); ++i)
      if (selection_.has(i)) chosen_.push_back(candidates_.numbers[i]);
    // Local messages take ports that would be idle.
    std::erase_if(local_, [&](auto m) {
      const bool added = selection_.fill(work_.needs(m));
      if (added) result_.phases.items.push_back({m, bytes_left_[m]});
      return added;
    });
  }

  /// Length of a phase until one of the chosen messages ends: the one with the most work done per second, per-message
  /// cost counted.
  double best_length() {
    std::sort(chosen_.begin(), chosen_.end(),
              [&](auto a, auto b) { return left_[a] != left_[b] ? left_[a] < left_[b] : a < b; });
    double weights = 0, done = 0, best = 0, most = -1;
    for (const std::uint32_t m : chosen_) weights += weight_[m];
    for (const std::uint32_t m : chosen_) {
      const double value = (done + left_[m] * weights) / (left_[m] + alpha_);
      if (value > most) most = value, best = left_[m];
      weights -= weight_[m];
      done += left_[m] * weight_[m];
    }
    return best;
  }

  void cut(double length) {
    for (const std::uint32_t m : chosen_) {
      const double seconds = std::min(left_[m], length), share = seconds / left_[m];
      auto bytes = static_cast<std::uint64_t>(static_cast<double>(bytes_left_[m]) * share + 0.5);
      bytes = share < 1 ? std::clamp<std::uint64_t>(bytes, 1, bytes_left_[m]) : bytes_left_[m];
      result_.phases.items.push_back({m, bytes});
      bytes_left_[m] -= bytes;
      left_[m] = bytes_left_[m] == 0 ? 0 : left_[m] - seconds;
      waiting_ -= bytes_left_[m] == 0;
      for (const std::uint32_t r : work_.needs(m)) load_[r] -= seconds / work_.capacity(r);
    }
    result_.phases.end_list();
    result_.seconds += length;
  }

  const Workload& work_;
  const double alpha_;
  std::vector<double> load_;  ///< per resource, of what is left
  Selection selection_, tried_;
  std::vector<double> weight_, left_;      ///< per message; seconds
  std::vector<std::uint64_t> bytes_left_;  ///< per message
  Messages open_, candidates_;
  std::vector<std::array<std::uint32_t, 2>> scarce_;  ///< per open message: its two most loaded resources
  std::vector<std::uint32_t> local_, chosen_;
  std::size_t waiting_ = 0;                                     ///< messages of `open_` that are not through
  std::vector<std::uint32_t> offered_;                          ///< per resource: candidates that need it
  std::vector<std::uint8_t> room_;                              ///< per resource: whether it takes more candidates
  double sorted_at_ = std::numeric_limits<double>::infinity();  ///< largest load below which to sort again
  std::vector<double> resource_weight_;
  int quantile_ = 0;
  Steps steps_{"cutting messages", work_.size()};
  CutPhases result_;
};

}  // namespace

CutPhases critical_phases(const Workload& work, double alpha) { return Cutter(work, alpha).run(); }

}  // namespace hocket::algorithms
