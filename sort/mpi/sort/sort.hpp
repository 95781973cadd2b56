#pragma once
/// A sort as all ranks have agreed on it, its methods, the choice between them, and times and progress of their steps.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "core/model/memory_profile.hpp"
#include "hocket_sort.h"
#include "sort/core/costs/costs.hpp"
#include "sort/core/elements/record.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

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
  void step_over(const char* name) {
    double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
    if (const auto fresh = place_.take_fresh()) {
      add(first_touch_step, fresh->seconds);
      seconds -= fresh->seconds;
      first_touched_ += fresh->bytes;
    }
    add(name, seconds);
    if (options_.progress != nullptr) options_.progress(name, ++done_, expected_, options_.context);
    since_ = Clock::now();
  }
  void step_over(RadixStep step) { step_over(radix_steps[static_cast<std::size_t>(step)]); }
  void step_over(SampleStep step) { step_over(sample_steps[static_cast<std::size_t>(step)]); }
  [[nodiscard]] std::vector<hocket_sort_step> steps() && { return std::move(steps_); }
  /// Bytes of shared memory that this rank has touched first.
  [[nodiscard]] std::uint64_t first_touched() const { return first_touched_; }

 private:
  void add(const char* name, double seconds) {
    const auto known =
        std::ranges::find_if(steps_, [&](const auto& step) { return std::strcmp(step.name, name) == 0; });
    if (known != steps_.end())
      known->seconds += seconds;
    else
      steps_.push_back({name, seconds, 0});
  }

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

/// The arguments of hocket_sort() on this rank.
struct SortArguments {
  hocket_sort_options options;
  int key_type;
  std::int64_t count;
  const void* keys;
  std::size_t payload_width;
  const void* payload;
};

/// Collective. Throws ApiError on all ranks if arguments of any make no sense, or if they differ where they must be the
/// same. `sorted`: where the result goes.
void check_sort(HostSharedContext& place, const SortArguments& arguments, const void* sorted);

/// The sort of one rank's own elements.
class LocalSort {
 public:
  /// Uses the program's sort function if it has given one and there is no payload.
  LocalSort(RecordType type, const hocket_sort_options& options) : type_(type), options_(options) {}

  [[nodiscard]] bool by_library() const { return options_.sort_keys != nullptr && type_.width == key_bytes(type_.key); }
  /// `scratch` has room for as many.
  void operator()(std::byte* records, std::size_t n, std::byte* scratch) const;

 private:
  RecordType type_;
  hocket_sort_options options_;
};

struct SortTask {
  RecordType type;  ///< the records that move through the sort
  LocalSort sort_locally;
  Layout source;
  std::optional<Layout> target;  ///< empty: as it falls
  const std::byte* records;      ///< this rank's records
  PrivateMemory packed;          ///< owner of `records` unless these are the program's own; the sort may consume it

  [[nodiscard]] std::uint64_t count(int rank) const { return source.count(rank); }
};

struct SortedRecords {
  PrivateMemory records;
  Layout layout;
  double imbalance;  ///< most elements on a rank over the mean, before a last exchange
};

/// Most elements on a rank over the mean; 1 where there are none.
[[nodiscard]] double imbalance_of(const Layout& layout);

/// The sort of a rank that is alone.
[[nodiscard]] SortedRecords sort_alone(SortTask task);

/// The type of the records that move: a key followed by its payload, or, where that is wide, by its position: wide
/// payload is fetched once at the end.
[[nodiscard]] RecordType record_type(int key_type, std::size_t payload_width);

/// Bytes of payload that are fetched at the end, as they do not move.
[[nodiscard]] std::size_t fetched_width(std::size_t payload_width);

/// Room for `room` records, and those of this rank in it. `first`: position of its first element.
[[nodiscard]] PrivateMemory pack_records(const SortArguments& arguments, std::uint64_t room, std::uint64_t first);

struct KeysAndPayload {
  PrivateMemory keys, payload;
};

/// Collective. From `count` sorted records of this rank; `source`: where elements were before.
[[nodiscard]] KeysAndPayload unpack_records(HostSharedContext& place, const SortArguments& arguments,
                                            const Layout& source, PrivateMemory records, std::uint64_t count);

/// The radix sort of Stricker and Hardwick (From AAPC to random permuters and sorters, SPAA 1996).
///
/// Collective. Stable. For each digit: bucket counts, transpose, scan, untranspose, presort copy, grouped permute;
/// after each the elements are spread evenly, after the last as the task's target says (as it falls: evenly). By the
/// highest digit first it takes one such pass, a local sort and a last balance.
[[nodiscard]] SortedRecords radix_sort(HostSharedContext& place, SortTask task, const RadixDigits& digits,
                                       StepClock& clock);

/// Elements for which a rank needs room, at most.
[[nodiscard]] std::uint64_t radix_room(int rank, const Layout& source, const std::optional<Layout>& target);

/// The number of steps that the sort will report.
[[nodiscard]] int radix_step_count(const RadixDigits& digits);

struct Sampling {
  bool regular = false;  ///< samples at regular distances, after each rank has sorted its elements; else random samples
  std::uint64_t oversampling = 0;  ///< samples per rank and splitter; 0: chosen
  std::uint64_t seed = 0;
};

/// Sample sort: splitters divide the elements into one part for each rank, which then sorts its own.
///
/// Sources: Frazer and McKellar, Samplesort, JACM 1970; Shi and Schaeffer, Parallel sorting by regular sampling,
/// JPDC 1992. A splitter is a place between elements, not only a key, so that equal keys are divided too.
///
/// Collective. Stable. At most most_sample_ranks.
[[nodiscard]] SortedRecords sample_sort(HostSharedContext& place, SortTask task, const Sampling& sampling,
                                        StepClock& clock);

/// The number of steps that the sort will report.
[[nodiscard]] int sample_step_count(const Sampling& sampling);

inline constexpr int most_sample_ranks = 65536;

/// Samples of all ranks. `oversampling` is per rank and splitter; 0: as many as keep parts within a few percent of each
/// other.
[[nodiscard]] std::uint64_t all_samples(std::uint64_t elements, int ranks, std::uint64_t oversampling);

struct SortChoice {
  int method;                  ///< HOCKET_SORT_RADIX or HOCKET_SORT_SAMPLE
  RadixDigits digits;          ///< digits of the radix sort
  std::vector<StepCost> cost;  ///< predicted cost of each step
};

/// Collective; the same on all ranks. What the options leave open is what rank 0's memory model expects to be
/// fastest. `varying`: bits of order_of() in which keys differ.
[[nodiscard]] SortChoice choose_sort(HostSharedContext& place, const hocket_sort_options& options,
                                     const SortShape& shape, std::uint64_t varying);

}  // namespace hocket::sort
