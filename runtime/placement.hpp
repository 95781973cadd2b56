#pragma once
/// On which host of the network this process runs.
#include <cstdint>
#include <optional>
#include <string>

#include "hocket/network/network.hpp"
#include "settings.hpp"

namespace hocket::runtime {

struct Placement {
  std::int32_t node = -1;  ///< node of the network, -1 if unknown
  std::string problem;     ///< why it is unknown, and what to do
};

/// By processor name (exact, or equal up to the first dot), by the order of world ranks, or by a
/// file that names the host of world rank i in line i.
[[nodiscard]] Placement place_this_process(const Network& network, const Settings& settings);

}  // namespace hocket::runtime
