#pragma once
/// Times and progress of a sort's steps.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/model/memory_profile.hpp"
#include "hocket_sort.h"
#include "sort/core/costs/costs.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// Places in radix_steps and sample_steps.
enum class RadixStep : std::uint8_t {
  bucket_counts,
  transpose,
  scan,
  untranspose,
  presort_copy,
  grouped_permute,
  local_sort,
  balance
};
enum class SampleStep : std::uint8_t { draw, splitters, divide, exchange, local_sort, balance };

/// Steps around the sort, where there is payload.
inline constexpr const char* pack_step = "pack";
inline constexpr const char* unpack_step = "unpack";

/// The cost of making shared memory and of the first touch of its pages, which later sorts save. It is reported as a
/// step of its own, not as part of the step in which it occurs.
inline constexpr const char* first_touch_step = "first touch";

/// Times the steps, one after the other, and tells the program about each.
class StepClock {
 public:
  StepClock(const hocket_sort_options& options, HostSharedContext& place) : options_(options), place_(place) {
    (void)place_.take_fresh();  // discards memory made before this sort
  }

  /// Sets how often step_over() will be called.
  void expect(int steps) { expected_ = steps; }
  void expect_more(int steps) { expected_ += steps; }
  /// Ends the step that began at the last call. `name` must have static lifetime.
  void step_over(const char* name);
  void step_over(RadixStep step) { step_over(radix_steps[static_cast<std::size_t>(step)]); }
  void step_over(SampleStep step) { step_over(sample_steps[static_cast<std::size_t>(step)]); }
  [[nodiscard]] std::vector<hocket_sort_step> steps() && { return std::move(steps_); }
  /// Bytes of shared memory that this rank has touched first.
  [[nodiscard]] std::uint64_t first_touched() const { return first_touched_; }

 private:
  void add(const char* name, double seconds);

  using Clock = std::chrono::steady_clock;

  const hocket_sort_options& options_;
  HostSharedContext& place_;
  std::uint64_t first_touched_ = 0;
  std::vector<hocket_sort_step> steps_;
  Clock::time_point since_ = Clock::now();
  int done_ = 0, expected_ = 0;
};

/// The memory profile of the machine of rank 0 of `comm`: from the file HOCKET_MEMORY, else from the user's cache as
/// written by `hocket calibrate memory`, else built in. The same on all ranks, kept with the communicator; collective
/// the first time. A file that cannot be used is warned of once and makes no difference.
[[nodiscard]] const MemoryProfile& memory_profile(MPI_Comm comm);

}  // namespace hocket::sort
