#pragma once
/// Parts shared by the simulators: the sends of each rank in order, checks, and the result to be filled in.
#include <span>
#include <vector>

#include "core/model/simulation.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::model {

/// Throws InputError for a schedule that is not for this network, or too long.
void check_fits(const Network& network, const Schedule& schedule);

/// The transfers of each rank in the order of the schedule, in one block of memory.
class Sends {
 public:
  explicit Sends(const Schedule& schedule);
  [[nodiscard]] std::span<const std::uint32_t> of(Rank rank) const {
    return {transfers_.data() + begin_[rank], transfers_.data() + begin_[rank + 1]};
  }

 private:
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> transfers_;
};

/// A result before anything was sent: the phases of the transfers, all times 0.
[[nodiscard]] Simulation unsent(const Schedule& schedule);

/// Fills in the times of the phases and of the whole from those of the transfers.
void sum_up(const Schedule& schedule, Simulation& result);

}  // namespace hocket::model
