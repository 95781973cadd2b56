#include "runtime/c_api/table.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "runtime/agreement/agreement.hpp"
#include "runtime/agreement/places.hpp"
#include "runtime/buffers/traffic.hpp"
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

template <class Buffers>
PeerMessages messages(const Partners& partners, Buffers buffers) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const auto length = static_cast<std::size_t>(partners.bytes[i]);
    auto* at = length > 0 ? const_cast<void*>(buffers[i]) : nullptr;  // send buffers are only read
    spans.push_back({static_cast<std::byte*>(at), length});
  }
  return {partners.ranks, spans};
}

Planned planned(const PhaseTable& table) {
  Demand demand{Pattern::irregular, table.ranks};
  return {table.program, std::move(demand), table.phases, table.window};
}

/// Throws unless there is a buffer for each message that is not empty.
void check_buffers(const Partners& partners, const void* const* buffers, const char* what) {
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners.bytes[i] == 0) continue;
    need(buffers, what);
    if (buffers[i] == nullptr)
      throw ApiError{HOCKET_ERR_ARGUMENT, std::string(what) + "[" + std::to_string(i) + "], " +
                                              std::to_string(partners.bytes[i]) + " bytes, is NULL"};
  }
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
  const int size = size_of(comm);
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

Traffic NestedExchange::pack() {
  const PeerMessages sends = messages(table_.targets, send_), receives = messages(table_.sources, receive_);
  copy(sends.of(table_.rank), receives.of(table_.rank));
  return vector_traffic(table_.program, sends, receives);
}

}  // namespace hocket::runtime

using namespace hocket::runtime;

hocket_table::hocket_table(PrivateComm own, PhaseTable made)
    : comm(std::move(own)),
      phases(std::move(made)),
      rows(rows_of(phases)),
      exchange(comm.get(), planned(phases), settings()),
      served(std::make_shared<ManagedRequest>()) {
  auto operation = std::make_unique<NestedExchange>(exchange, phases);
  operation_ = operation.get();
  served->operation = std::move(operation);
  served->comm = comm.get();
}

void hocket_table::start(const void* const* send, void* const* receive) {
  if (under_way())
    throw ApiError{HOCKET_ERR_BUSY, "an exchange of this table is under way; call hocket_exchange_wait first"};
  check_buffers(phases.targets, send, "send_buffers");
  check_buffers(phases.sources, receive, "receive_buffers");
  operation_->use(send, receive);
  Requests::instance().start(served);
}

bool hocket_table::test() {
  if (!under_way()) return true;
  (void)Requests::instance().progress();
  if (!served->complete()) return false;
  collect();
  return true;
}

void hocket_table::wait() {
  if (!under_way()) return;
  wait_for([&] {
    const bool moved = Requests::instance().progress();
    return served->complete() ? Progress::over : moved ? Progress::some : Progress::none;
  });
  collect();
}

void hocket_table::collect() { check(Requests::instance().collect(*served, nullptr)); }
