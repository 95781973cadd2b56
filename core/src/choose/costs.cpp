#include "hocket/choose/costs.hpp"

#include <algorithm>

namespace hocket {
namespace {

constexpr std::size_t costs_kept = 31;

/// By the nearest rank; `values` are sorted.
double quantile(const std::vector<double>& values, double part) {
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

void Costs::add(double seconds) {
  if (last_.size() == costs_kept) last_.erase(last_.begin());
  last_.push_back(seconds);
  summarise();
}

void Costs::forget(std::size_t count) {
  last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(std::min(count, last_.size())));
  if (!last_.empty()) summarise();
}

void Costs::summarise() {
  std::vector<double> sorted = last_;
  std::ranges::sort(sorted);
  // Of two middle ones their mean: of a first call and a second neither stands for both.
  const std::size_t half = sorted.size() / 2;
  typical_ = sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  spread_ = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / typical_;
  mean_ = 0;
  for (const double seconds : sorted) mean_ += std::min(seconds, outlier * typical_);
  mean_ /= static_cast<double>(sorted.size());
}

double Costs::recent(std::size_t count) const {
  std::vector<double> some(last_.end() - static_cast<std::ptrdiff_t>(std::min(count, last_.size())), last_.end());
  std::ranges::sort(some);
  return quantile(some, 0.5);
}

}  // namespace hocket
