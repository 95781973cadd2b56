#include "runtime/c_api/site.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "runtime/agreement/agreement.hpp"
#include "runtime/agreement/places.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/uplinks/widths.hpp"

namespace hocket::runtime {
namespace {

/// All hosts on one switch. The rate cancels out of everything that is asked of this network.
Network crossbar(std::uint32_t ranks) {
  NetworkSpec spec;
  for (std::uint32_t host = 0; host < ranks; ++host) {
    spec.names.push_back("rank" + std::to_string(host));
    spec.ranks.push_back(1);
    spec.links.push_back({host, ranks, 1e9, 0});
  }
  spec.names.emplace_back("switch");
  spec.ranks.push_back(0);
  return Network(std::move(spec));
}

Site site(const Network& network, std::vector<Node> nodes, std::uint64_t network_digest) {
  ByteWriter out;
  out.fixed(network_digest);
  for (const Node node : nodes) out.number(node);
  Numbering numbering = number_ranks(network, nodes);
  Network part = network.restricted_to(numbering.ranks_per_node);
  return {std::move(part), std::move(numbering), checksum(out.bytes())};
}

}  // namespace

Site site_of(MPI_Comm comm) {
  Places places = agree_on_places(comm);
  if (!places.obstacle.empty()) throw ApiError{HOCKET_ERR_NETWORK, places.obstacle};
  if (!places.nodes.empty()) {
    const PlanStore& store = PlanStore::instance();
    Site found = site(store.network(), std::move(places.nodes), store.network_digest());
    found.machines_differ = places.machines_differ;
    return found;
  }
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  std::vector<Node> nodes(static_cast<std::size_t>(size));
  std::iota(nodes.begin(), nodes.end(), Node{0});
  return site(crossbar(static_cast<std::uint32_t>(size)), std::move(nodes), 0);
}

Network network_to_plan(MPI_Comm own, const Site& site) {
  if (settings().plan_paths.empty() || settings().switch_links.empty()) return site.network;
  const SettledNetwork settled =
      settle_network(own, PlanStore::instance().network(), site.numbering, site.machines_differ);
  if (!settled.problem.empty()) warn(own, 0, settled.problem + "; the schedule rests on the assumed width");
  return settled.measured ? settled.measured->restricted_to(site.numbering.ranks_per_node) : site.network;
}

}  // namespace hocket::runtime
