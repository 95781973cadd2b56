#include "runtime/plan/placement.hpp"

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <utility>

#include "core/plan/binary.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"

namespace hocket::runtime {
namespace {

std::uint64_t digest_of(std::string_view name) {
  ByteWriter out;
  out.text(name);
  return checksum(out.bytes());
}

std::string processor_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  check(PMPI_Get_processor_name(name, &length));
  return {name, static_cast<std::size_t>(length)};
}

/// `whose` says in a message what has each of the names.
Placement by_names(const Network& network, const std::vector<std::string>& names,
                   const std::vector<std::string>& whose) {
  const HostMatch match = match_host(network, names);
  if (match.hosts.size() == 1) return {.node = static_cast<std::int32_t>(match.hosts.front())};
  if (match.hosts.empty()) return {.unknown_host = shown(names.front())};
  return {.problem = whose[match.name] + " '" + shown(names[match.name]) + "' may be '" +
                     shown(network.name(match.hosts[0])) + "' or '" + shown(network.name(match.hosts[1])) +
                     "' of the network file; write the whole name there, or use 'hocket run --placement FILE'"};
}

constexpr const char* of_slurm = "SLURMD_NODENAME";

std::optional<std::string> slurm_name() {
  const char* name = std::getenv(of_slurm);
  if (name == nullptr || *name == 0) return std::nullopt;
  return name;
}

Placement by_slurm(const Network& network) {
  const std::optional<std::string> name = slurm_name();
  if (!name)
    return {.problem = std::string(of_slurm) +
                       " is not set (HOCKET_PLACEMENT=slurm); start the program with srun, or leave '--placement "
                       "slurm' out"};
  return by_names(network, {*name}, {of_slurm});
}

Placement by_processor(const Network& network, const std::string& name) {
  std::vector<std::string> names{name};
  if (const std::optional<std::string> other = slurm_name()) names.push_back(*other);
  return by_names(network, names, {"the processor name", of_slurm});
}

Placement by_order(const Network& network, int rank) {
  if (static_cast<std::uint32_t>(rank) < network.ranks())
    return {.node = static_cast<std::int32_t>(network.host_of(static_cast<Rank>(rank)))};
  return {.problem = "rank " + std::to_string(rank) + " has no host: the network has " +
                     std::to_string(network.ranks()) + " ranks; start fewer ranks or give hosts more of them"};
}

/// The name in a line of the file; empty if there is none.
std::string name_in(std::string line) {
  line = line.substr(0, line.find('#'));
  line.erase(0, line.find_first_not_of(" \t\r"));
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line;
}

Placement by_file(const Network& network, const std::string& path, int rank) {
  constexpr std::uint64_t most_bytes = 1 << 28;  // a million ranks with names of 255 letters
  const std::string file_name = shown(path);
  const std::optional<std::uint64_t> bytes = bytes_of_file(path);
  std::ifstream file;
  if (bytes) file.open(path);
  if (!file.is_open()) return {.problem = "cannot read the placement file '" + file_name + "' (HOCKET_PLACEMENT)"};
  if (*bytes > most_bytes)
    return {.problem = file_name + ": too large for a placement file; write one host name per rank"};
  std::string line;
  for (int i = 0; std::getline(file, line);) {
    const std::string name = name_in(std::move(line));
    if (name.empty() || i++ < rank) continue;
    const std::string whose = file_name + ": host";
    Placement placement = by_names(network, {name}, {whose});
    if (!placement.unknown_host.empty())
      placement = {.problem = whose + " '" + shown(name) + "' of rank " + std::to_string(rank) +
                              " is not in the network file; write names as they stand there"};
    return placement;
  }
  return {.problem = file_name + ": no line for rank " + std::to_string(rank) + "; write one host name per rank"};
}

Placement place(const Network& network, const Settings& settings, const std::string& name) {
  const bool by_slurm_only = settings.placement == "slurm";
  if (settings.placement.empty() || by_slurm_only) {
    Placement placement = by_slurm_only ? by_slurm(network) : by_processor(network, name);
    placement.machine = digest_of(name);
    return placement;
  }
  const std::optional<int> rank = launched_rank();
  if (!rank)
    return {
        .problem =
            "spawned processes have no place in a file or in the launcher's order; use 'hocket run --placement names'"};
  return settings.placement == "order" ? by_order(network, *rank) : by_file(network, settings.placement, *rank);
}

}  // namespace

Placement place_this_process(const Network& network, const Settings& settings) {
  const std::string name = processor_name();
  Placement placement = place(network, settings, name);
  placement.processor = digest_of(name);
  return placement;
}

Numbering number_ranks(const Network& network, std::span<const Node> nodes) {
  Numbering numbering;
  numbering.ranks_per_node.assign(network.nodes(), 0);
  for (const Node node : nodes) ++numbering.ranks_per_node[node];
  numbering.comm_rank.resize(nodes.size());
  std::iota(numbering.comm_rank.begin(), numbering.comm_rank.end(), 0);
  std::ranges::stable_sort(numbering.comm_rank, {}, [&](int rank) { return nodes[static_cast<std::size_t>(rank)]; });
  numbering.network_rank.resize(nodes.size());
  for (std::size_t place = 0; place < nodes.size(); ++place)
    numbering.network_rank[static_cast<std::size_t>(numbering.comm_rank[place])] = static_cast<Rank>(place);
  return numbering;
}

void translate(Planned& planned, const Numbering& numbering) {
  const auto to_comm = [&](Rank rank) { return static_cast<Rank>(numbering.comm_rank[rank]); };
  const auto translate_pieces = [&](LeanVector<Piece>& pieces) {
    for (Piece& piece : pieces) {
      piece.origin = to_comm(piece.origin);
      if (piece.target != everyone) piece.target = to_comm(piece.target);
    }
  };
  for (auto& send : planned.program.sends) {
    send.dst = to_comm(send.dst);
    translate_pieces(send.pieces);
    for (Rank& releaser : send.tokens) releaser = to_comm(releaser);
  }
  for (auto& receive : planned.program.receives) {
    receive.src = to_comm(receive.src);
    translate_pieces(receive.pieces);
    for (Release& release : receive.releases) release.rank = to_comm(release.rank);
  }
  if (!planned.demand.contributions.empty()) {
    std::vector<std::uint64_t> contributions(numbering.network_rank.size());
    for (Rank rank = 0; rank < planned.demand.contributions.size(); ++rank)
      contributions[to_comm(rank)] = planned.demand.contributions[rank];
    planned.demand.contributions = std::move(contributions);
  }
  std::vector<Message> messages = planned.demand.matrix.list();
  for (Message& message : messages) message = {to_comm(message.src), to_comm(message.dst), message.bytes};
  planned.demand.matrix = {planned.demand.matrix.ranks(), std::move(messages)};
}

TrafficMatrix to_network(const TrafficMatrix& matrix, const Numbering& numbering) {
  std::vector<Message> messages = matrix.list();
  for (Message& message : messages) {
    message.src = numbering.network_rank[message.src];
    message.dst = numbering.network_rank[message.dst];
  }
  return {matrix.ranks(), std::move(messages)};
}

bool neighbours_collide(const Network& network, const std::vector<Node>& nodes) {
  std::vector<std::uint32_t> used(network.channels(), 0);
  std::vector<Channel> route;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Rank here = network.first_rank(nodes[i]), next = network.first_rank(nodes[(i + 1) % nodes.size()]);
    for (const Channel channel : network.find_route(here, next, route))
      if (++used[channel] > network.capacity(channel)) return true;
  }
  return false;
}

}  // namespace hocket::runtime
