#include "team.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "attached.hpp"
#include "entry.hpp"
#include "gpu.hpp"
#include "hocket/environment/variables.hpp"
#include "obstacles.hpp"
#include "plan_store.hpp"
#include "requests.hpp"
#include "trunk_widths.hpp"
#include "vector_exchanges.hpp"
#include "world.hpp"

namespace hocket::runtime {
namespace {

/// What every rank tells the others before they decide together.
struct Vote {
  std::int64_t node;         ///< where the rank is, -1 if unknown
  std::uint64_t machine;     ///< Placement::machine
  std::uint64_t processor;   ///< Placement::processor
  std::uint64_t settings;    ///< digest of plan and settings: they must agree everywhere
  std::uint64_t complaints;  ///< Settings::complaints_digest
  std::uint64_t gpu;         ///< 1: buffers may be in a GPU's memory
};

std::vector<Vote> exchange_votes(MPI_Comm comm, int size) {
  const PlanStore& store = PlanStore::instance();
  const Vote mine{
      store.node(),   store.placement().machine,    store.placement().processor,
      store.digest(), settings().complaints_digest, !settings().host_buffers && gpu_runtime_loaded() ? 1U : 0U};
  std::vector<Vote> votes(static_cast<std::size_t>(size));
  check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, votes.data(), sizeof mine, MPI_BYTE, comm));
  return votes;
}

const std::string consequence = "the MPI library serves this communicator";

/// What two ranks of different machines that go by the name of one host have; nothing if there are none.
std::optional<Node> torn_host(std::vector<Vote> votes) {
  std::ranges::sort(votes, {}, [](const Vote& vote) { return std::pair(vote.node, vote.machine); });
  const auto torn = std::ranges::adjacent_find(
      votes, [](const Vote& a, const Vote& b) { return a.node == b.node && a.machine != b.machine; });
  if (torn == votes.end()) return std::nullopt;
  return static_cast<Node>(torn->node);
}

/// Whether no two hosts are one machine, as they are in tests and demonstrations: there is no wire between those.
bool machines_differ(std::vector<Vote> votes) {
  std::ranges::sort(votes, {}, [](const Vote& vote) { return std::pair(vote.processor, vote.node); });
  return std::ranges::adjacent_find(votes, [](const Vote& a, const Vote& b) {
           return a.processor == b.processor && a.node != b.node;
         }) == votes.end();
}

/// Whether messages from every rank to the next one share a channel.
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

/// Whether some rank was started apart from the others: nobody knows whether it has this runtime, too.
bool joins_worlds(MPI_Comm comm) { return in_world() && std::ranges::count(world_ranks(comm), MPI_UNDEFINED) > 0; }

/// Grows when a team ends: its communicator's handle may come again.
std::atomic<std::uint64_t> ended = 0;

}  // namespace

Team* Team::find(MPI_Comm comm) {
  struct Last {
    MPI_Comm comm{};  // zero bits: no communicator of any MPI
    std::uint64_t ended = 0;
    Team* team = nullptr;
  };
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Last last;
  const std::uint64_t now = ended.load(std::memory_order_acquire);
  if (last.comm == comm && last.ended == now) return last.team;
  if (!plain_intracommunicator(comm)) return nullptr;
  Team* const team = Attached<Team>::find(comm);
  if (team != nullptr) last = {comm, now, team};
  return team;
}

Team* Team::of_any(MPI_Comm comm) {
  if (Team* const team = find(comm)) return team;
  if (!plain_intracommunicator(comm)) return nullptr;
  Requests::instance().let_go();
  return &Attached<Team>::attach(comm, std::unique_ptr<Team>(new Team(comm)));
}

void Team::leave_alone(MPI_Comm comm) {
  Requests::instance().let_go();
  if (Team* const team = find(comm))
    team->left_alone_ = true;
  else
    Attached<Team>::attach(comm, std::unique_ptr<Team>(new Team(comm, true)));
}

Team::~Team() { ++ended; }

Team::Team(MPI_Comm comm, bool left_alone) : left_alone_(left_alone) {
  check(PMPI_Comm_rank(comm, &rank_));
  check(PMPI_Comm_size(comm, &size_));
  if (left_alone_ || size_ < 3 || joins_worlds(comm)) return;
  const std::vector<Vote> votes = exchange_votes(comm, size_);

  // From here on every rank knows the same and decides the same.
  std::vector<std::uint64_t> complaints;
  for (const Vote& vote : votes) complaints.push_back(vote.complaints);
  tell_complaints(comm, complaints);
  if (std::ranges::any_of(votes, [](const Vote& vote) { return vote.node < 0; })) {
    warn(comm, 0, lost_ranks(comm, PlanStore::instance().placement()) + "; " + consequence);
    return;
  }
  if (std::ranges::any_of(votes, [&](const Vote& vote) { return vote.settings != votes[0].settings; })) {
    warn(comm, 0, differing_settings(comm) + "; " + consequence);
    return;
  }
  if (std::ranges::any_of(votes, [](const Vote& vote) { return vote.gpu != 0; })) {
    warn(comm, 0,
         "a GPU runtime is loaded, and schedules serve no buffers in a GPU's memory; set HOCKET_HOST_BUFFERS=1 if the "
         "program hands none to MPI; " +
             consequence);
    return;
  }
  const Network& network = PlanStore::instance().network();
  if (const std::optional<Node> torn = torn_host(votes)) {
    warn(comm, 0,
         "several machines go by the name of host '" + shown(network.name(*torn)) +
             "'; write whole names into the network file, or use 'hocket run --placement FILE'; " + consequence);
    return;
  }
  machines_differ_ = machines_differ(votes);
  std::string problem;
  int hosts = 0;
  attempt(problem, [&] {
    std::vector<Node> nodes;
    for (const Vote& vote : votes) nodes.push_back(static_cast<Node>(vote.node));
    numbering_ = number_ranks(network, nodes);
    neighbours_collide_ = neighbours_collide(network, nodes);
    const auto& of_host = numbering_.ranks_per_node;
    hosts = static_cast<int>(of_host.size() - static_cast<std::size_t>(std::ranges::count(of_host, 0U)));
  });
  if (all_well(comm, problem, consequence)) hosts_ = hosts;
}

std::size_t Team::least_gather_bytes() const {
  if (settings().min_gather_bytes > 0) return settings().min_gather_bytes;
  return neighbours_collide_ ? least_gather_bytes_colliding : least_gather_bytes_in_order;
}

Exchange* Team::exchange(MPI_Comm comm, Pattern pattern) {
  if (!could_collide()) return nullptr;
  auto& place = exchanges_[static_cast<std::size_t>(pattern)];
  if (!place) place = make_exchange(comm, pattern);
  return place->get();
}

std::unique_ptr<Exchange> Team::make_exchange(MPI_Comm comm, Pattern pattern) {
  Requests::instance().let_go();
  const bool rests_on_widths = pattern != Pattern::all_gather;
  if (rests_on_widths && network(comm) == nullptr) return nullptr;
  std::string problem;
  Planned planned;
  attempt(problem, [&] {
    const Rank network_rank = numbering_.network_rank[static_cast<std::size_t>(rank_)];
    planned = PlanStore::instance().program(pattern, numbering_.ranks_per_node, network_rank,
                                            rests_on_widths && measured_ ? &*measured_ : nullptr);
    check_tags(planned, comm);
    translate(planned, numbering_);
  });
  // A damaged row concerns one rank only: all must hear of it.
  if (!all_well(comm, problem, consequence)) return nullptr;
  const MPI_Comm own = private_comm(comm);
  if (own == MPI_COMM_NULL) return nullptr;
  if (rank_ == 0 && settings().log > 0)
    say(std::string(to_string(pattern)) + " of " + std::to_string(size_) + " ranks on " + std::to_string(hosts_) +
        " hosts: " + std::to_string(planned.phases) + " phases");
  return std::make_unique<Exchange>(own, std::move(planned), settings());
}

const Network* Team::network(MPI_Comm comm) {
  if (std::exchange(network_asked_, true)) return network_;
  const Network& planned = PlanStore::instance().network();
  if (settings().trunks.empty()) return network_ = &planned;
  Requests::instance().let_go();
  const MPI_Comm own = private_comm(comm);
  if (own == MPI_COMM_NULL) return nullptr;
  SettledNetwork settled;
  try {
    settled = settle_network(own, planned, numbering_, machines_differ_);
  } catch (const InputError& error) {
    settled.problem = std::string(error.what()) + "; " + consequence;
  }
  if (!settled.problem.empty()) {
    warn(comm, 0, settled.problem);
    return nullptr;
  }
  measured_ = std::move(settled.measured);
  return network_ = measured_ ? &*measured_ : &planned;
}

MPI_Comm Team::private_comm(MPI_Comm comm) {
  if (!private_asked_) {
    private_asked_ = true;
    if (std::optional<PrivateComms::Lease> granted = lease(comm)) private_.emplace(std::move(*granted));
  }
  return private_ ? private_->comm() : MPI_COMM_NULL;
}

VectorExchanges& Team::vectors() {
  if (!vectors_)
    vectors_ = std::make_unique<VectorExchanges>(
        VectorExchanges::Members{rank_, size_, hosts_, numbering_, [this](MPI_Comm comm) { return private_comm(comm); },
                                 [this](MPI_Comm comm) { return network(comm); }});
  return *vectors_;
}

}  // namespace hocket::runtime
