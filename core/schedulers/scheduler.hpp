#pragma once
/// The registry of schedulers. Adding one means one file, one declaration in registry.cpp and one
/// line in its table.
#include <cstdint>
#include <span>
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

/// What a schedule may be fitted to besides network and demand.
struct SchedulerOptions {
  double startup = 0;                       ///< seconds a message costs besides its transfer (t_s, α)
  std::uint64_t seed = 1;                   ///< of schedulers that draw lots: same seed, same schedule
  const ChannelSharing* sharing = nullptr;  ///< of the demand's messages, if the caller knows it already
};

struct Scheduler {
  Pattern pattern;
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper and section, or the library that uses it
  bool contention_free;     ///< its schedules pass the verifier wherever `why_not` is empty
  PortModel ports;          ///< the port model that they keep
  /// Empty if the scheduler serves this network and demand, else the reason why not.
  std::string_view (*why_not)(const Network&, const Demand&);
  Schedule (*make)(const Network&, const Demand&, const SchedulerOptions&);
  std::string_view guarantee = {};  ///< what its schedules are proven to reach; empty: nothing beyond the above
};

[[nodiscard]] std::span<const Scheduler> schedulers();

/// Throws InputError that lists the known names. Reductions are scheduled as all-gathers.
[[nodiscard]] const Scheduler& find_scheduler(std::string_view name, Pattern pattern = Pattern::all_to_all);

}  // namespace hocket
