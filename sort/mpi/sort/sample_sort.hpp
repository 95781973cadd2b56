#pragma once
/// Sample sort: splitters divide the elements into one part for each rank, which then sorts its own.
///
/// Sources: Frazer and McKellar, Samplesort, JACM 1970; Shi and Schaeffer, Parallel sorting by regular sampling,
/// JPDC 1992. A splitter is a place between elements, not only a key, so that equal keys are divided too.
#include "sort/mpi/costs/steps.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort_task.hpp"

namespace hocket::sort {

struct Sampling {
  bool regular = false;  ///< samples at regular distances, after each rank has sorted its elements; else random samples
  std::uint64_t oversampling = 0;  ///< samples per rank and splitter; 0: chosen
  std::uint64_t seed = 0;
};

/// Collective. Stable. At most most_sample_ranks.
[[nodiscard]] SortedRecords sample_sort(HostSharedContext& place, SortTask task, const Sampling& sampling,
                                        StepClock& clock);

/// The number of steps that the sort will report.
[[nodiscard]] int sample_step_count(const Sampling& sampling);

inline constexpr int most_sample_ranks = 65536;

}  // namespace hocket::sort
