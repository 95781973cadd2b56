#include "hocket/schedulers/irregular/list_order.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

class ListRun {
 public:
  ListRun(const Workload& work, const ListRule& rule, const std::vector<double>& bias)
      : work_(work), rule_(rule), bias_(bias), left_(work.load()), bound_(work.bound()), first_(work.resources() + 1, 0),
        next_(work.resources(), 0), waiting_(work.resources()) {
    for (std::uint32_t r = 0; r < work.resources(); ++r) first_[r + 1] = first_[r] + work.capacity(r);
    ends_.assign(first_.back(), 0);
    starts_.order.reserve(work.size());
    starts_.start.assign(work.size(), 0);
  }

  Starts run() {
    std::vector<Waiting> all;
    for (std::uint32_t m = 0; m < work_.size(); ++m) all.emplace_back(priority(m), m);
    std::sort(all.begin(), all.end(), std::greater<>());
    for (const auto& [p, m] : all) place(m);
    while (!running_.empty()) {
      now_ = running_.front().first;
      const double horizon = now_ * (1 + 1e-12);
      freed_.clear();
      while (!running_.empty() && running_.front().first <= horizon) {
        const std::uint32_t m = running_.front().second;
        std::pop_heap(running_.begin(), running_.end(), std::greater<>());
        running_.pop_back();
        for (const std::uint32_t r : work_.needs(m))
          if (!waiting_[r].empty()) freed_.emplace_back(waiting_[r].front().first, r);
      }
      horizon_ = horizon;
      std::make_heap(freed_.begin(), freed_.end());
      while (!freed_.empty()) {
        const std::uint32_t r = freed_.front().second;
        std::pop_heap(freed_.begin(), freed_.end());
        freed_.pop_back();
        auto& queue = waiting_[r];
        if (queue.empty() || !is_free(r)) continue;
        const std::uint32_t m = queue.front().second;
        std::pop_heap(queue.begin(), queue.end());
        queue.pop_back();
        place(m);
        if (!queue.empty() && is_free(r)) {
          freed_.emplace_back(queue.front().first, r);
          std::push_heap(freed_.begin(), freed_.end());
        }
      }
    }
    return std::move(starts_);
  }

 private:
  using Waiting = std::pair<double, std::uint32_t>;

  [[nodiscard]] bool is_free(std::uint32_t r) const { return ends_[first_[r] + next_[r]] <= horizon_; }

  double priority(std::uint32_t m) const {
    double p = 0;
    if (rule_.sharpness == 0) {
      for (const std::uint32_t r : work_.needs(m)) p = std::max(p, left_[r]);
      return p + now_ + bias_[m];
    }
    for (const std::uint32_t r : work_.needs(m)) p += std::exp((left_[r] + now_ - bound_) / bound_ * rule_.sharpness);
    return std::log(p) / rule_.sharpness * bound_ + bias_[m];
  }

  void place(std::uint32_t m) {
    std::uint32_t busy = none;
    double latest = 0;
    for (const std::uint32_t r : work_.needs(m))
      if (!is_free(r) && ends_[first_[r] + next_[r]] > latest) busy = r, latest = ends_[first_[r] + next_[r]];
    if (busy != none) {
      waiting_[busy].emplace_back(priority(m), m);
      std::push_heap(waiting_[busy].begin(), waiting_[busy].end());
      return;
    }
    const double end = now_ + work_.seconds(m);
    for (const std::uint32_t r : work_.needs(m)) {
      ends_[first_[r] + next_[r]] = end;
      if (++next_[r] == work_.capacity(r)) next_[r] = 0;
      left_[r] -= work_.seconds(m) / work_.capacity(r);
    }
    running_.emplace_back(end, m);
    std::push_heap(running_.begin(), running_.end(), std::greater<>());
    starts_.order.push_back(m);
    starts_.start[m] = now_;
    starts_.seconds = std::max(starts_.seconds, end);
  }

  const Workload& work_;
  const ListRule& rule_;
  const std::vector<double>& bias_;
  std::vector<double> left_;
  double bound_;
  std::vector<std::uint64_t> first_;
  std::vector<std::uint32_t> next_;
  std::vector<double> ends_;
  std::vector<std::vector<Waiting>> waiting_;
  std::vector<Waiting> running_, freed_;
  Starts starts_;
  double now_ = 0, horizon_ = 0;
};

}  // namespace

Starts list_starts(const Workload& work, const ListRule& rule, const std::vector<double>& bias) {
  return ListRun(work, rule, bias).run();
}

}  // namespace hocket::algorithms
