#include "runtime/irregular/vector_exchanges.hpp"

#include <algorithm>
#include <array>
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
#include "runtime/progress/agree.hpp"

namespace hocket::runtime {
namespace {

using Server = ScheduleCache::Server;

/// This rank's volume, clamped so that the global sum cannot overflow.
Extent own_extent(const PeerBytes& peer_bytes, int ranks) {
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / static_cast<std::uint64_t>(ranks);
  Extent own;
  for (const Volume& volume : peer_bytes.sends) own.bytes += std::min(volume.bytes, most - own.bytes);
  own.messages = peer_bytes.sends.size();
  return own;
}

/// Large exchanges, against which a reduction counts for nothing. Planning takes some microseconds per message, on
/// every rank. An exchange that lasts much longer is planned when it is first seen, others when they come a second
/// time.
bool is_large(const Extent& all, int ranks) {
  constexpr double planning_seconds = 1e-3, seconds_per_message = 1e-5, longer = 10;
  const double row = static_cast<double>(all.bytes) / ranks / PlanStore::instance().network().host_rate();
  return row >= longer * (planning_seconds + seconds_per_message * static_cast<double>(all.messages));
}

Extent extent_of(MPI_Comm comm, const PeerBytes& peer_bytes, int ranks) {
  const Extent own = own_extent(peer_bytes, ranks);
  Extent all;
  reduce(&own, &all, 2, MPI_UINT64_T, MPI_SUM, comm);
  return all;
}

std::string in_rounds(std::uint32_t rounds) {
  if (rounds == 0) return "";
  return " in " + std::to_string(rounds) + (rounds == 1 ? " round" : " rounds") + " between partners";
}

}  // namespace

LookedAt look_at(MPI_Comm comm, const PeerBytes& peer_bytes, int ranks, double seconds) {
  const Extent own = own_extent(peer_bytes, ranks);
  // Until they have met, ranks may have read different networks.
  const PlanStore& plans = PlanStore::instance();
  const double wires = plans.has_network() ? static_cast<double>(own.bytes) / plans.network().host_rate() : 0;
  const auto microseconds = [](double of) { return static_cast<std::uint64_t>(std::clamp(of, 0.0, 1e6) * 1e6); };
  const std::array<std::uint64_t, 4> mine{own.bytes, own.messages, microseconds(seconds), microseconds(wires)};
  std::array<std::uint64_t, 4> all{};
  reduce(mine.data(), all.data(), 4, MPI_UINT64_T, MPI_SUM, comm);
  return {{all[0], all[1]}, 2 * all[2] < all[3]};
}

bool Extent::large_enough() const { return messages > 0 && bytes / messages >= settings().min_vector_bytes; }

VectorExchanges::Found VectorExchanges::find(MPI_Comm comm, std::optional<PeerBytes> peer_bytes) {
  ScheduleCache::Known* const known = recognised(comm, std::move(peer_bytes));
  const bool by_the_library = known != nullptr && (known->selection != nullptr ? known->selection->native_stays()
                                                                               : known->server == Server::mpi);
  if (known != nullptr && known->large && !by_the_library)
    backoff_.worth_it();
  else
    backoff_.in_vain(known != nullptr && known->server == Server::undecided);
  if (known == nullptr) return {};
  Selection* const selection = known->selection.get();
  const bool is_native = selection != nullptr && selection->next(comm) == 0;
  if (selection != nullptr) selection->begin();
  if (is_native) return {nullptr, FallbackReason::faster, known->extent, selection};
  return {known->exchange.get(), known->why, known->extent, selection};
}

/// The exchange, planned if this is the time for it; null if it is one that no rank may be asked about.
ScheduleCache::Known* VectorExchanges::recognised(MPI_Comm comm, std::optional<PeerBytes> peer_bytes) {
  const std::uint64_t own = schedule_cache_.candidates(peer_bytes);
  std::uint64_t common = 0;
  reduce(&own, &common, 1, MPI_UINT64_T, MPI_BAND, comm);
  if ((common & ScheduleCache::well_formed) == 0) return nullptr;
  ScheduleCache::Known* known = schedule_cache_.find(common);
  if (known != nullptr && known->server != Server::undecided) return known;
  if (known == nullptr) {
    const Extent all = extent_of(comm, *peer_bytes, members_.size);
    known = &schedule_cache_.add(std::move(*peer_bytes));
    known->extent = all;
    known->large = is_large(all, members_.size);
    if (!all.large_enough()) {
      known->server = Server::mpi;
      known->why = FallbackReason::small;
    }
    if (!all.large_enough() || !known->large) return known;
  }
  known->server = Server::mpi;
  Made made = plan(comm, known->peer_bytes);
  known->why = made.why;
  if (made.planned) {
    const MPI_Comm own = members_.private_comm(comm);
    if (own == MPI_COMM_NULL) return known;
    known->exchange = std::make_unique<Exchange>(own, std::move(*made.planned), settings());
    known->server = Server::schedule;
    known->large = true;
    if (settings().choose == Choose::learn)
      known->selection = members_.selection(comm, made.demand_class, known->exchange->planned().figures.bound);
  }
  return known;
}

bool VectorExchanges::prepare(MPI_Comm comm) {
  if (planner_) return true;
  const Network* const network = members_.network(comm);
  if (network == nullptr) return false;
  planner_ = std::make_unique<Planner>(members_.numbering, *network);
  if (!wants_rounds(planner_->part().ranks())) return true;
  by_rounds_ = only_ports_shared(planner_->part());
  if (!by_rounds_ && members_.rank == 0 && settings().log > 0)
    say("irregular exchanges between " + std::to_string(members_.size) + " ranks on " + std::to_string(members_.hosts) +
        " hosts are planned together: they share links, which two partners alone do not know");
  return true;
}

VectorExchanges::Made VectorExchanges::plan_whole(MPI_Comm comm, const PeerBytes& peer_bytes) const {
  const Demand demand = planner_->demand(comm, peer_bytes);
  if (!planner_->worth(demand)) return {{}, FallbackReason::not_worth};
  std::string problem;
  std::optional<Planned> planned = planner_->plan(comm, peer_bytes, demand, problem);
  if (!planned) members_.trouble(problem);
  return {std::move(planned), FallbackReason::no_plan, class_of(demand), demand.messages()};
}

VectorExchanges::Made VectorExchanges::plan_own(MPI_Comm comm, const PeerBytes& peer_bytes) const {
  const Extent all = extent_of(comm, peer_bytes, members_.size);
  const PortLoads loads = port_loads(comm, peer_bytes, all);
  if (!loads.worth) return {{}, FallbackReason::not_worth};
  if (loads.most_messages > limits::most_partners_in_rounds) return plan_whole(comm, peer_bytes);
  const MPI_Comm own = members_.private_comm(comm);
  if (own == MPI_COMM_NULL) return {};
  PlannedByRounds made = plan_by_rounds(own, planner_->part(), members_.numbering, peer_bytes, all, loads);
  if (!made.planned) members_.trouble(made.problem);
  return {std::move(made.planned), FallbackReason::no_plan, made.demand_class, all.messages, made.rounds};
}

VectorExchanges::Made VectorExchanges::plan(MPI_Comm comm, const PeerBytes& peer_bytes) {
  try {
    // Exceptions thrown here are thrown on all ranks alike.
    if (!prepare(comm)) return {};
    Made made = by_rounds_ ? plan_own(comm, peer_bytes) : plan_whole(comm, peer_bytes);
    if (made.planned && members_.rank == 0 && settings().log > 0)
      say("irregular exchange of " + std::to_string(made.messages) + " messages between " +
          std::to_string(members_.size) + " ranks on " + std::to_string(members_.hosts) +
          " hosts: " + std::to_string(made.planned->phases) + " phases by '" + made.planned->algorithm + "'" +
          in_rounds(made.rounds));
    return made;
  } catch (const InputError& error) {
    const std::string problem = std::string(error.what()) + "; the MPI library serves this exchange";
    if (members_.rank == 0) say_once(problem);
    members_.trouble(problem);
    return {};
  }
}

}  // namespace hocket::runtime
