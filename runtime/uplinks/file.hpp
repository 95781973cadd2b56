#pragma once
/// The file in which measured widths are kept, so that the next run plans with them from the start.
#include <string>

#include "core/network/network.hpp"
#include "runtime/uplinks/measure.hpp"

namespace hocket::runtime {

/// Writes what this process has measured so far, in all its communicators, to HOCKET_SWITCH_LINKS. Returns what to say
/// of it:
/// "; kept in PATH", or that it cannot be kept. Called by one rank.
[[nodiscard]] std::string kept(const Network& network, const SwitchLinkMeasurement& found);

}  // namespace hocket::runtime
