#pragma once
/// The host of the network on which this process runs.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/network/network.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

struct Placement {
  std::int32_t node = -1;    ///< node of the network, -1 if unknown
  std::string problem = {};  ///< reason why `node` is unknown, and a remedy; empty if only `unknown_host` is the reason
  std::string unknown_host = {};  ///< the name of this host, which the network does not know
  /// Digest of the processor name where hosts go by names, else 0: all ranks of a host must have the same.
  std::uint64_t machine = 0;
  std::uint64_t processor = 0;  ///< digest of the processor name, always: hosts that share it are one machine
};

/// Locates this process according to Settings::placement. Empty: by processor name or, if the network lacks it, by
/// Slurm's name of the host. "slurm": by Slurm's name only. "order": by the launcher's rank. Else a file that names the
/// host of rank i in line i.
[[nodiscard]] Placement place_this_process(const Network& network, const Settings& settings);

/// Advice appended to messages about hosts that the network does not list.
inline constexpr std::string_view other_placements = "place ranks by 'hocket run --placement slurm|order|FILE'";

}  // namespace hocket::runtime
