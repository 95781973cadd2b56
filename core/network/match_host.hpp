#pragma once
/// Identification of the host that a machine is, by its names.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

struct HostMatch {
  std::vector<Node> hosts;  ///< one: this is it; none: an unknown host; several: it may be any of them
  std::size_t name = 0;     ///< which name says so
};

/// `names`: of one machine; the first that the network knows counts. It means the host of this very name, else those
/// that have it in common up to the first dot. Addresses are no such names: 10.0.0.1 is not 10.0.0.2.
[[nodiscard]] HostMatch match_host(const Network& network, std::span<const std::string> names);

}  // namespace hocket
