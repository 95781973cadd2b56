#include "runtime/c_api/table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/agreement/places.hpp"
#include "runtime/buffers/traffic.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/uplinks/widths.hpp"

namespace hocket::runtime {
namespace {

constexpr std::uint64_t magic = 0x0a1a42544b434f48;  // "HOCKTB\x1a\n"
constexpr std::uint64_t version = 3;
constexpr std::uint64_t longest_entry = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t most_ranks = std::numeric_limits<int>::max();
constexpr std::uint64_t most_phases = 1 << 22;  // a row each

void write(ByteWriter& out, const Partners& partners) {
  out.number(partners.size());
  for (std::size_t i = 0; i < partners.size(); ++i) {
    out.number(static_cast<std::uint64_t>(partners.ranks[i]));
    out.number(static_cast<std::uint64_t>(partners.bytes[i]));
  }
}

Bytes encode_part(const PhaseTable& table) {
  ByteWriter out;
  out.number(table.ranks);
  out.number(table.rank);
  out.text(table.algorithm);
  out.fixed(table.seed);
  out.number(table.phases);
  out.number(table.window);
  out.real(table.lockstep_seconds);
  out.real(table.bound_seconds);
  out.fixed(table.place);
  write(out, table.targets);
  write(out, table.sources);
  const Bytes row = encode_program(table.program, false);
  out.number(row.size());
  out.append(row);
  return out.take();
}

Partners read_partners(ByteReader& in, std::uint32_t ranks) {
  Partners found;
  for (std::uint64_t left = in.count(2); left > 0; --left) {
    const Rank partner = in.number32(ranks - 1);
    found.add(static_cast<int>(partner), static_cast<std::int64_t>(in.number(longest_entry)));
  }
  return found;
}

PhaseTable decode_part(ByteView bytes) {
  ByteReader in(bytes);
  PhaseTable table;
  table.ranks = in.number32(most_ranks);
  table.rank = in.number32();
  if (table.rank >= table.ranks) throw PlanProblem("it is of a rank that does not exist");
  table.algorithm = in.text();
  table.seed = in.fixed();
  table.phases = in.number(most_phases);
  table.window = in.number32();
  table.lockstep_seconds = in.real();
  table.bound_seconds = in.real();
  table.place = in.fixed();
  table.targets = read_partners(in, table.ranks);
  table.sources = read_partners(in, table.ranks);
  const Demand any{Pattern::irregular, table.ranks, longest_entry};
  table.program = decode_program(in.view(in.number()), {any, table.phases, false});
  if (!in.empty()) throw PlanProblem("there is more in the file than a table");
  return table;
}

/// Bytes that the rank keeps.
std::int64_t kept(const PhaseTable& table, const Partners& partners) {
  const auto place = std::ranges::find(partners.ranks, static_cast<int>(table.rank));
  return place == partners.ranks.end() ? 0 : partners.bytes[static_cast<std::size_t>(place - partners.ranks.begin())];
}

}  // namespace

std::vector<hocket_phase> rows_of(const PhaseTable& table) {
  std::vector<hocket_phase> rows;
  auto send = table.program.sends.begin();
  auto receive = table.program.receives.begin();
  for (std::uint64_t phase = 0; phase < table.phases; ++phase) {
    const auto in_phase = [phase](const auto& op, const auto& ops) { return op != ops.end() && op->phase == phase; };
    bool first = true;
    while (first || in_phase(send, table.program.sends) || in_phase(receive, table.program.receives)) {
      hocket_phase row{static_cast<std::int64_t>(phase), -1, -1, 0, 0, 0, 0};
      if (in_phase(send, table.program.sends)) {
        row.send_to = static_cast<int>(send->dst);
        row.send_length = static_cast<std::int64_t>(send->pieces.front().length);
        row.send_offset = static_cast<std::int64_t>(send->pieces.front().offset);
        ++send;
      }
      if (in_phase(receive, table.program.receives)) {
        row.receive_from = static_cast<int>(receive->src);
        row.receive_length = static_cast<std::int64_t>(receive->pieces.front().length);
        row.receive_offset = static_cast<std::int64_t>(receive->pieces.front().offset);
        ++receive;
      }
      rows.push_back(row);
      first = false;
    }
  }
  return rows;
}

std::uint64_t part_digest(const PhaseTable& table) { return checksum(encode_part(table)); }

void check_partners(const Partners& partners, std::uint32_t ranks) {
  std::vector<int> sorted = partners.ranks;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw InputError("rank " + std::to_string(*twice) + " is given twice as a target");
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners.ranks[i] < 0 || static_cast<std::uint32_t>(partners.ranks[i]) >= ranks)
      throw InputError("target " + std::to_string(partners.ranks[i]) + " is not a rank: there are " +
                       std::to_string(ranks) + ", from 0");
    if (partners.bytes[i] < 0)
      throw InputError("the message to rank " + std::to_string(partners.ranks[i]) + " has " +
                       std::to_string(partners.bytes[i]) + " bytes");
  }
}

void check_table(const PhaseTable& table) {
  if (table.phases > most_phases) throw InputError("a table has at most " + std::to_string(most_phases) + " phases");
  if (table.window == 0) throw InputError("the table has a window of 0");
  check_partners(table.targets, table.ranks);
  check_partners(table.sources, table.ranks);
  if (kept(table, table.targets) != kept(table, table.sources))
    throw InputError("the rank does not get what it sends to itself");
  std::vector<Message> messages;
  for (std::size_t i = 0; i < table.targets.size(); ++i)
    messages.push_back(
        {table.rank, static_cast<Rank>(table.targets.ranks[i]), static_cast<std::uint64_t>(table.targets.bytes[i])});
  for (std::size_t i = 0; i < table.sources.size(); ++i)
    messages.push_back(
        {static_cast<Rank>(table.sources.ranks[i]), table.rank, static_cast<std::uint64_t>(table.sources.bytes[i])});
  check_program({table.program, irregular(TrafficMatrix(table.ranks, std::move(messages))), table.phases}, table.rank);
  const auto one_piece = [](const auto& op) { return op.pieces.size() == 1 && op.pieces.front().length > 0; };
  if (!std::ranges::all_of(table.program.sends, one_piece) || !std::ranges::all_of(table.program.receives, one_piece))
    throw InputError("the table has sends or receives that are not one piece");
  for (const auto& receive : table.program.receives)
    for (const Release& release : receive.releases)
      if (release.rank == table.rank && release.send >= table.program.sends.size())
        throw InputError("the table releases a send that does not exist");
}

Bytes encode_table(const PhaseTable& table) {
  ByteWriter body;
  body.fixed(table.whole);
  body.append(encode_part(table));
  ByteWriter out;
  out.fixed(magic);
  out.fixed(version);
  out.fixed(checksum(body.bytes()));
  out.append(body.bytes());
  return out.take();
}

PhaseTable decode_table(ByteView bytes) {
  if (bytes.size() < 8 || ByteReader(bytes).fixed() != magic) throw PlanProblem("this is not a scheduling table");
  ByteReader in(bytes.subspan(8));
  if (const std::uint64_t found = in.fixed(); found != version)
    throw PlanProblem("table version " + std::to_string(found) + ", this Hocket reads version " +
                      std::to_string(version));
  const std::uint64_t sum = in.fixed();
  const ByteView body = bytes.size() >= 24 ? bytes.subspan(24) : ByteView{};
  if (checksum(body) != sum) throw PlanProblem("its checksum is wrong");
  const std::uint64_t whole = ByteReader(body).fixed();
  PhaseTable table = decode_part(body.subspan(8));
  table.whole = whole;
  return table;
}

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
  return Network::with_routes(std::move(spec));
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
