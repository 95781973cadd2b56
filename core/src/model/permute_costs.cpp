#include "hocket/model/permute_costs.hpp"

#include "hocket/error.hpp"
#include "memory_costs.hpp"

namespace hocket {
namespace {

using model::MemoryCosts;

constexpr double position_bytes = sizeof(std::int64_t);

MemoryCosts costs_of(const MemoryProfile& profile, const PermuteShape& shape) {
  if (shape.width < 1) throw InputError("elements of no bytes");
  if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a permutation on no ranks");
  return {profile, shape.ranks, shape.ranks_per_host};
}

double per_rank(const PermuteShape& shape) { return static_cast<double>(shape.elements) / shape.ranks; }

}  // namespace

std::vector<StepCost> predict_permute(const MemoryProfile& profile, const PermuteShape& shape, PermuteMethod method) {
  const MemoryCosts costs = costs_of(profile, shape);
  const double n = per_rank(shape), width = shape.width;
  if (method == PermuteMethod::packed)
    return {{"pack", costs.work(Work::gather, n, width) + costs.work(Work::gather, n, position_bytes)},
            {"exchange", costs.all_to_all(n * width) + costs.all_to_all(n * position_bytes)},
            {"unpack", costs.work(Work::scatter, n, width)}};
  return {{"scatter", costs.work(Work::shared_scatter, n, width, 1, n * width * costs.host_ranks()) + costs.meet()},
          {"copy out", costs.copy(n * width)}};
}

std::vector<StepCost> predict_take(const MemoryProfile& profile, const PermuteShape& shape, PermuteMethod method) {
  const MemoryCosts costs = costs_of(profile, shape);
  const double n = per_rank(shape), width = shape.width;
  if (method == PermuteMethod::packed)
    return {{"ask", costs.all_to_all(n * position_bytes)},
            {"pack", costs.work(Work::gather, n, width)},
            {"exchange", costs.all_to_all(n * width)},
            {"unpack", costs.work(Work::scatter, n, width)}};
  return {{"copy in", costs.copy(n * width) + costs.meet()},
          {"gather", costs.work(Work::shared_gather, n, width, 1, n * width * costs.host_ranks()) + costs.meet()}};
}

std::vector<StepCost> predict_transpose(const MemoryProfile& profile, const PermuteShape& shape, PermuteMethod method) {
  const MemoryCosts costs = costs_of(profile, shape);
  const double n = per_rank(shape), width = shape.width;
  if (method == PermuteMethod::packed)
    return {{"pack", costs.work(Work::transpose, n, width)},
            {"exchange", costs.all_to_all(n * width)},
            {"unpack", costs.copy(n * width)}};
  return {{"copy in", costs.copy(n * width) + costs.meet()},
          {"transpose", costs.work(Work::transpose, n, width) + costs.meet()}};
}

std::vector<StepCost> predict_grouped_permute(const MemoryProfile& profile, const PermuteShape& shape,
                                              std::uint64_t runs) {
  const MemoryCosts costs = costs_of(profile, shape);
  return {{"copy in", costs.copy(per_rank(shape) * shape.width)},
          {"grouped permute", costs.deliver(per_rank(shape), shape.width, static_cast<double>(runs))}};
}

}  // namespace hocket
