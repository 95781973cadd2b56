#include "hocket/model/sort_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

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
  bool payload, library;
  double bits;  ///< in which keys differ

  Sort(const MemoryProfile& profile, const SortShape& shape)
      : costs(profile, shape.ranks, shape.ranks_per_host),
        n(static_cast<double>(shape.elements) / costs.ranks()),
        width(static_cast<double>(shape.type.width)),
        payload(shape.type.width > key_bytes(shape.type.key)),
        library(shape.library_sort && !payload),
        bits(shape.order_bits) {
    if (shape.type.width < key_bytes(shape.type.key)) throw InputError("records that are narrower than their key");
    if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a sort on no ranks");
  }

  /// Of `elements` of one rank that differ in some bits.
  [[nodiscard]] double local(double elements, double different_bits) const {
    return library ? costs.work(Work::library_sort, elements, width)
                   : costs.work(Work::sort, elements, width, different_bits);
  }

  /// Of one rank, in place, with scratch space.
  [[nodiscard]] double alone() const {
    return local(n, bits) + (payload ? 1 : 2) * costs.touch(n * width) + (payload ? 0 : costs.copy(n * width));
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

using RadixSeconds = std::array<double, std::size(radix_steps)>;

void require(Digit digit) {
  if (digit.bits < 1 || digit.bits > most_digit_bits) throw InputError("a digit of no bits, or of too many");
}

/// The six steps for one digit.
void pass(const Sort& sort, Digit digit, RadixSeconds& step) {
  const auto& [costs, n, width, payload, library, bits] = sort;
  const double buckets = std::ldexp(1, static_cast<int>(digit.bits));
  step[0] += costs.work(Work::count, n, width, buckets);
  step[1] += costs.all_to_all(buckets * count_bytes);
  step[2] += costs.collective() + costs.work(Work::scan, buckets, count_bytes);
  step[3] += costs.all_to_all(buckets * count_bytes);
  step[4] += costs.work(Work::partition, n, width, buckets);
  step[5] += costs.deliver(n, width, buckets);
}

}  // namespace

std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape,
                                    std::span<const Digit> digits) {
  const Sort sort(profile, shape);
  for (const Digit& digit : digits) require(digit);
  RadixSeconds step{};
  if (shape.ranks == 1) {
    step[6] = sort.alone();
    return sort.named(radix_steps, step);
  }
  for (const Digit& digit : digits) pass(sort, digit, step);
  if (!sort.payload && !digits.empty()) step[5] += sort.costs.touch(sort.n * sort.width);  // else packed there before
  return sort.named(radix_steps, step);
}

std::vector<StepCost> predict_highest_first(const MemoryProfile& profile, const SortShape& shape, Digit highest) {
  const Sort sort(profile, shape);
  require(highest);
  const auto& [costs, n, width, payload, library, bits] = sort;
  RadixSeconds step{};
  if (shape.ranks == 1) {
    step[6] = sort.alone();
    return sort.named(radix_steps, step);
  }
  pass(sort, highest, step);
  step[4] += costs.collective();  // where buckets begin
  step[5] += costs.touch(n * width);
  // Buckets of all ranks, of which each sorts its share.
  const double buckets = std::ldexp(1, static_cast<int>(highest.bits));
  const double each = std::max(1.0, n * costs.ranks() / buckets);
  step[6] = n / each * sort.local(each, std::max(1.0, bits - highest.bits));
  step[7] = costs.deliver(each / 2, width, 1);  // ranks begin half a bucket from where they should
  return sort.named(radix_steps, step);
}

RadixPlan by_all_digits(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying, unsigned bits) {
  RadixPlan plan{{digits_over(varying, bits), std::nullopt}, {}};
  plan.cost = predict_radix(profile, shape, plan.digits.all);
  return plan;
}

RadixPlan fastest_radix(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying) {
  RadixPlan best = by_all_digits(profile, shape, varying, most_digit_bits);
  const auto consider = [&](RadixPlan plan) {
    if (seconds(plan.cost) < seconds(best.cost)) best = std::move(plan);
  };
  for (unsigned bits = most_digit_bits - 1; bits >= 4; --bits) consider(by_all_digits(profile, shape, varying, bits));
  if (varying == 0) return best;
  const std::vector<Digit> all = best.digits.all;
  constexpr unsigned least_highest_bits = 8;  // so that buckets can be cut close to where ranks should begin
  for (unsigned bits = most_digit_bits; bits >= least_highest_bits; --bits) {
    const Digit highest = highest_digit(varying, bits);
    consider({{all, highest}, predict_highest_first(profile, shape, highest)});
  }
  return best;
}

std::vector<StepCost> predict_sample(const MemoryProfile& profile, const SortShape& shape, unsigned oversampling) {
  const Sort sort(profile, shape);
  const auto& [costs, n, width, payload, library, bits] = sort;
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
  step[3] = 3 * costs.collective() + costs.touch(n * width) + costs.deliver(n, width, parts);
  step[4] = sort.local(n, bits);
  const double unevenness = parts > 1 ? 1 / std::sqrt(std::max(1.0, all / parts)) : 0;  // samples of a part
  step[5] = costs.deliver(n * unevenness, width, 1);
  return sort.named(sample_steps, step);
}

double seconds(std::span<const StepCost> steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const StepCost& step) { return sum + step.seconds; });
}

}  // namespace hocket
