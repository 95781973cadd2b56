#include "runtime/team/team.hpp"

#include "core/limits.hpp"
#include "core/plan/plan.hpp"
#include "runtime/agreement/places.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/uplinks/widths.hpp"

__attribute__((visibility("default"))) std::atomic<int> hocket_pending_setups = 0;

namespace hocket::runtime {
namespace {

/// MPI has few communicators, of which each holds some.
constexpr std::size_t most_kept = 8;

/// Lives as long as MPI: what MPI_COMM_SELF has attached is deleted when it ends.
struct Kept {
  std::vector<std::unique_ptr<Setup>> setups;  ///< the oldest first
  ~Kept();
};

constinit std::mutex kept_mutex;
constinit Kept* all_kept = nullptr;

Kept::~Kept() {
  const std::lock_guard lock(kept_mutex);
  all_kept = nullptr;
}

/// Keeps a setup until MPI ends; the one that was kept first goes if there are too many. Local.
void keep(std::unique_ptr<Setup> setup) {
  std::unique_ptr<Setup> oldest;  // goes when others may keep again
  const std::lock_guard lock(kept_mutex);
  if (all_kept == nullptr) return;
  if (all_kept->setups.size() >= most_kept) {
    oldest = std::move(all_kept->setups.front());
    all_kept->setups.erase(all_kept->setups.begin());
  }
  all_kept->setups.push_back(std::move(setup));
}

/// The last setup kept of these ranks, and no longer so; null: none. Local.
std::unique_ptr<Setup> take_kept(const std::vector<int>& world_ranks) {
  const std::lock_guard lock(kept_mutex);
  if (all_kept == nullptr) all_kept = &Attached<Kept>::attach(MPI_COMM_SELF, std::make_unique<Kept>());
  auto& setups = all_kept->setups;
  const auto found = std::find_if(setups.rbegin(), setups.rend(),
                                  [&](const auto& setup) { return setup->world_ranks == world_ranks; });
  if (found == setups.rend()) return nullptr;
  std::unique_ptr<Setup> setup = std::move(*found);
  setups.erase(std::next(found).base());
  return setup;
}

/// The ranks of each host come to share memory. Null, on all ranks alike and with a warning, where the ranks of some
/// host cannot. Collective; `own` is the runtime's alone.
std::unique_ptr<HostTeam> form_host_team(MPI_Comm own, const Numbering& numbering) {
  auto team = std::make_unique<HostTeam>();
  std::string problem;
  const std::size_t bytes = settings().host_memory;
  HostMemory::Handle mine;
  try_local(problem, [&] {
    team->hosts = hosts_of(numbering, static_cast<std::size_t>(rank_in(own)));
    team->leaders = leaders_of(numbering, team->hosts);
    if (!team->hosts.leads()) return;
    team->memory = std::make_unique<HostMemory>(team->hosts.here().size(), bytes);
    mine = team->memory->handle();
  });
  std::vector<HostMemory::Handle> handles(numbering.comm_rank.size());
  gather_all(&mine, handles.data(), sizeof mine, own);
  try_local(problem, [&] {
    if (team->hosts.leads()) return;
    const HostMemory::Handle& leaders = handles[team->hosts.here().front()];
    if (leaders.descriptor < 0) return;  // the leader tells why
    team->memory = std::make_unique<HostMemory>(leaders, team->hosts.here().size(), bytes);
  });
  if (!all_ok(own, problem, "messages of a host's ranks are not aggregated")) return nullptr;
  if (team->hosts.leads()) team->memory->seal();
  return team;
}

const std::string consequence = "the MPI library serves this communicator";

/// True if some rank was started apart from this one, and so may run without Hocket. All ranks find the same.
bool joins_worlds(MPI_Comm comm) { return std::ranges::count(world_ranks(comm), MPI_UNDEFINED) > 0; }

/// Grows when a team ends: its communicator's handle may come again.
std::atomic<std::uint64_t> ended = 0;

}  // namespace

Team* Team::find_any(MPI_Comm comm) {
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

Team* Team::known(MPI_Comm comm) {
  if (Team* const team = find_any(comm)) return team;
  if (!plain_intracommunicator(comm)) return nullptr;
  return &Attached<Team>::attach(comm, std::unique_ptr<Team>(new Team(comm)));
}

Team* Team::of_any(MPI_Comm comm) {
  Team* const team = known(comm);
  if (team != nullptr && !team->met_) team->meet(comm);
  return team;
}

void Team::leave_alone(MPI_Comm comm) {
  Team& team = *known(comm);
  team.left_alone_ = team.met_ = true;
}

Team::~Team() {
  (void)take_pending();
  ++ended;
  choices_.reset();  // tells what it has learned
  if (setup_->number == 0 || (setup_->private_asked && !setup_->private_comm)) return;
  setup_->problem = std::move(problem_);
  if (settings().choose != Choose::off) setup_->vectors.reset();  // what calls are chosen by was this communicator's
  keep(std::move(setup_));
}

Team::Team(MPI_Comm comm) : rank_(rank_in(comm)), size_(size_of(comm)), setup_(std::make_unique<Setup>()) {
  if (size_ < 3 || comm == MPI_COMM_WORLD || !joins_worlds(comm)) return;
  left_alone_ = met_ = true;  // before anything that the ranks would have to agree on
  problem_ = "the communicator joins ranks of several MPI jobs, which may not all run with Hocket";
}

void Team::meet(MPI_Comm comm) {
  met_ = true;
  if (!could_meet()) return;
  std::vector<int> ranks = in_world() ? world_ranks(comm) : std::vector<int>();
  std::unique_ptr<Setup> kept = ranks.empty() ? nullptr : take_kept(ranks);
  const Places places = agree_on_places(comm, kept != nullptr ? kept->number : 0);
  std::string obstacle = places.obstacle;
  if (obstacle.empty() && places.nodes.empty()) obstacle = why_lost(PlanStore::instance().placement());
  if (obstacle.empty() && places.gpu)
    obstacle =
        "a GPU runtime is loaded, and Hocket cannot send from GPU memory; set HOCKET_HOST_BUFFERS=1 if all buffers are "
        "in host memory";
  if (!obstacle.empty()) {
    problem_ = warn(comm, 0, obstacle + "; " + consequence);
    return;
  }
  const bool ways_stay = !places.ways_changed && !places.ways_watched;
  if (places.all_kept && ways_stay) {
    // Ranks may meet in the middle of a call whose sizes are remembered: its memory stays.
    if (setup_->vectors && !kept->vectors) kept->vectors = std::move(setup_->vectors);
    setup_ = std::move(kept);
    if (setup_->vectors) setup_->vectors->serve(*this);
    problem_ = setup_->problem;
    return;
  }
  setup_->machines_differ = places.machines_differ;
  const Network& network = PlanStore::instance().network();
  std::string problem;
  try_local(problem, [&] {
    setup_->numbering = number_ranks(network, places.nodes);
    setup_->neighbours_collide = neighbours_collide(network, places.nodes);
    const auto& of_host = setup_->numbering.ranks_per_node;
    setup_->hosts = static_cast<int>(std::ranges::count_if(of_host, [](auto ranks_there) { return ranks_there > 0; }));
  });
  if (!all_ok(comm, problem, consequence)) {
    setup_->hosts = 0;
    problem_ = problem;
    return;
  }
  if (!ranks.empty() && ways_stay) setup_->number = places.number;
  setup_->world_ranks = std::move(ranks);
  ways_ = AgreedWays(comm, places.own_ways, places.ways_changed, places.ways_watched);
  if (ways_.have_changed()) (void)this->network(comm);
}

const std::string& Team::problem_of(FallbackReason why) const {
  static const std::string none;
  return why == FallbackReason::no_place || why == FallbackReason::no_plan ? problem_ : none;
}

std::size_t Team::least_gather_bytes() const {
  return setup_->neighbours_collide ? least_gather_bytes_colliding : least_gather_bytes_in_order;
}

Exchange* Team::exchange(MPI_Comm comm, CallKind kind, const Candidate& candidate) {
  if (kind == irregular_calls()) return uneven_exchange(comm, candidate);
  if (!could_collide()) return nullptr;
  const std::pair way{kind, candidate.name};
  auto found = setup_->exchanges.find(way);
  if (found == setup_->exchanges.end())
    found = setup_->exchanges.emplace(way, make_exchange(comm, kind, candidate)).first;
  return found->second.get();
}

Exchange* Team::made_exchange(CallKind kind, const Candidate& candidate) const {
  const auto found = setup_->exchanges.find({kind, candidate.name});
  return found != setup_->exchanges.end() ? found->second.get() : nullptr;
}

Choices& Team::choices() {
  if (!choices_) choices_ = std::make_unique<Choices>(*this);
  return *choices_;
}

Serving Team::schedule_serves() {
  ways_.serve();
  return {*setup_, choices_ ? choices_->faster() : 1};
}

std::unique_ptr<Exchange> Team::make_exchange(MPI_Comm comm, CallKind kind, const Candidate& candidate) {
  Requests::instance().post_remaining();  // planning takes time
  const bool rests_on_network = !kind.collective->forwards() || ways_.have_changed();
  if (rests_on_network && network(comm) == nullptr) return nullptr;
  const HostTeam* const together = candidate.two_level && is_two_level(*kind.collective) ? host_team(comm) : nullptr;
  if (candidate.two_level && together == nullptr) return nullptr;
  if (candidate.all_lead && !together->can_all_lead(*kind.collective)) return nullptr;
  const Numbering& numbering = together != nullptr ? together->leaders : setup_->numbering;
  std::string problem;
  Planned planned;
  try_local(problem, [&] {
    const auto in_network = [&](std::size_t rank) { return numbering.network_rank[rank]; };
    CallKind placed = kind;
    if (kind.collective->rooted) placed.root = in_network(kind.root);
    planned = PlanStore::instance().program(
        placed, numbering.ranks_per_node, in_network(static_cast<std::size_t>(rank_)), candidate.window,
        rests_on_network && setup_->measured ? &*setup_->measured : nullptr, together != nullptr);
    check_tags(planned, comm);
    translate(planned, numbering);
    if (together == nullptr) return;
    planned.window = candidate.window;
    if (candidate.window == 0 || !together->hosts.leads()) planned.program = {};
  });
  // A damaged row concerns one rank only: all must hear of it.
  if (!all_ok(comm, problem, consequence)) {
    problem_ = problem;
    return nullptr;
  }
  const MPI_Comm own = private_comm(comm);
  if (own == MPI_COMM_NULL) return nullptr;
  if (rank_ == 0 && settings().log > 0)
    say(std::string(kind.collective->name) + " of " + std::to_string(size_) + " ranks on " +
        std::to_string(setup_->hosts) + " hosts" + (together != nullptr ? ", aggregated" : "") + ": " +
        std::to_string(planned.phases) + " phases by '" + planned.algorithm + "'");
  Settings own_settings = settings();
  if (candidate.free) own_settings.flow_control = Flow::free;
  if (candidate.large) own_settings.segment = large_segment;
  return std::make_unique<Exchange>(own, std::move(planned), own_settings, together, candidate.all_lead);
}

const HostTeam* Team::host_team(MPI_Comm comm) {
  if (std::exchange(setup_->host_team_asked, true)) return setup_->host_team.get();
  if (size_ == setup_->hosts || settings().host_memory == 0) return nullptr;
  const MPI_Comm own = private_comm(comm);
  if (own == MPI_COMM_NULL) return nullptr;
  setup_->host_team = form_host_team(own, setup_->numbering);
  if (!setup_->host_team) return nullptr;
  setup_->between_leaders.emplace(own, setup_->host_team->hosts.leads() ? 0 : MPI_UNDEFINED);
  setup_->host_team->between_leaders = setup_->between_leaders->get();
  return setup_->host_team.get();
}

std::uint64_t Team::host_rate(MPI_Comm comm) try {
  if (!setup_->machines_differ || setup_->hosts < 2) return 0;
  const MPI_Comm own = private_comm(comm);
  if (own == MPI_COMM_NULL) return 0;
  const Network part = PlanStore::instance().network().restricted_to(setup_->numbering.ranks_per_node);
  return measure_host_rate(own, part, setup_->numbering);
} catch (const InputError&) {  // on all ranks alike
  return 0;
}

std::string Team::place(MPI_Comm comm) {
  if (!met_) meet(comm);
  if (!could_collide()) return "";
  std::uint64_t wiring = PlanStore::instance().wiring_digest();
  if (ways_.have_changed() && setup_->measured) wiring ^= checksum(encode_network(setup_->measured->spec()));
  return place_digest(wiring, setup_->numbering);
}

bool Team::aggregates(CallKind kind, std::size_t bytes) const {
  return setup_->host_team != nullptr && setup_->host_team->fits(*kind.collective, bytes);
}

Exchange* Team::uneven_exchange(MPI_Comm comm, const Candidate& candidate) {
  static const Collective& equal = find_collective("all-to-all");
  if (candidate.planned) return nullptr;
  Exchange* const found = exchange(comm, {&equal}, candidate);
  if (found == nullptr) return nullptr;
  // Who relays parts of other ranks' messages would have to know their lengths.
  const bool fits = candidate.two_level ? aggregates(irregular_calls(), 1) : !found->planned().relays();
  return fits ? found : nullptr;
}

Exchange* Team::phases_for(MPI_Comm comm, const Volumes& all) {
  if (!settings().algorithm.empty() || !all.is_dense(size_)) return nullptr;
  return uneven_exchange(comm, fixed_ != nullptr && !fixed_->two_level ? *fixed_ : as_planned);
}

const Network* Team::network(MPI_Comm comm) {
  if (std::exchange(setup_->network_asked, true)) return setup_->network;
  const Network& planned = PlanStore::instance().network();
  if (ways_.have_changed()) {
    setup_->measured = ways_.network(comm, planned);
    return setup_->network = setup_->measured ? &*setup_->measured : &planned;
  }
  if (settings().switch_links.empty()) return setup_->network = &planned;
  const MPI_Comm own = private_comm(comm);
  if (own == MPI_COMM_NULL) return nullptr;
  SettledNetwork settled = settle_network(own, planned, setup_->numbering, setup_->machines_differ);
  if (!settled.problem.empty()) {
    problem_ = warn(
        comm, 0, settled.problem + "; the MPI library serves this communicator's all-to-alls and irregular exchanges");
    return nullptr;
  }
  setup_->measured = std::move(settled.measured);
  return setup_->network = setup_->measured ? &*setup_->measured : &planned;
}

bool Team::follow_ways(MPI_Comm comm) {
  std::optional<std::vector<ChangedWay>> changed = ways_.ask(comm);
  if (!changed) return false;
  std::vector<ChangedWay> before = ways_.follow(*std::move(changed));
  std::optional<Network> seen;
  if (ways_.have_changed()) {
    seen = ways_.network(comm, PlanStore::instance().network());
    if (!seen) {  // as if nobody had seen it: plans made later are for the same ways
      ways_.follow(std::move(before));
      return false;
    }
  } else {
    warn(comm, 0, "connections take the ways again that were found; plans are made anew");
  }
  setup_->vectors.reset();
  backoff_ = {};
  std::erase_if(setup_->exchanges, [](const auto& one) { return !reduces(one.first.first.collective->pattern); });
  setup_->measured = std::move(seen);
  setup_->network = setup_->measured ? &*setup_->measured : nullptr;
  setup_->network_asked = setup_->measured.has_value();
  if (choices_) choices_->begin_anew(comm);
  return true;
}

MPI_Comm Team::private_comm(MPI_Comm comm) {
  if (!setup_->private_asked) {
    setup_->private_asked = true;
    if (std::optional<PrivateComms::Lease> granted = lease(comm))
      setup_->private_comm.emplace(std::move(*granted));
    else
      problem_ = "too many communicators: the runtime makes one for each that is scheduled, " +
                 std::to_string(PrivateComms::most_live) + " at most";
  }
  return setup_->private_comm ? setup_->private_comm->comm() : MPI_COMM_NULL;
}

VectorExchanges& Team::vectors() {
  if (!setup_->vectors) setup_->vectors = std::make_unique<VectorExchanges>(*this);
  return *setup_->vectors;
}

}  // namespace hocket::runtime
