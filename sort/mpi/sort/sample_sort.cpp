#include "sort/mpi/sort/sample_sort.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/deliver.hpp"
#include "sort/mpi/exchange/rebalance.hpp"
#include "sort/mpi/place/collective_try.hpp"
#include "sort/mpi/sort/divide.hpp"
#include "sort/mpi/sort/splitters.hpp"

namespace hocket::sort {
namespace {

constexpr std::size_t outgoing = 0;  ///< block of the shared context: what is sent

class SampleSort {
 public:
  SampleSort(HostSharedContext& place, SortTask task, const Sampling& sampling, StepClock& clock)
      : place_(place), task_(std::move(task)), sampling_(sampling), clock_(clock), own_(task_.count(place.rank())) {}

  SortedRecords run() {
    const BlockCounts sends = sampling_.regular ? divide_regularly() : divide_at_random();
    exchange_parts(sends);
    return rebalance();
  }

 private:
  [[nodiscard]] int rank() const { return place_.rank(); }
  [[nodiscard]] std::size_t width() const { return task_.type.width; }
  [[nodiscard]] std::byte* own_part(std::size_t slot, std::uint64_t count) {
    return place_.block(slot, count * width()).part(place_.host_rank());
  }
  [[nodiscard]] std::uint64_t samples() const { return samples_of(task_.source, rank(), sampling_.oversampling); }

  [[nodiscard]] std::vector<Splitter> splitters_from(const std::vector<Splitter>& samples) {
    std::vector<Splitter> all = collect(place_, samples);
    clock_.step_over(SampleStep::draw);
    std::vector<Splitter> chosen = choose_splitters(place_, std::move(all));
    clock_.step_over(SampleStep::splitters);
    return chosen;
  }

  /// Both leave this rank's elements in the outgoing block, part by part, and return how many each has.
  BlockCounts divide_at_random() {
    const auto splitters = splitters_from(draw_samples(task_, rank(), samples(), sampling_.seed));
    Parts divided;
    collective_try(place_, [&] { divided = divide(task_.type, task_.records, own_, rank(), splitters); });
    std::vector<std::byte*> places = block_begins(own_part(outgoing, own_), divided.counts, width());
    partition(width(), task_.records, own_, divided.parts(own_), places);
    task_.packed = {};
    clock_.step_over(SampleStep::divide);
    return divided.counts;
  }

  BlockCounts divide_regularly() {
    std::byte* const sorted = own_part(outgoing, own_);
    copy(task_.records, sorted, own_ * width());
    PrivateMemory scratch = std::move(task_.packed);
    collective_try(place_, [&] {
      if (scratch.bytes() < own_ * width()) scratch = PrivateMemory(own_ * width());
    });
    task_.sort_locally(sorted, own_, scratch.data());
    clock_.step_over(SampleStep::local_sort);
    const auto splitters = splitters_from(regular_samples(task_.type, sorted, own_, rank(), samples()));
    BlockCounts counts = divide_sorted(task_.type, sorted, own_, rank(), splitters);
    clock_.step_over(SampleStep::divide);
    return counts;
  }

  /// Then this rank's part is complete, and sorted.
  void exchange_parts(const BlockCounts& sends) {
    const BlockCounts receives = exchange_counts(place_, sends);
    parts_ = Layout::gather(place_.comm(), total_of(receives));
    BlockCounts begins(receives.size());
    std::exclusive_scan(receives.begin(), receives.end(), begins.begin(), parts_.begin(rank()));
    const BlockCounts positions = exchange_counts(place_, begins);
    std::vector<Run> runs;
    std::uint64_t from = 0;
    for (std::size_t part = 0; part < sends.size(); ++part) {
      if (sends[part] > 0) runs.push_back({from, sends[part], positions[part]});
      from += sends[part];
    }
    collective_try(place_, [&] { sorted_.emplace(rank(), width(), parts_, task_.target.value_or(parts_)); });
    deliver(place_, place_.block(outgoing, 0), width(), runs, parts_, sorted_->data());
    clock_.step_over(SampleStep::exchange);
    const std::uint64_t count = parts_.count(rank());
    task_.sort_locally(sorted_->data(), count, own_part(outgoing, count));
    clock_.step_over(SampleStep::local_sort);
  }

  SortedRecords rebalance() {
    PrivateMemory records = std::move(*sorted_).rebalance(place_, outgoing);
    clock_.step_over(SampleStep::balance);
    return {std::move(records), task_.target.value_or(parts_), imbalance_of(parts_)};
  }

  HostSharedContext& place_;
  SortTask task_;
  const Sampling& sampling_;
  StepClock& clock_;
  std::uint64_t own_;  ///< elements of this rank
  Layout parts_;
  std::optional<SortedPart> sorted_;  ///< once its size is known
};

}  // namespace

SortedRecords sample_sort(HostSharedContext& place, SortTask task, const Sampling& sampling, StepClock& clock) {
  return SampleSort(place, std::move(task), sampling, clock).run();
}

int sample_step_count(const Sampling& sampling) {
  return static_cast<int>(std::size(sample_steps)) + (sampling.regular ? 1 : 0);
}

}  // namespace hocket::sort
