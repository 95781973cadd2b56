/// "critical": phases without contention, messages cut, near the load of the bottleneck.

#include "core/algorithms/all_to_all/resources.hpp"
#include "core/algorithms/irregular/workload.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {
namespace {

constexpr double close_enough = 1.08;  ///< times the bound; beyond that finer cuts are tried
// Assumed cost of a phase as a share of the mean message's time: from coarse to fine, or a single value.
constexpr double coarsest = 1, finest = 0.125, only = 0.25;
constexpr std::uint32_t most_messages_tried = 8192;  ///< with more messages than these only one share is tried

/// True where every message takes as long as any other; those within a host take no time.
bool even(const Workload& work) {
  double most = 0, least = 0;
  for (std::uint32_t m = 0; m < work.size(); ++m) {
    const double seconds = work.seconds(m);
    most = std::max(most, seconds);
    if (seconds > 0) least = least == 0 ? seconds : std::min(least, seconds);
  }
  return most == least;
}

/// Mean over the messages that take time, 0 if none does.
double mean_seconds(const Workload& work) {
  double sum = 0, count = 0;
  for (std::uint32_t m = 0; m < work.size(); ++m) sum += work.seconds(m), count += work.seconds(m) > 0;
  return count > 0 ? sum / count : 0;
}

Schedule write(const Demand& demand, const Workload& work, const CutPhases& cut) {
  std::vector<std::uint64_t> sent(work.size(), 0);
  PhaseWriter writer(demand);
  for (std::uint64_t p = 0; p < cut.phases.size(); ++p) {
    for (const Part part : cut.phases.of(p)) {
      const Message& message = work.message(part.message);
      writer.send(message.src, message.dst, sent[part.message], part.bytes);
      sent[part.message] += part.bytes;
    }
    writer.end_phase();
  }
  return writer.finish();
}

/// Whole messages of one length: squeezed into fewer phases if there are more than the bound.
void squeeze(const Network& network, const Workload& work, std::uint64_t bound, CutPhases& cut) {
  Packed packed{cut.phases.size(), {}, {}};
  for (std::uint32_t p = 0; p < cut.phases.size(); ++p)
    for (const Part part : cut.phases.of(p)) {
      const Message& message = work.message(part.message);
      packed.hops.push_back({message.src, message.dst});
      packed.phase_of.push_back(p);
    }
  repair(network, SendPools(network, false), bound, packed, repair_budget(packed.hops.size()) / 4);
  const Grouped in_phase = group(packed.phases, [&](auto visit) {
    for (std::uint32_t i = 0; i < packed.phase_of.size(); ++i) visit(packed.phase_of[i], i);
  });
  Lists<Part> fewer{in_phase.begin, {}};
  for (const std::uint32_t i : in_phase.items) fewer.items.push_back(cut.phases.items[i]);
  cut.phases = std::move(fewer);
}

}  // namespace

static Schedule make_critical(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const Workload work(network, demand);
  const Bounds bounds = lower_bounds(network, demand);
  const double mean = mean_seconds(work);
  double share = work.size() > most_messages_tried ? only : coarsest;
  CutPhases best = critical_phases(work, std::max(costs.alpha, share * mean));
  if (even(work)) {
    squeeze(network, work, bounds.phases, best);
    return write(demand, work, best);
  }
  const bool again = work.size() <= most_messages_tried;
  while (again && best.seconds > close_enough * bounds.one_port_seconds() && share > finest &&
         share * mean > costs.alpha) {
    share /= 2;
    CutPhases finer = critical_phases(work, std::max(costs.alpha, share * mean));
    if (finer.seconds < best.seconds) best = std::move(finer);
  }
  return write(demand, work, best);
}

constinit const Algorithm critical{
    .pattern = Pattern::irregular,
    .name = "critical",
    .summary = "phases that serve the busiest ports and channels; splits messages",
    .source = "own; open shop with preemption: Gonzalez and Sahni",
    .contention_free = true,
    .make = make_critical,
    .guarantee = "a message ends in every phase; messages that take equally long are not split",
    .rank = 2,
};

}  // namespace hocket::algorithms
