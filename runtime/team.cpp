#include "team.hpp"

#include <algorithm>
#include <utility>

#include "agreement.hpp"
#include "attached.hpp"
#include "mpi_call.hpp"
#include "plan_store.hpp"
#include "requests.hpp"
#include "vector_exchanges.hpp"

namespace hocket::runtime {
namespace {

/// What every rank tells the others before they decide together.
struct Vote {
  std::int32_t node;       ///< where the rank is, -1 if unknown
  std::uint32_t ranks;     ///< of the network
  std::uint64_t settings;  ///< digest of plan and settings: they must agree everywhere
};

std::vector<Vote> exchange_votes(MPI_Comm comm, int size, const Vote& mine) {
  std::vector<Vote> votes(static_cast<std::size_t>(size));
  check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, votes.data(), sizeof mine, MPI_BYTE, comm));
  return votes;
}

/// Whether messages from every rank to the next one share a channel.
bool neighbours_collide(const Network& network, const std::vector<Vote>& votes) {
  std::vector<std::uint32_t> used(network.channels(), 0);
  std::vector<Channel> route;
  for (std::size_t i = 0; i < votes.size(); ++i) {
    const auto place = [&](std::size_t rank) { return network.first_rank(static_cast<Node>(votes[rank].node)); };
    route.clear();
    network.append_route(place(i), place((i + 1) % votes.size()), route);
    for (const Channel channel : route)
      if (++used[channel] > network.capacity(channel)) return true;
  }
  return false;
}

constexpr const char* consequence = "the MPI library serves this communicator";

}  // namespace

Team& Team::of(MPI_Comm comm) {
  if (Team* const team = Attached<Team>::find(comm)) return *team;
  Requests::instance().let_go();
  return Attached<Team>::attach(comm, std::unique_ptr<Team>(new Team(comm)));
}

Team::~Team() = default;

Team::Team(MPI_Comm comm) {
  check(PMPI_Comm_rank(comm, &rank_));
  check(PMPI_Comm_size(comm, &size_));
  const PlanStore& store = PlanStore::instance();
  if (!settings().complaint.empty() && world_rank() == 0) say_once(settings().complaint);
  const std::vector<Vote> votes = exchange_votes(comm, size_, {store.node(), store.ranks(), store.digest()});

  // From here on every rank knows the same and decides the same.
  const auto lost = std::find_if(votes.begin(), votes.end(), [](const Vote& vote) { return vote.node < 0; });
  if (lost != votes.end()) {
    warn(comm, static_cast<int>(lost - votes.begin()), store.problem(), consequence);
    return;
  }
  if (std::any_of(votes.begin(), votes.end(), [&](const Vote& vote) { return vote.settings != votes[0].settings; })) {
    warn(comm, 0, "ranks differ in their plan or HOCKET_ settings", consequence);
    return;
  }
  std::vector<Node> nodes;
  for (const Vote& vote : votes) nodes.push_back(static_cast<Node>(vote.node));
  numbering_ = number_ranks(store.network(), nodes);
  const auto used = std::count_if(numbering_.ranks_per_node.begin(), numbering_.ranks_per_node.end(),
                                  [](std::uint32_t ranks) { return ranks > 0; });
  hosts_ = static_cast<int>(used);
  neighbours_collide_ = neighbours_collide(store.network(), votes);
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
  std::string problem;
  Planned planned;
  try {
    const Rank network_rank = numbering_.network_rank[static_cast<std::size_t>(rank_)];
    planned = PlanStore::instance().program(pattern, numbering_.ranks_per_node, network_rank);
    check_tags(planned, comm);
  } catch (const InputError& error) {
    problem = error.what();
  }
  // A damaged row concerns one rank only: all must hear of it.
  if (!all_well(comm, problem, consequence)) return nullptr;
  translate(planned, numbering_);
  if (rank_ == 0 && settings().log > 0)
    say(std::string(to_string(pattern)) + " of " + std::to_string(size_) + " ranks on " + std::to_string(hosts_) +
        " hosts: " + std::to_string(planned.phases) + " phases");
  return std::make_unique<Exchange>(private_comm(comm), std::move(planned), settings());
}

MPI_Comm Team::private_comm(MPI_Comm comm) {
  if (!private_) private_.emplace(lease(comm));
  return private_->comm();
}

VectorExchanges& Team::vectors() {
  if (!vectors_) vectors_ = std::make_unique<VectorExchanges>(*this);
  return *vectors_;
}

}  // namespace hocket::runtime
