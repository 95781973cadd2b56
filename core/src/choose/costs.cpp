#include "hocket/choose/costs.hpp"

#include <algorithm>

namespace hocket {
namespace {

/// From the lower quartile to the upper one of sorted values, both of those that there are: of few it is rather too
/// much.
double between_quartiles(const std::vector<double>& values) {
  const std::size_t below = (values.size() - 1) / 4;
  return values[values.size() - 1 - below] - values[below];
}

/// The median of sorted values; of two middle ones their mean, as neither stands for both.
double middle(const std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

bool all_longer(std::span<const double> seconds, double limit) {
  constexpr std::ptrdiff_t enough = 2;
  return std::ranges::count_if(seconds, is_cost) >= enough &&
         std::ranges::none_of(seconds, [=](double one) { return is_cost(one) && one <= limit; });
}

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
  typical_ = middle(sorted);
  spread_ = between_quartiles(sorted) / 2 / typical_;
}

std::vector<double> Costs::last(std::size_t count) const {
  return {last_.end() - static_cast<std::ptrdiff_t>(std::min(count, last_.size())), last_.end()};
}

double Costs::mean(std::size_t count) const {
  const std::vector<double> some = last(count);
  double sum = 0;
  for (const double seconds : some) sum += std::min(seconds, outlier * typical_);
  return sum / static_cast<double>(some.size());
}

double Costs::least() const {
  return last_.empty() ? std::numeric_limits<double>::infinity() : std::ranges::min(last_);
}

double Costs::median(std::size_t count) const {
  std::vector<double> some = last(count);
  std::ranges::sort(some);
  return middle(some);
}

}  // namespace hocket
