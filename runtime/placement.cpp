#include "placement.hpp"

#include <mpi.h>

#include <fstream>

#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

std::string short_name(const std::string& name) { return name.substr(0, name.find('.')); }

std::int32_t host_named(const Network& network, const std::string& name) {
  std::int32_t by_short_name = -1;
  for (const Node host : network.hosts()) {
    if (network.name(host) == name) return static_cast<std::int32_t>(host);
    if (short_name(network.name(host)) == short_name(name)) by_short_name = static_cast<std::int32_t>(host);
  }
  return by_short_name;
}

std::string processor_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  check(PMPI_Get_processor_name(name, &length));
  return {name, static_cast<std::size_t>(length)};
}

Placement by_order(const Network& network, int world_rank) {
  if (static_cast<std::uint32_t>(world_rank) < network.ranks())
    return {static_cast<std::int32_t>(network.host_of(static_cast<Rank>(world_rank))), ""};
  return {-1, "rank " + std::to_string(world_rank) + " has no host: the network has " +
                  std::to_string(network.ranks()) + " ranks; start fewer ranks or give hosts more of them"};
}

Placement by_file(const Network& network, const std::string& path, int world_rank) {
  std::ifstream file(path);
  if (!file) return {-1, "cannot read the placement file '" + path + "' (HOCKET_PLACEMENT)"};
  std::string line;
  for (int i = 0; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    line.erase(0, line.find_first_not_of(" \t\r"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    if (i++ < world_rank) continue;
    const std::int32_t node = host_named(network, line);
    if (node >= 0) return {node, ""};
    return {-1, path + ": host '" + line + "' of rank " + std::to_string(world_rank) + " is not in the network file"};
  }
  return {-1, path + ": no line for rank " + std::to_string(world_rank) + "; write one host name per rank"};
}

}  // namespace

Placement place_this_process(const Network& network, const Settings& settings) {
  int world_rank = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
  if (settings.placement == "order") return by_order(network, world_rank);
  if (!settings.placement.empty()) return by_file(network, settings.placement, world_rank);
  const std::string name = processor_name();
  const std::int32_t node = host_named(network, name);
  if (node >= 0) return {node, ""};
  return {-1, "host '" + name +
                  "' is not in the network file; add it, or place ranks by 'hocket run --placement order|FILE'"};
}

}  // namespace hocket::runtime
