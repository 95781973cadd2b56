#pragma once
/// Which transfers a transfer sets free, for the simulator.
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/schedule/schedule.hpp"
#include "hocket/schedule/waits.hpp"

namespace hocket::model {

/// Lists of transfers, one list per transfer, in one block of memory.
struct Successors {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> next;

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint64_t transfer) const {
    if (begin.empty()) return {};
    return {next.data() + begin[transfer], next.data() + begin[transfer + 1]};
  }
};

/// The waits the other way round. Throws InputError if they do not fit the schedule or point forward.
[[nodiscard]] Successors released_by(const Schedule& schedule, const Waits& waits);

/// A transfer that forwards a piece follows the earlier ones that brought any part of it.
[[nodiscard]] Successors forwarded_after(const Schedule& schedule);

/// What a rank sends in its next phase follows each transfer that it receives.
[[nodiscard]] Successors sent_after(const Schedule& schedule);

}  // namespace hocket::model
