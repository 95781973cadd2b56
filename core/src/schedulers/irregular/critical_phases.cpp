/// Preemptive open shop (Gonzalez and Sahni 1976) serves in every phase all machines and jobs whose work
/// left is largest. With channels a message needs several machines at once, and there need not be such a
/// phase; so resources are weighted by the work they have left, steeply, and a phase is a set of messages
/// without conflicts whose resources weigh much, found by local search.
#include "hocket/schedulers/irregular/critical_phases.hpp"

#include <algorithm>
#include <limits>

#include "hocket/progress.hpp"

namespace hocket::algorithms {
namespace {

constexpr int lengths = 8;             ///< a phase is as long as one of so many quantiles of the messages left
constexpr int most_passes = 4;         ///< of the local search
constexpr std::uint32_t choice = 256;  ///< messages considered in a phase per resource and unit of its capacity

/// A set of messages that do not overfill any resource.
class Selection {
 public:
  explicit Selection(const Workload& work)
      : work_(work), used_(work.resources(), 0), chosen_(work.size(), false), score_(work.size(), 0) {
    for (std::uint32_t r = 0; r < work.resources(); ++r) first_.push_back(first_.back() + work.capacity(r));
    users_.resize(first_.back());
  }

  void set_score(std::uint32_t message, double score) { score_[message] = score; }
  [[nodiscard]] bool has(std::uint32_t message) const { return chosen_[message]; }

  /// Chooses among `open`; returns the sum of the scores. A message takes the place of those in its way
  /// if they score less together, until that helps no more.
  double choose(std::span<const std::uint32_t> open) {
    order_.assign(open.begin(), open.end());
    std::sort(order_.begin(), order_.end(),
              [&](auto a, auto b) { return score_[a] != score_[b] ? score_[a] > score_[b] : a < b; });
    std::fill(used_.begin(), used_.end(), 0);
    for (const std::uint32_t message : order_) chosen_[message] = false;
    double sum = 0;
    bool changed = true;
    for (int pass = 0; changed && pass < most_passes; ++pass) {
      changed = false;
      for (const std::uint32_t message : order_) {
        if (chosen_[message]) continue;
        const double lost = find_in_the_way(message);
        if (lost >= score_[message] * (1 - 1e-9)) continue;
        changed = changed || !in_the_way_.empty();
        for (const std::uint32_t other : in_the_way_) drop(other);
        take(message);
        sum += score_[message] - lost;
      }
    }
    return sum;
  }

  /// Adds a message if there is room.
  bool add(std::uint32_t message) {
    for (const std::uint32_t r : work_.needs(message))
      if (used_[r] == work_.capacity(r)) return false;
    take(message);
    return true;
  }

 private:
  /// Of every full resource that the message needs the user with the lowest score; stops once these score
  /// as much as the message.
  double find_in_the_way(std::uint32_t message) {
    in_the_way_.clear();
    double sum = 0;
    for (const std::uint32_t r : work_.needs(message)) {
      if (used_[r] < work_.capacity(r)) continue;
      const auto users = users_.begin() + static_cast<std::ptrdiff_t>(first_[r]);
      const std::uint32_t other =
          *std::min_element(users, users + used_[r], [&](auto a, auto b) { return score_[a] < score_[b]; });
      if (std::find(in_the_way_.begin(), in_the_way_.end(), other) != in_the_way_.end()) continue;
      in_the_way_.push_back(other);
      sum += score_[other];
      if (sum >= score_[message]) break;
    }
    return sum;
  }

  void take(std::uint32_t message) {
    chosen_[message] = true;
    for (const std::uint32_t r : work_.needs(message)) users_[first_[r] + used_[r]++] = message;
  }

  void drop(std::uint32_t message) {
    chosen_[message] = false;
    for (const std::uint32_t r : work_.needs(message)) {
      std::uint32_t* users = users_.data() + first_[r];
      *std::find(users, users + used_[r], message) = users[used_[r] - 1];
      --used_[r];
    }
  }

  const Workload& work_;
  std::vector<std::uint64_t> first_{0};
  std::vector<std::uint32_t> users_;  ///< per resource: as many slots as its capacity
  std::vector<std::uint32_t> used_;
  std::vector<bool> chosen_;
  std::vector<double> score_;
  std::vector<std::uint32_t> order_, in_the_way_;
};

class Cutter {
 public:
  Cutter(const Workload& work, double startup)
      : work_(work),
        startup_(startup),
        load_(work.load()),
        selection_(work),
        weight_(work.size(), 0),
        offered_(work.resources(), 0) {
    for (std::uint32_t m = 0; m < work.size(); ++m) {
      bytes_left_.push_back(work.message(m).bytes);
      left_.push_back(work.seconds(m));
      (work.seconds(m) > 0 ? open_ : local_).push_back(m);
    }
  }

  CutPhases run() {
    while (!open_.empty() || !local_.empty()) {
      weigh();
      select();
      cut(best_length());
      steps_.reach(work_.size() - open_.size() - local_.size());
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
      for (const std::uint32_t m : open_) weight_[m] = weight(m);
      std::sort(open_.begin(), open_.end(),
                [&](auto a, auto b) { return weight_[a] != weight_[b] ? weight_[a] > weight_[b] : a < b; });
    }
    std::fill(offered_.begin(), offered_.end(), 0);
    candidates_.clear();
    for (const std::uint32_t m : open_) {
      const auto needs = work_.needs(m);
      if (std::any_of(needs.begin(), needs.end(), [&](auto r) { return offered_[r] >= choice * work_.capacity(r); }))
        continue;
      for (const std::uint32_t r : needs) ++offered_[r];
      weight_[m] = weight(m);
      candidates_.push_back(m);
    }
  }

  [[nodiscard]] double weight(std::uint32_t message) const {
    double sum = 0;
    for (const std::uint32_t r : work_.needs(message)) sum += resource_weight_[r];
    return sum;
  }

  /// Lengths of the phase to choose from: quantiles of what is left of the candidates, around that of the
  /// phase before.
  void select() {
    std::vector<double> lefts;
    for (const std::uint32_t m : candidates_) lefts.push_back(left_[m]);
    std::sort(lefts.begin(), lefts.end());
    const auto length = [&](int quantile) {
      return lefts[(lefts.size() - 1) * static_cast<std::size_t>(quantile) / lengths];
    };
    const auto choose = [&](double seconds) {
      for (const std::uint32_t m : candidates_) selection_.set_score(m, std::min(left_[m], seconds) * weight_[m]);
      return selection_.choose(candidates_) / (seconds + startup_);
    };
    double most = -1, last = 0;
    int best = quantile_;
    const int from = std::max(1, quantile_ - 1), to = quantile_ == 0 ? lengths : std::min(lengths, quantile_ + 1);
    for (int q = from; !lefts.empty() && q <= to; ++q) {
      if (length(q) <= last * (1 + 1e-4)) continue;
      last = length(q);
      if (const double value = choose(last); value > most) most = value, best = q;
    }
    quantile_ = best;
    if (lefts.empty())
      choose(0);
    else if (last != length(best))
      choose(length(best));
    chosen_.clear();
    for (const std::uint32_t m : candidates_)
      if (selection_.has(m)) chosen_.push_back(m);
    // Local messages take ports that would be idle.
    std::erase_if(local_, [&](auto m) {
      const bool added = selection_.add(m);
      if (added) result_.parts.push_back({m, bytes_left_[m]});
      return added;
    });
  }

  /// Until one of the chosen ends: where the work done per second, startup counted, is largest.
  double best_length() {
    std::sort(chosen_.begin(), chosen_.end(),
              [&](auto a, auto b) { return left_[a] != left_[b] ? left_[a] < left_[b] : a < b; });
    double weights = 0, done = 0, best = 0, most = -1;
    for (const std::uint32_t m : chosen_) weights += weight_[m];
    for (const std::uint32_t m : chosen_) {
      const double value = (done + left_[m] * weights) / (left_[m] + startup_);
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
      result_.parts.push_back({m, bytes});
      bytes_left_[m] -= bytes;
      left_[m] = bytes_left_[m] == 0 ? 0 : left_[m] - seconds;
      for (const std::uint32_t r : work_.needs(m)) load_[r] -= seconds / work_.capacity(r);
    }
    std::erase_if(open_, [&](auto m) { return bytes_left_[m] == 0; });
    result_.begin.push_back(result_.parts.size());
    result_.seconds += length;
  }

  const Workload& work_;
  const double startup_;
  std::vector<double> load_;  ///< per resource, of what is left
  Selection selection_;
  std::vector<double> weight_, left_;      ///< per message; seconds
  std::vector<std::uint64_t> bytes_left_;  ///< per message
  std::vector<std::uint32_t> open_, local_, candidates_, chosen_;
  std::vector<std::uint32_t> offered_;                          ///< per resource: candidates that need it
  double sorted_at_ = std::numeric_limits<double>::infinity();  ///< largest load below which to sort again
  std::vector<double> resource_weight_;
  int quantile_ = 0;
  Steps steps_{"cutting messages", work_.size()};
  CutPhases result_;
};

}  // namespace

CutPhases critical_phases(const Workload& work, double startup) { return Cutter(work, startup).run(); }

}  // namespace hocket::algorithms
