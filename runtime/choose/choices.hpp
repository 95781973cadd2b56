#pragma once
/// Selection of a candidate for the calls of one communicator: the MPI library or one of the schedules.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/choose/candidate.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/exchange/exchange.hpp"

namespace hocket::runtime {

/// The calls of one kind on one communicator with messages of one class of sizes.
struct Choice {
  enum class Stage : std::uint8_t {
    watched,   ///< the library serves all calls; some are timed, until it is clear that planning pays
    selected,  ///< `selection` decides call by call
    fixed,     ///< always the same candidate: nothing can be scheduled, or a prediction has chosen
  };
  CallKind kind;
  MessageSizes sizes;  ///< in the first call
  KeptTimings known;   ///< timings from earlier runs; no candidates: there are none
  Stage stage = Stage::watched;
  std::uint64_t calls = 0;
  std::uint64_t unseen = 0;          ///< calls before the last one of which the ranks knew nothing
  std::uint64_t unspent = 0;         ///< watched calls that are not in what was spent in them
  bool left = false;                 ///< what is to be agreed on is left for settle()
  bool decided = false;              ///< `selection` has decided on the next call
  AgreedCost look;                   ///< cost of the watched call
  std::uint32_t looks = 0;           ///< calls of the present look whose cost is known
  double native_seconds = 0;         ///< time of the library's call while it was watched; 0: not known yet
  double bound_seconds = 0;          ///< lower bound for a schedule, by the described rates
  bool outruns_wires = false;        ///< it takes less than the links as described need: no schedule is faster
  std::size_t candidate = 0;         ///< index of the candidate in the table, except in Stage::selected
  std::vector<std::size_t> offered;  ///< candidates to select from: their places in the table
  std::vector<double> predicted;     ///< seconds, by offered candidate
  std::optional<Selection> selection;
};

/// The ranks of a communicator, and what they share, made on first use: see Team. What takes a communicator is
/// collective.
class Members {
 public:
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int hosts() const = 0;
  [[nodiscard]] virtual const Numbering& numbering() const = 0;
  /// The ranks agree on where they are: digest of everything that timings depend on. Empty: nothing can be scheduled.
  [[nodiscard]] virtual std::string place(MPI_Comm comm) = 0;
  /// Null: cannot be scheduled.
  [[nodiscard]] virtual Exchange* exchange(MPI_Comm comm, CallKind kind, const Candidate& candidate) = 0;
  /// The one that was made; null: none was.
  [[nodiscard]] virtual Exchange* made_exchange(CallKind kind, const Candidate& candidate) const = 0;
  /// True if messages of `bytes` bytes fit the shared memory of the two-level exchange for `kind`, which must exist.
  [[nodiscard]] virtual bool aggregates(CallKind kind, std::size_t bytes) const = 0;
  /// Something is left to be agreed on in the next call in which all ranks wait for each other
  /// (docs/decisions/0063-what-is-agreed-waits-for-who-waits.md). At the same place among the calls of the communicator
  /// on every rank.
  virtual void leave_pending() = 0;
  /// The communicator of all blocking scheduled calls, which can share one: they never overlap, and each receives all
  /// its messages. MPI_COMM_NULL, on all ranks alike, where there are too many.
  [[nodiscard]] virtual MPI_Comm private_comm(MPI_Comm comm) = 0;
  /// The network for which all-to-alls and irregular exchanges are planned: the plans' own, or a copy with measured
  /// uplink bandwidths, or with the ways that connections take where these have changed. Null, on all ranks alike and
  /// with a warning, where these widths are only assumed and cannot be measured. All-gathers do not rest on them: rings
  /// of switches load every link with one message each way.
  [[nodiscard]] virtual const Network* network(MPI_Comm comm) = 0;
  /// Bytes per second of a host's link, measured; 0: hosts share machines, or nothing came through.
  [[nodiscard]] virtual std::uint64_t host_rate(MPI_Comm comm) = 0;
  /// The reason why there is no plan.
  virtual void trouble(const std::string& problem) = 0;

 protected:
  ~Members() = default;
};

/// The library serves the first call of a size. If that lasts long enough to pay for a plan, the candidate that is
/// expected to cost least serves the next one (hocket/choose/chooser.hpp).
class Choices {
 public:
  explicit Choices(Members& members);
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
  ~Choices();

  /// The calls are over: tells and keeps what was learned, once, when MPI ends, or before, when the communicator does.
  /// Communicators that the program never frees live until then.
  void end() noexcept;

  /// Calls take other ways now: what was learned so far is told and kept, and all but what is settled is found out
  /// anew. Collective.
  void begin_anew(MPI_Comm comm);

  /// One call, from its choice to its end.
  class Call {
   public:
    [[nodiscard]] const Candidate& candidate() const { return *candidate_; }
    /// Null: the MPI library serves it, or a schedule of its own.
    [[nodiscard]] Exchange* exchange() const { return exchange_; }
    /// True if something is being found out about such calls.
    [[nodiscard]] bool goes_on() const;
    [[nodiscard]] Deadline deadline() const { return deadline_; }  ///< time at which it gives up its order
    /// The call has ended on this rank.
    void over();

   private:
    friend class Choices;
    const Candidate* candidate_ = &all_candidates[0];
    double times_ = 1;  ///< seconds of a call of the class for each of this one
    AgreedCost* look_ = nullptr;
    Selection* selection_ = nullptr;
    Exchange* exchange_ = nullptr;
    Deadline deadline_ = never;
  };

  /// For a blocking call. `waits`: a rank cannot end it before all others have begun it. Collective then; else nothing
  /// is agreed on, and what is to be is left for settle(). `unseen`: calls like it that the library has served since.
  [[nodiscard]] Call begin(MPI_Comm comm, CallKind kind, const MessageSizes& sizes, bool waits,
                           std::uint64_t unseen = 0);
  /// Agrees on what calls in which a rank need not wait have left. In calls in which all ranks wait. Collective.
  void settle(MPI_Comm comm);
  /// The least message of such calls that schedules serve: shorter ones the library sends before anybody receives them
  /// (64 KiB is the largest usual eager limit), and a schedule's sender would wait.
  static constexpr std::size_t least_without_waiting = 64 << 10;

  /// For calls that cannot be timed: the candidate of the list that serves blocking calls of the same kind and size by
  /// now. Null: there were none. Local.
  [[nodiscard]] const Candidate* fastest(CallKind kind, const MessageSizes& sizes);
  /// And where nobody knows all sizes: the one that serves the class of sizes with most calls so far.
  [[nodiscard]] const Candidate* fastest(CallKind kind);

  /// For calls whose result depends on who serves them: the candidate that serves all of the kind and size, found out
  /// before the first of them; null: they go as they were planned. Collective.
  [[nodiscard]] const Candidate* settled(MPI_Comm comm, CallKind kind, std::size_t bytes);
  /// The overload for nonblocking calls, which wait for no other rank. Requires met(). Local.
  [[nodiscard]] const Candidate* settled(CallKind kind, std::size_t bytes);
  /// And for blocking calls in which a rank need not wait: the library's for good where no exchange is made yet. Local.
  [[nodiscard]] const Candidate* settled_as_made(CallKind kind, std::size_t bytes);
  /// True if nonblocking calls of this kind and size are scheduled. The first of them decides for all: it is if its
  /// communicator was `ready`.
  [[nodiscard]] bool is_scheduled_later(CallKind kind, std::size_t bytes, bool ready) {
    return later_.try_emplace({kind, size_class(bytes)}, ready).first->second;
  }

  /// The rate of hosts' links over the described one: 1 unless it was measured.
  [[nodiscard]] double faster() const { return faster_; }

  /// The ranks know their place and what is kept of it.
  [[nodiscard]] bool met() const { return met_; }
  /// Collective.
  void meet(MPI_Comm comm);

  /// Messages that are ten times as long on a wire as the rest of a phase takes over TCP, on the slow side: where no
  /// call is timed, shorter ones might take longer by a schedule. There must be a network.
  [[nodiscard]] static std::size_t long_message_bytes();

 private:
  [[nodiscard]] Choice& of(CallKind kind, const MessageSizes& sizes);
  [[nodiscard]] Choice* find(CallKind kind, const MessageSizes& sizes);  ///< null: there was no such call
  [[nodiscard]] bool is_long(std::size_t bytes) const;
  [[nodiscard]] const Candidate* proven(CallKind kind, std::size_t bytes);
  [[nodiscard]] bool looks_at(const Choice& choice) const;
  [[nodiscard]] bool may_look_for_kept(const Choice& choice) const;
  void look_for_kept(MPI_Comm comm, const Choice& choice);
  void agree(MPI_Comm comm, Choice& choice);
  void leave(Choice& choice);
  [[nodiscard]] static const Candidate& next(const Choice& choice);
  void watch(MPI_Comm comm, Choice& choice);
  [[nodiscard]] double credit() const;
  [[nodiscard]] double wire_seconds(const Choice& choice) const;
  /// The bound of a planned exchange for messages of so many bytes, by the rates of the network as described.
  [[nodiscard]] static double bound_seconds(const Planned& planned, std::size_t bytes);
  /// True if others load the wires meanwhile: most likely communicators of the same split, which choose alike.
  [[nodiscard]] bool shares_wires(const Choice& choice) const;
  void doubt_rates(MPI_Comm comm, const Choice& choice);
  [[nodiscard]] bool pays(const Choice& choice, double seconds) const;
  [[nodiscard]] double agreement_seconds(MPI_Comm comm);
  void open(MPI_Comm comm, Choice& choice);
  /// True if two-level messages of the whole size class fit the shared memory of the hosts. Collective.
  [[nodiscard]] bool offers_two_level(MPI_Comm comm, const Choice& choice, const Candidate& candidate) const;
  /// Seconds of the offered candidates; `exchanges`: theirs, null of the library's own. Collective over `own`.
  [[nodiscard]] std::vector<double> predictions(MPI_Comm own, const Choice& choice,
                                                std::span<const Exchange* const> exchanges) const;
  [[nodiscard]] double simulated(const Exchange& exchange, const Choice& choice, const Candidate& candidate) const;
  [[nodiscard]] double estimated(const Exchange& exchange, const Choice& choice, const Candidate& candidate) const;
  [[nodiscard]] double within_host_seconds(const Exchange& exchange, const Choice& choice) const;
  /// Bytes per message of the exchange.
  [[nodiscard]] static std::size_t carried_bytes(const Exchange& exchange, const Choice& choice);
  [[nodiscard]] bool is_tried_elsewhere(const Choice& choice) const;
  [[nodiscard]] double prediction_error(const Choice& choice) const;
  void recall(Choice& choice) const;
  void tell(const Choice& choice) const;
  void keep() const;
  void keep_if_possible() const noexcept;

  Members& members_;
  std::list<Choice> choices_;
  Choice* last_ = nullptr;
  bool met_ = false, looked_for_kept_ = false, ended_ = false;
  std::string place_;  ///< digest of everything that timings depend on; empty: nothing can be scheduled
  std::string mpi_;
  std::vector<KeptTimings> timings_;                   ///< timings from earlier runs in this configuration
  std::optional<SmallCosts> small_, between_leaders_;  ///< measured among all ranks, and among leaders
  double spent_ = 0;                                   ///< seconds in watched calls
  std::optional<double> agreement_seconds_;
  bool rates_doubted_ = false;
  double faster_ = 1;                              ///< times the rates of the network as described, if measured
  using Key = std::pair<CallKind, std::uint32_t>;  ///< call kind and size class
  std::map<Key, const Candidate*> settled_;
  std::map<Key, bool> later_;
};

}  // namespace hocket::runtime
