#include "hocket/model/sort_costs.hpp"

#include <cmath>
#include <numeric>

#include "hocket/elements/local_sort.hpp"
#include "hocket/error.hpp"
#include "memory_costs.hpp"

namespace hocket {
namespace {

using model::MemoryCosts;

constexpr double count_bytes = sizeof(std::uint64_t), sample_bytes = 3 * sizeof(std::uint64_t);
constexpr double part_bytes = sizeof(std::uint16_t);

/// What each rank has to do with.
struct Sort {
  MemoryCosts costs;
  double n, width;
  bool payload;
  double bits;  ///< in which keys differ

  Sort(const MemoryProfile& profile, const SortShape& shape)
      : costs(profile, shape.ranks, shape.ranks_per_host),
        n(static_cast<double>(shape.elements) / costs.ranks()),
        width(static_cast<double>(shape.type.width)),
        payload(shape.type.width > key_bytes(shape.type.key)),
        bits(shape.order_bits) {
    if (shape.type.width < key_bytes(shape.type.key)) throw InputError("records that are narrower than their key");
    if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a sort on no ranks");
  }

  /// Of one rank, in place, with scratch space.
  [[nodiscard]] double alone() const {
    return costs.work(Work::sort, n, width, bits) + (payload ? 1 : 2) * costs.touch(n * width) +
           (payload ? 0 : costs.copy(n * width));
  }

  /// With what happens before and after, where there is payload.
  [[nodiscard]] std::vector<StepCost> named(std::span<const char* const> names, std::span<const double> seconds) const {
    std::vector<StepCost> steps;
    for (std::size_t i = 0; i < names.size(); ++i) steps.push_back({names[i], seconds[i]});
    if (payload)
      for (const char* name : {"pack", "unpack"})
        steps.push_back({name, costs.work(Work::pack, n, width) + costs.touch(n * width)});
    return steps;
  }
};

}  // namespace

std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape,
                                    std::span<const Digit> digits) {
  const Sort sort(profile, shape);
  const auto& [costs, n, width, payload, bits] = sort;
  double step[6] = {};
  if (shape.ranks == 1) {
    step[4] = sort.alone();
    return sort.named(radix_steps, step);
  }
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
  if (!payload && !digits.empty()) step[5] += costs.touch(n * width);  // records with payload have been packed there
  return sort.named(radix_steps, step);
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
  const Sort sort(profile, shape);
  const auto& [costs, n, width, payload, bits] = sort;
  double step[6] = {};
  if (shape.ranks == 1) {
    step[4] = sort.alone();
    return sort.named(sample_steps, step);
  }
  const double parts = costs.ranks();
  const double samples = std::min(n, (parts - 1) * oversampling);  // of each rank
  const double all = samples * parts;
  step[0] = costs.work(Work::gather, samples, width, 1, n * width) + 2 * costs.collective() +
            costs.all_to_all(samples * sample_bytes);
  step[1] = costs.collective() + costs.work(Work::classify, all * std::log2(all + 1), count_bytes);  // comparisons
  step[2] = costs.work(Work::classify, n, width, parts - 1) + costs.touch(n * part_bytes) +
            costs.work(Work::divide, n, width, parts);
  step[3] = 3 * costs.collective() + costs.deliver(n, width, parts);
  step[4] = costs.work(Work::sort, n, width, bits);
  step[5] = costs.deliver(n, width, 1) + costs.touch(n * width);
  return sort.named(sample_steps, step);
}

double seconds(std::span<const StepCost> steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const StepCost& step) { return sum + step.seconds; });
}

}  // namespace hocket
