#pragma once
/// Ways of this host's connections, as found before the job and as they are.
#include <cstdint>
#include <string>
#include <vector>

#include "core/network/network.hpp"

namespace hocket::runtime {

/// A connection from host to host that takes another way than it was found to: by which switch.
struct ChangedWay {
  Node from = 0, to = 0, by = 0;
};

struct SeenWays {
  /// Connections that a host asks about, at most: the first to those after it.
  static constexpr std::size_t most_asked = 32;

  std::string found = {};  ///< when the ways were found; empty: there is no table
  std::size_t asked = 0, answered = 0;
  std::vector<ChangedWay> changed = {};
};

/// Asks routers for the ways that connections of this host's table (HOCKET_PATHS_TABLE) take, each by its first port
/// that is free. A fraction of a second. Must precede all connections of the program: ports in use cannot be asked for.
/// Never throws: what cannot be read is not asked for.
[[nodiscard]] SeenWays look_at_ways(const std::string& table);

/// The routes of these connections in the network of the table. Throws InputError for what the table does not know.
[[nodiscard]] std::vector<RouteSpec> routes_of(const std::string& table, const std::vector<ChangedWay>& changed);

}  // namespace hocket::runtime
