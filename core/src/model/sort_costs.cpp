#include "hocket/model/sort_costs.hpp"

#include <cmath>
#include <numeric>

#include "hocket/elements/local_sort.hpp"
#include "hocket/error.hpp"
#include "memory_costs.hpp"

namespace hocket {
namespace {

using model::MemoryCosts;

constexpr double count_bytes = sizeof(std::uint64_t);

void check(const SortShape& shape) {
  if (shape.type.width < key_bytes(shape.type.key)) throw InputError("records that are narrower than their key");
  if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a sort on no ranks");
}

std::vector<StepCost> named(std::span<const char* const> names, std::span<const double> seconds) {
  std::vector<StepCost> steps;
  for (std::size_t i = 0; i < names.size(); ++i) steps.push_back({names[i], seconds[i]});
  return steps;
}

}  // namespace

std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape,
                                    std::span<const Digit> digits) {
  check(shape);
  const MemoryCosts costs(profile, shape.ranks, shape.ranks_per_host);
  const auto width = static_cast<double>(shape.type.width);
  const double n = static_cast<double>(shape.elements) / costs.ranks();
  double step[6] = {};
  for (const Digit& digit : digits) {
    if (digit.bits < 1 || digit.bits > most_digit_bits) throw InputError("a digit of no bits, or of too many");
    const double buckets = std::ldexp(1, static_cast<int>(digit.bits));
    step[0] += costs.work(Work::count, n, width, buckets);
    step[1] += costs.all_to_all(buckets * count_bytes);
    step[2] += costs.collective() + costs.work(Work::scan, buckets, count_bytes);
    step[3] += costs.all_to_all(buckets * count_bytes);
    step[4] += costs.work(Work::partition, n, width, buckets);
    step[5] += costs.deliver(n, width, buckets);
  }
  return named(radix_steps, step);
}

unsigned radix_digit_bits(const MemoryProfile& profile, const SortShape& shape) {
  unsigned best = most_digit_bits;
  double least = INFINITY;
  for (unsigned bits = most_digit_bits; bits >= 4; --bits) {
    const double expected = seconds(predict_radix(profile, shape, digits_of(shape.order_bits, bits)));
    if (expected < least) {
      least = expected;
      best = bits;
    }
  }
  return best;
}

std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape) {
  return predict_radix(profile, shape, digits_of(shape.order_bits, radix_digit_bits(profile, shape)));
}

std::vector<StepCost> predict_sample(const MemoryProfile& profile, const SortShape& shape, unsigned oversampling) {
  check(shape);
  const MemoryCosts costs(profile, shape.ranks, shape.ranks_per_host);
  const auto width = static_cast<double>(shape.type.width);
  const double n = static_cast<double>(shape.elements) / costs.ranks();
  const double splitters = costs.ranks() - 1;
  const double samples = std::min(n, splitters * oversampling);
  const double step[6] = {
      costs.work(Work::gather, samples, width, 1, n * width),
      costs.collective() + costs.all_to_all(costs.ranks() * samples * count_bytes) +
          costs.work(Work::sort, costs.ranks() * samples, count_bytes),
      costs.work(Work::classify, n, width, splitters) + costs.work(Work::divide, n, width, costs.ranks()),
      costs.collective() + costs.deliver(n, width, costs.ranks()),
      costs.work(Work::sort, n, width),
      2 * costs.collective(),
  };
  return named(sample_steps, step);
}

double seconds(std::span<const StepCost> steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const StepCost& step) { return sum + step.seconds; });
}

}  // namespace hocket
