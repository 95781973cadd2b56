#include "team.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "hocket/schedulers/scheduler.hpp"
#include "mpi_call.hpp"
#include "placement.hpp"
#include "plan_store.hpp"

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

int world_rank() {
  int rank = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
  return rank;
}

/// What `source` has to say, said once, by the first rank of the job if it is in this communicator.
void warn(MPI_Comm comm, int source, const std::string& text) {
  char line[512] = "";
  text.copy(line, sizeof line - 1);
  check(PMPI_Bcast(line, sizeof line, MPI_CHAR, source, comm));
  if (world_rank() == 0) say_once(std::string(line) + "; the MPI library serves this communicator");
}

Numbering number_ranks(const Network& network, const std::vector<Vote>& votes) {
  Numbering numbering;
  numbering.ranks_per_node.assign(network.nodes(), 0);
  for (const Vote& vote : votes) ++numbering.ranks_per_node[static_cast<std::size_t>(vote.node)];
  numbering.comm_rank.resize(votes.size());
  std::iota(numbering.comm_rank.begin(), numbering.comm_rank.end(), 0);
  std::stable_sort(numbering.comm_rank.begin(), numbering.comm_rank.end(), [&](int a, int b) {
    return votes[static_cast<std::size_t>(a)].node < votes[static_cast<std::size_t>(b)].node;
  });
  return numbering;
}

/// Every send has a tag for its tokens (exchange.hpp).
std::size_t most_tagged_sends(MPI_Comm comm) {
  int* largest = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, MPI_TAG_UB, &largest, &found));
  return found ? static_cast<std::size_t>(*largest) - Exchange::first_token_tag : 32767;
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

/// Turns network ranks into ranks of the communicator.
void translate(Planned& planned, const std::vector<int>& comm_rank) {
  const auto to_comm = [&](Rank rank) { return static_cast<Rank>(comm_rank[rank]); };
  const auto translate_pieces = [&](std::vector<Piece>& pieces) {
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
  std::vector<std::uint64_t> contributions(planned.demand.contributions.size());
  for (Rank rank = 0; rank < contributions.size(); ++rank)
    contributions[to_comm(rank)] = planned.demand.contributions[rank];
  planned.demand.contributions = std::move(contributions);
}

int delete_team(MPI_Comm, int, void* team, void*) {
  delete static_cast<Team*>(team);
  return MPI_SUCCESS;
}

int team_keyval() {
  static std::once_flag once;
  static int keyval = MPI_KEYVAL_INVALID;
  std::call_once(once, [] { check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_team, &keyval, nullptr)); });
  return keyval;
}

}  // namespace

Team& Team::of(MPI_Comm comm) {
  Team* team = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, team_keyval(), &team, &found));
  if (found) return *team;
  std::unique_ptr<Team> fresh(new Team(comm));
  check(PMPI_Comm_set_attr(comm, team_keyval(), fresh.get()));
  return *fresh.release();
}

Team::Team(MPI_Comm comm) {
  check(PMPI_Comm_rank(comm, &rank_));
  check(PMPI_Comm_size(comm, &size_));
  const PlanStore& store = PlanStore::instance();
  if (!settings().complaint.empty() && world_rank() == 0) say_once(settings().complaint);
  const std::vector<Vote> votes = exchange_votes(comm, size_, {store.node(), store.ranks(), store.digest()});

  // From here on every rank knows the same and decides the same.
  const auto lost = std::find_if(votes.begin(), votes.end(), [](const Vote& vote) { return vote.node < 0; });
  if (lost != votes.end()) {
    warn(comm, static_cast<int>(lost - votes.begin()), store.problem());
    return;
  }
  if (std::any_of(votes.begin(), votes.end(), [&](const Vote& vote) { return vote.settings != votes[0].settings; })) {
    warn(comm, 0, "ranks differ in their plan or HOCKET_ settings");
    return;
  }
  numbering_ = number_ranks(store.network(), votes);
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
  if (hosts_ < 2 || size_ < 3) return nullptr;  // nothing crosses a wire that could collide
  auto& place = exchanges_[static_cast<std::size_t>(pattern)];
  if (!place) place = make_exchange(comm, pattern);
  return place->get();
}

std::unique_ptr<Exchange> Team::make_exchange(MPI_Comm comm, Pattern pattern) {
  std::string problem;
  Planned planned;
  try {
    const auto& order = numbering_.comm_rank;
    const auto network_rank = static_cast<Rank>(std::find(order.begin(), order.end(), rank_) - order.begin());
    planned = PlanStore::instance().program(pattern, numbering_.ranks_per_node, network_rank);
    if (planned.program.sends.size() >= most_tagged_sends(comm))
      throw InputError("this MPI has too few message tags for a plan of so many sends");
  } catch (const InputError& error) {
    problem = error.what();
  }
  // A damaged row concerns one rank only: all must hear of it.
  int troubled = problem.empty() ? size_ : rank_, first_troubled = size_;
  check(PMPI_Allreduce(&troubled, &first_troubled, 1, MPI_INT, MPI_MIN, comm));
  if (first_troubled < size_) {
    warn(comm, first_troubled, problem);
    return nullptr;
  }
  translate(planned, numbering_.comm_rank);
  if (!private_) private_.emplace(lease(comm));
  if (rank_ == 0 && settings().log > 0)
    say(std::string(to_string(pattern)) + " of " + std::to_string(size_) + " ranks on " + std::to_string(hosts_) +
        " hosts: " + std::to_string(planned.phases) + " phases");
  return std::make_unique<Exchange>(private_->comm(), std::move(planned), settings());
}

}  // namespace hocket::runtime
