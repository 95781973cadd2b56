#include "runtime/report/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>
#include <set>
#include <tuple>
#include <type_traits>

#include "core/of_thread.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/neighbours.hpp"
#include "runtime/mpi/world.hpp"

namespace hocket::runtime {

using Clock = std::chrono::steady_clock;

struct Followed::Account {
  CallRow* row = nullptr;  ///< null until the call has returned
  Exchanged exchanged;
  Clock::time_point since;
  std::uint64_t early = 0;  ///< exchanges that were over before that
  double early_seconds = 0;
};

namespace {

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

/// The call that a thread is in.
struct CurrentCall {
  bool open = false;
  CallKey kind;
  MPI_Comm comm = MPI_COMM_NULL;
  Clock::time_point since;
  Exchanged exchanged;
  std::uint64_t of_root = 0;  ///< bytes of the message, in calls with a root
  std::shared_ptr<Followed::Account> account;
};

CurrentCall& current() { return of_thread<CurrentCall>(); }

/// A handle as the shim carries it: an int in MPICH, a pointer in Open MPI.
template <class Handle>
Handle from_word(std::intptr_t word) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(word);
  else
    return static_cast<Handle>(word);
}

/// The number of other ranks to which a call sends; at least 1.
std::uint64_t receivers(const CurrentCall& call) {
  if (!is_of_neighbours(call.kind.call)) return static_cast<std::uint64_t>(std::max(call.kind.ranks - 1, 1));
  try {
    const std::optional<Neighbours> neighbours = topology_neighbours(call.comm);
    if (neighbours && !neighbours->destinations.empty()) return neighbours->destinations.size();
  } catch (const MpiFailure&) {  // the program has been told by its call
  }
  return 1;
}

Reporter this_process() {
  Reporter reporter;
  std::array<char, 256> host{};
  (void)gethostname(host.data(), host.size() - 1);
  reporter.host = host.data();
  reporter.pid = getpid();
  const std::optional<int> rank = launched_rank();
  reporter.rank = rank.value_or(-1);
  reporter.in_world = in_world();
  reporter.spawned = reporter.in_world && !rank;
  return reporter;
}

/// The account of this process. It is put on disk when the first call ends, again and again at growing
/// intervals, so that a job that is killed leaves something, and when MPI or the program ends. No rank
/// talks to another for it.
class Report {
 public:
  static Report& instance() {
    static Report report;
    return report;
  }
  /// Null: nobody has asked for it.
  static inline std::atomic<Report*> made = nullptr;

  void add(CurrentCall& call, Clock::time_point now);
  void finish(Followed::Account& account, Clock::time_point now);
  void add(ChoiceRow row) {
    const std::lock_guard lock(mutex_);
    choices_.push_back(std::move(row));
    changed_ = true;
  }
  void start(Followed::Account& account) {
    const std::lock_guard lock(mutex_);
    account.since = Clock::now();
  }
  /// MPI_Finalize has begun.
  void mpi_ends() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    write(Clock::now());
  }
  /// The program ends, maybe without MPI_Finalize, maybe in the middle of a call. Its libraries may still make calls.
  void process_ends() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || getpid() != reporter_.pid) return;  // a forked process has no calls of its own
    next_write_ = {};
    interval_ = {};
    if (!changed_) return;
    finished_ |= !reporter_.in_world;
    write(Clock::now());
  }

 private:
  using Said = std::tuple<int, const void*, int, Outcome>;

  Report();
  void write(Clock::time_point now);
  void log(const CurrentCall& call, const CallSite& site, std::uint64_t message);

  std::mutex mutex_;  ///< guards all below
  Reporter reporter_ = this_process();
  std::string path_ =
      settings().report.empty() ? "" : settings().report + "/" + reporter_.host + "-" + std::to_string(reporter_.pid);
  CallTable table_;
  std::vector<ChoiceRow> choices_;
  std::set<Said> said_;
  Clock::time_point next_write_;
  Clock::duration interval_ = std::chrono::seconds(1);
  bool changed_ = false, finished_ = false;
};

int mpi_ends(MPI_Comm, int, void*, void*) {
  Report::instance().mpi_ends();
  return MPI_SUCCESS;
}

/// After the program's exit handlers.
__attribute__((destructor)) void process_ends() {
  if (Report* const report = Report::made) report->process_ends();
}

Report::Report() {
  made = this;
  if (!reporter_.in_world) return;
  // MPI_Finalize first of all deletes the attributes of MPI_COMM_SELF, the youngest first: whatever the
  // runtime still has to do there is done by then.
  int keyval = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, runtime::mpi_ends, &keyval, nullptr) == MPI_SUCCESS)
    (void)PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

void Report::add(CurrentCall& call, Clock::time_point now) {
  const std::uint64_t message = call.of_root > 0 ? call.of_root : call.exchanged.bytes / receivers(call);
  call.kind.size_class = std::bit_width(message);
  int rank = 0;
  if (settings().log >= 2 && call.comm != MPI_COMM_NULL) (void)PMPI_Comm_rank(call.comm, &rank);
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = table_.try_emplace(call.kind);
  CallRow& row = found->second;
  if (fresh) row.site = call_site(call.kind.returns_to);
  if (fresh && rank == 0 && settings().log >= 2) log(call, row.site, message);
  ++row.calls;
  row.seconds += seconds(now - call.since);
  row.least = std::min(row.least, message);
  row.most = std::max(row.most, message);
  if (call.account) {
    call.account->row = &row;
    call.account->exchanged = call.exchanged;
    row.add(call.exchanged, call.account->early);
    row.under_way += call.account->early_seconds;
  } else if (!is_persistent(call.kind.call)) {
    row.add(call.exchanged);
  }
  changed_ = true;
  if (now >= next_write_) write(now);
}

void Report::finish(Followed::Account& account, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double lasted = seconds(now - account.since);
  changed_ = true;
  if (account.row == nullptr) {
    ++account.early;
    account.early_seconds += lasted;
    return;
  }
  account.row->add(account.exchanged);
  account.row->under_way += lasted;
}

void Report::write(Clock::time_point now) {
  if (path_.empty()) return;
  constexpr Clock::duration longest = std::chrono::minutes(1);
  interval_ = std::min(2 * interval_, longest);
  next_write_ = now + interval_;
  changed_ = false;
  if (replace_file(path_, report_text(reporter_, table_, choices_, finished_))) return;
  if (reporter_.rank <= 0) say("cannot write the report in " + settings().report + " (HOCKET_REPORT)");
  path_.clear();
}

void Report::log(const CurrentCall& call, const CallSite& site, std::uint64_t message) {
  if (!said_.emplace(call.kind.call, call.kind.returns_to, call.kind.ranks, call.kind.outcome).second) return;
  const bool scheduled = call.kind.outcome.kind == Outcome::Kind::scheduled;
  say(std::string(call_name(call.kind.call)) + " at " + site.text() + ", " + std::to_string(call.kind.ranks) +
      " ranks, messages of " + std::to_string(message) + " bytes: " +
      (scheduled ? "scheduled" : "served by the MPI library (" + std::string(reason(call.kind.outcome)) + ")"));
}

/// Seconds of the plan for messages of other sizes than it was made for; nothing of messages that differ in size,
/// unless it was made for exactly these.
Figures scaled(const Planned& planned, double message) {
  if (message == 0) return planned.demand.pattern == Pattern::irregular ? planned.figures : Figures{};
  const double times = message / static_cast<double>(planned.demand.bytes);
  return {planned.figures.predicted * times, planned.figures.bound * times};
}

/// Between hosts by a schedule, by the MPI library, or each rank of a host its share.
std::string served_by(const Exchange& exchange) {
  const Planned& planned = exchange.planned();
  if (exchange.host_team() == nullptr) return planned.algorithm;
  if (exchange.all_lead()) return "aggregates by all ranks";
  return "aggregates by " + (planned.window > 0 ? planned.algorithm : "the MPI library");
}

}  // namespace

void detail::note_native(FallbackReason why, std::uint64_t bytes, std::uint64_t of_root, const std::string& detail) {
  current().kind.outcome = {Outcome::Kind::native, why, detail};
  current().exchanged = {bytes, {}};
  current().of_root = of_root;
}

void detail::note_scheduled(const Exchange& exchange, std::uint64_t bytes, std::uint64_t message, bool has_root) {
  current().kind.outcome = {Outcome::Kind::scheduled, {}, served_by(exchange)};
  current().of_root = has_root ? message : 0;
  current().exchanged = {bytes, scaled(exchange.planned(), static_cast<double>(message))};
}

void note_choice(ChoiceRow row) {
  if (reporting) Report::instance().add(std::move(row));
}

Followed Followed::this_call() {
  Followed followed;
  if (!reporting || !current().open) return followed;
  if (!current().account) current().account = std::make_shared<Account>();
  followed.account_ = current().account;
  return followed;
}

void Followed::started() {
  if (account_) Report::instance().start(*account_);
}

void Followed::over() {
  if (account_) Report::instance().finish(*account_, Clock::now());
}

}  // namespace hocket::runtime

using namespace hocket::runtime;

/// For the shim: whether it is to tell of calls that may be scheduled, and to hand over those that never are.
extern "C" __attribute__((visibility("default"))) int hocket_reporting() { return reporting || recording ? 1 : 0; }

/// A call of the program begins. One within another, made by an error handler say, takes its place.
extern "C" __attribute__((visibility("default"))) void hocket_call_begins(int call, const void* returns_to,
                                                                          const std::intptr_t* arguments) {
  if (!reporting) return;
  current() = {};
  current().open = true;
  current().kind.call = call;
  current().kind.returns_to = returns_to;
  current().comm = from_word<MPI_Comm>(arguments[communicator_argument(call)]);
  if (current().comm != MPI_COMM_NULL) (void)PMPI_Comm_size(current().comm, &current().kind.ranks);
  current().since = Clock::now();
}

extern "C" __attribute__((visibility("default"))) void hocket_call_ends() {
  if (!current().open) return;
  Report::instance().add(current(), Clock::now());
  current() = {};
}
