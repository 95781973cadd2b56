#pragma once
/// Transfers that a transfer sets free, for the simulator.
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket::model {

/// The waits the other way round. Throws InputError if they do not fit the schedule or point forward.
[[nodiscard]] Grouped released_by(const Schedule& schedule, const Waits& waits);

/// A transfer that forwards a piece follows the earlier ones that brought any part of it.
[[nodiscard]] Grouped forwarded_after(const Schedule& schedule);

/// Each transfer that a rank receives comes before all sends of the rank's next phase with sends.
[[nodiscard]] Grouped sent_after(const Schedule& schedule);

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

}  // namespace hocket::model

namespace hocket {

/// Per listed channel the transfers whose routes contain it, in schedule order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> transfers_on(const Network& network, const Schedule& schedule,
                                                                   std::span<const Channel> channels);

/// Most numbers in one call (512 MiB); more are refused.
inline constexpr std::uint64_t max_channel_uses = std::uint64_t{1} << 27;

/// Counts the transfers of the phases [first, last) on each channel, phase by phase: entries [(p - first) · channels,
/// (p - first + 1) · channels) are those of phase p. Throws InputError for a rank that the network does not have, for
/// phases that the schedule does not have, and for more than `max_channel_uses` numbers.
[[nodiscard]] std::vector<std::uint32_t> channel_use(const Network& network, const Schedule& schedule,
                                                     std::uint64_t first, std::uint64_t last);

}  // namespace hocket
