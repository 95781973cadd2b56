#pragma once
/// What a sort does, step by step: times and progress.
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket_sort.h"
#include "sort/core/costs/step_cost.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// Places in radix_steps and sample_steps (step_cost.hpp).
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

/// What a sort that follows another one need not do: making shared memory, whose pages the system hands out when they
/// are touched first. Its time is not that of the step in which it is made.
inline constexpr const char* first_touch_step = "first touch";

/// Times the steps, one after the other, and tells the program about each.
class StepClock {
 public:
  StepClock(const hocket_sort_options& options, HostSharedContext& place) : options_(options), place_(place) {
    (void)place_.take_fresh();  // of what came before
  }

  /// How many times step_over() will be called.
  void expect(int steps) { expected_ = steps; }
  void expect_more(int steps) { expected_ += steps; }
  /// What was done since the last call was this step. `name` lives forever.
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

}  // namespace hocket::sort
