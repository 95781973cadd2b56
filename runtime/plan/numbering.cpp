#include "runtime/plan/numbering.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hocket::runtime {

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
    route.clear();
    network.append_route(network.first_rank(nodes[i]), network.first_rank(nodes[(i + 1) % nodes.size()]), route);
    for (const Channel channel : route)
      if (++used[channel] > network.capacity(channel)) return true;
  }
  return false;
}

}  // namespace hocket::runtime
