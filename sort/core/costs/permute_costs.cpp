#include "sort/core/costs/permute_costs.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "sort/core/costs/memory_costs.hpp"

namespace hocket {
namespace {

using model::MemoryCosts, model::position_bytes;

constexpr double offset_bytes = sizeof(std::uint32_t);

/// The quantities per rank from which step costs are computed.
struct Move {
  MemoryCosts costs;
  double n, width;

  Move(const MemoryProfile& profile, const PermuteShape& shape)
      : costs(profile, shape.ranks, shape.ranks_per_host),
        n(static_cast<double>(shape.elements) / costs.ranks()),
        width(shape.width) {
    if (shape.width < 1) throw InputError("elements of no bytes");
    if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a permutation on no ranks");
  }

  [[nodiscard]] double bytes() const { return n * width; }
  /// Counted by the rank or region that they go to.
  [[nodiscard]] double route(double buckets) const { return costs.work(Work::route, n, position_bytes, buckets); }
  /// An exchange of blocks into fresh memory, this rank's own block being copied.
  [[nodiscard]] double exchange(double exchanged) const {
    return costs.all_to_all(exchanged) + costs.copy(exchanged / costs.ranks()) + costs.touch(exchanged);
  }
};

/// The regions of chained permutations: sort/mpi/permute/permute_chained.cpp.
struct Regions {
  double count, bytes;

  explicit Regions(const Move& move) {
    constexpr double region_bytes = 1 << 19, most = 2048, wide = 64;
    const double total = move.bytes() * move.costs.ranks();
    const double cut = move.width < wide ? std::clamp(total / region_bytes, 1.0, most) : 1;
    count = std::max(cut, move.costs.ranks());
    bytes = std::max(total / count, move.width);
  }
};

}  // namespace

std::vector<StepCost> predict_permute(const MemoryProfile& profile, const PermuteShape& shape, PermuteMethod method) {
  const Move move(profile, shape);
  const auto& [costs, n, width] = move;
  const double routed = width + offset_bytes;  // bytes of an element and its place
  if (method == PermuteMethod::packed)
    return {{"count", move.route(costs.ranks()) + 2 * costs.collective()},
            {"pack", costs.work(Work::split, n, width, costs.ranks()) + costs.touch(n * routed)},
            {"exchange", move.exchange(n * offset_bytes) + move.exchange(n * width)},
            {"unpack", costs.work(Work::scatter_once, n, width)}};
  const Regions regions(move);
  const double near = n * (1 - costs.away()), far = n - near;
  std::vector<StepCost> steps = {{"count", move.route(regions.count) + 2 * costs.collective()},
                                 {"divide", costs.work(Work::regions, near, width, regions.count) + costs.meet()},
                                 {"settle", costs.work(Work::settle, near, width, 1, regions.bytes) + costs.meet()}};
  if (far > 0)  // put into chunks, sent, and put in place, the wire working meanwhile
    steps.push_back({"exchange", std::max(costs.work(Work::split, far, width, costs.ranks()) +
                                              costs.work(Work::scatter, far, width, 1, n * width),
                                          costs.wire(n * (width + position_bytes)))});
  return steps;
}

std::vector<StepCost> predict_take(const MemoryProfile& profile, const PermuteShape& shape, PermuteMethod method) {
  const Move move(profile, shape);
  const auto& [costs, n, width] = move;
  const double away = method == PermuteMethod::packed ? 1 : costs.away();
  const double asked = n * away;
  std::vector<StepCost> steps = {{"check", move.route(costs.ranks()) + costs.collective()}};
  if (method == PermuteMethod::chained)
    steps.insert(steps.end(),
                 {{"copy in", costs.copy(n * width) + costs.meet()},
                  {"gather", costs.work(Work::shared_gather, n - asked, width, 1, n * width * costs.host_ranks()) +
                                 costs.meet()}});
  if (asked > 0)
    steps.insert(steps.end(),
                 {{"ask", away * (2 * move.route(costs.ranks()) + move.exchange(n * position_bytes)) +
                              costs.touch(asked * position_bytes)},
                  {"pack", costs.work(Work::gather, asked, width, 1, n * width) + costs.touch(asked * width)},
                  {"exchange", away * move.exchange(n * width)},
                  {"unpack", costs.work(Work::split, asked, width, costs.ranks())}});
  return steps;
}

std::vector<StepCost> predict_transpose(const MemoryProfile& profile, const PermuteShape& shape, PermuteMethod method) {
  const Move move(profile, shape);
  const auto& [costs, n, width] = move;
  if (method == PermuteMethod::packed)
    return {{"pack", costs.copy(n * width) + costs.touch(n * width)},
            {"exchange", move.exchange(n * width)},
            {"transpose", costs.work(Work::transpose, n, width)}};
  std::vector<StepCost> steps = {{"copy in", costs.copy(n * width) + costs.meet()},
                                 {"transpose", costs.work(Work::transpose, n, width) + costs.meet()}};
  if (const double away = costs.away(); away > 0)
    steps.push_back({"exchange", away * (costs.copy(n * width) + costs.touch(2 * n * width)) + costs.wire(n * width)});
  return steps;
}

std::vector<StepCost> predict_grouped_permute(const MemoryProfile& profile, const PermuteShape& shape,
                                              std::uint64_t runs) {
  const Move move(profile, shape);
  return {{"copy in", move.costs.copy(move.bytes()) + 4 * move.costs.collective()},
          {"grouped permute", move.costs.deliver(move.n, move.width, static_cast<double>(runs))}};
}

}  // namespace hocket
