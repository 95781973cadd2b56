#include "runtime/irregular/vector_exchanges.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/network/switch_links.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/irregular/plan_by_rounds.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

/// Bytes. Squares of so few are sums of 64 bits for whatever fits a memory; of shorter messages all are alike.
constexpr std::uint64_t square_unit = 256;

/// A row or column, cut off so that the sum over all ranks cannot overflow.
std::uint64_t clamped_sum(const std::vector<Volume>& volumes, int ranks) {
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / static_cast<std::uint64_t>(ranks);
  std::uint64_t bytes = 0;
  for (const Volume& volume : volumes) bytes += std::min(volume.bytes, most - bytes);
  return bytes;
}

/// MPI_User_function: combines Volumes.
void combine(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* from = static_cast<const Volumes*>(in);
  auto* to = static_cast<Volumes*>(inout);
  for (int i = 0; i < *length; ++i, ++from, ++to) {
    to->bytes += from->bytes;
    to->messages += from->messages;
    to->squares += from->squares;
    to->most = std::max(to->most, from->most);
    to->known &= from->known;
  }
}

/// True of exchanges that last much longer than planning, which takes some microseconds per message on every rank: they
/// are planned when they are first seen.
bool is_large(const Volumes& all, int ranks) {
  constexpr double planning_seconds = 1e-3, seconds_per_message = 1e-5, longer = 10;
  const double row = static_cast<double>(all.bytes) / ranks / PlanStore::instance().network().host_rate();
  return row >= longer * (planning_seconds + seconds_per_message * static_cast<double>(all.messages));
}

std::string in_rounds(std::uint32_t rounds) {
  if (rounds == 0) return "";
  return " in " + std::to_string(rounds) + (rounds == 1 ? " round" : " rounds") + " between partners";
}

}  // namespace

std::uint64_t ScheduleCache::candidates(const std::optional<PeerBytes>& peer_bytes) const {
  if (!peer_bytes) return 0;
  std::uint64_t bits = well_formed;
  const std::uint64_t wanted = digest(*peer_bytes);
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (known_[i].digest == wanted && known_[i].peer_bytes == *peer_bytes) bits |= std::uint64_t{1} << i;
  return bits;
}

ScheduleCache::Known& ScheduleCache::of(std::uint64_t common, PeerBytes peer_bytes) {
  common &= ~well_formed;
  if (common != 0) {
    Known& found = known_[static_cast<std::size_t>(std::countr_zero(common))];
    found.comes_again = true;
    found.last_use = ++uses_;
    return found;
  }
  if (known_.size() < most) known_.emplace_back();
  Known& place = *std::ranges::min_element(known_, {}, &Known::last_use);  // a fresh one has none
  const std::uint64_t digest_of_these = digest(peer_bytes);
  place = {.peer_bytes = std::move(peer_bytes), .digest = digest_of_these, .last_use = ++uses_};
  return place;
}

bool Volumes::is_dense(int ranks) const {
  return 2 * messages >= static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(ranks - 1);
}

MessageSizes Volumes::sizes(int ranks) const {
  const std::uint64_t pairs = static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(ranks - 1);
  MessageSizes sizes{.bytes = static_cast<std::size_t>((bytes + pairs - 1) / pairs), .most = most};
  for (std::uint64_t of = 2 * messages; of < pairs && sizes.sparse < 3; of *= 4) ++sizes.sparse;
  const double units = static_cast<double>(bytes) / square_unit;
  const double unlike = static_cast<double>(squares) * static_cast<double>(messages) / (units * units);
  sizes.skewed = static_cast<std::uint8_t>((unlike > 1.5 ? 1 : 0) + (unlike > 4 ? 1 : 0));
  return sizes;
}

Volumes VectorExchanges::ask(MPI_Comm comm, const std::optional<PeerBytes>& peer_bytes) const {
  Volumes own, all;
  if (peer_bytes) {
    own.bytes = clamped_sum(peer_bytes->sends, members_->size());
    own.messages = peer_bytes->sends.size();
    for (const Volume& volume : peer_bytes->sends)
      own.squares += (volume.bytes / square_unit) * (volume.bytes / square_unit);
    own.most = std::max(own.bytes, clamped_sum(peer_bytes->receives, members_->size()));
    own.known = schedule_cache_.candidates(peer_bytes);
  }
  const MadeType type = run_of(sizeof own);
  MPI_Op op = MPI_OP_NULL;
  check(PMPI_Op_create(combine, 1, &op));
  reduce(&own, &all, 1, type.get(), op, comm);
  check(PMPI_Op_free(&op));
  return all;
}

std::pair<const Exchange*, FallbackReason> VectorExchanges::planned(MPI_Comm comm, const Volumes& all,
                                                                    ScheduleCache::Known& known) {
  if (known.tried || (!known.comes_again && !is_large(all, members_->size()))) return {known.exchange.get(), known.why};
  known.tried = true;
  Made made = plan(comm, known.peer_bytes);
  known.why = made.why;
  if (!made.planned) return {nullptr, known.why};
  const MPI_Comm own = members_->private_comm(comm);
  if (own != MPI_COMM_NULL) known.exchange = std::make_unique<Exchange>(own, std::move(*made.planned), settings());
  return {known.exchange.get(), known.why};
}

bool VectorExchanges::prepare(MPI_Comm comm) {
  if (planner_) return true;
  const Network* const network = members_->network(comm);
  if (network == nullptr) return false;
  planner_ = std::make_unique<Planner>(members_->numbering(), *network);
  if (!wants_rounds(planner_->part().ranks())) return true;
  by_rounds_ = only_ports_shared(planner_->part());
  if (!by_rounds_ && members_->rank() == 0 && settings().log > 0)
    say("irregular exchanges between " + std::to_string(members_->size()) + " ranks on " +
        std::to_string(members_->hosts()) +
        " hosts are planned together: they share links, which two partners alone do not know");
  return true;
}

VectorExchanges::Made VectorExchanges::plan_whole(MPI_Comm comm, const PeerBytes& peer_bytes) const {
  const Demand demand = planner_->demand(comm, peer_bytes);
  std::string problem;
  std::optional<Planned> planned = planner_->plan(comm, peer_bytes, demand, problem);
  if (!planned) members_->trouble(problem);
  return {std::move(planned), FallbackReason::no_plan, demand.messages()};
}

VectorExchanges::Made VectorExchanges::plan_own(MPI_Comm comm, const PeerBytes& peer_bytes) const {
  const PortLoads loads = port_loads(comm, peer_bytes);
  if (loads.most_messages > limits::most_partners_in_rounds) return plan_whole(comm, peer_bytes);
  const MPI_Comm own = members_->private_comm(comm);
  if (own == MPI_COMM_NULL) return {};
  Made made{.messages = loads.messages};
  std::string problem;
  made.planned = plan_by_rounds(own, planner_->part(), members_->numbering(), peer_bytes, loads, made.rounds, problem);
  if (!made.planned) members_->trouble(problem);
  return made;
}

VectorExchanges::Made VectorExchanges::plan(MPI_Comm comm, const PeerBytes& peer_bytes) {
  try {
    // Exceptions thrown here are thrown on all ranks alike.
    if (!prepare(comm)) return {};
    Made made = by_rounds_ ? plan_own(comm, peer_bytes) : plan_whole(comm, peer_bytes);
    if (made.planned && members_->rank() == 0 && settings().log > 0)
      say("irregular exchange of " + std::to_string(made.messages) + " messages between " +
          std::to_string(members_->size()) + " ranks on " + std::to_string(members_->hosts()) +
          " hosts: " + std::to_string(made.planned->phases) + " phases by '" + made.planned->algorithm + "'" +
          in_rounds(made.rounds));
    return made;
  } catch (const InputError& error) {
    const std::string problem = std::string(error.what()) + "; the MPI library serves this exchange";
    if (members_->rank() == 0) say_once(problem);
    members_->trouble(problem);
    return {};
  }
}

}  // namespace hocket::runtime
