#include "site.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "api.hpp"
#include "obstacles.hpp"
#include "plan_store.hpp"
#include "settings.hpp"

namespace hocket::runtime {
namespace {

struct Where {
  std::int64_t node;
  std::uint64_t settings;    ///< digest of plan and settings
  std::uint64_t complaints;  ///< digest of what is wrong with the environment
};

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
  const PlanStore& store = PlanStore::instance();
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  const Where mine{store.node(), store.digest(), settings().complaints_digest};
  std::vector<Where> all(static_cast<std::size_t>(size));
  check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm));
  std::vector<std::uint64_t> complaints;
  for (const Where& where : all) complaints.push_back(where.complaints);
  tell_complaints(comm, complaints);
  if (std::ranges::any_of(all, [&](const Where& where) { return where.settings != all.front().settings; }))
    throw ApiError{HOCKET_ERR_NETWORK, "ranks differ in their plan or HOCKET_ settings"};
  std::vector<Node> nodes(all.size());
  if (settings().plan_paths.empty()) {
    std::iota(nodes.begin(), nodes.end(), Node{0});
    return site(crossbar(static_cast<std::uint32_t>(size)), std::move(nodes), 0);
  }
  agree(comm, {store.node() < 0 ? HOCKET_ERR_NETWORK : HOCKET_SUCCESS, why_lost(store.placement())});
  std::ranges::transform(all, nodes.begin(), [](const Where& where) { return static_cast<Node>(where.node); });
  return site(store.network(), std::move(nodes), store.network_digest());
}

}  // namespace hocket::runtime
