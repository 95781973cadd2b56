#pragma once
/// Transfers that a transfer sets free, for the simulator.
#include "core/schedule/grouped.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket::model {

/// The waits the other way round. Throws InputError if they do not fit the schedule or point forward.
[[nodiscard]] Grouped released_by(const Schedule& schedule, const Waits& waits);

/// A transfer that forwards a piece follows the earlier ones that brought any part of it.
[[nodiscard]] Grouped forwarded_after(const Schedule& schedule);

/// Each transfer that a rank receives comes before all sends of the rank's next phase with sends.
[[nodiscard]] Grouped sent_after(const Schedule& schedule);

}  // namespace hocket::model
