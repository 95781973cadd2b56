#pragma once
/// A collective call for which the ranks of each host act together.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/exchange/exchange_run.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/two_level/host_team.hpp"

namespace hocket::runtime {

/// Every rank puts what it has into the memory of its host. When all have, the leader carries it to the other hosts,
/// and what they have here, by an exchange between leaders or a call of the MPI library. When that is over every rank
/// takes out what is its own.
///
/// Where all lead, every rank carries to some of the hosts, and waits for the others before it takes out. Where hosts
/// have many ranks and messages are short, what a rank needs for each message is most of the time.
///
/// An error on one rank is known to all ranks of its host before they take out their results, so the call fails on all
/// of them.
///
/// Two successive calls use different halves of the memory. So no rank waits until the others have taken out their
/// results: a rank that begins the second call after this one knows that all have begun the one between.
class TwoLevelOperation : public Operation {
 public:
  /// Between the leaders; on other ranks it has no messages. It must outlive the operation.
  explicit TwoLevelOperation(const Exchange& exchange);
  TwoLevelOperation(const TwoLevelOperation&) = delete;
  TwoLevelOperation& operator=(const TwoLevelOperation&) = delete;

  void begin() final;
  [[nodiscard]] bool advance() final;
  [[nodiscard]] bool wait() final;
  [[nodiscard]] const Exchange& exchange() const { return exchange_; }
  [[nodiscard]] std::uint64_t moves() const final { return moves_ + (run_ ? run_->moves() : 0); }
  /// Nothing: a rank that waits elsewhere keeps the others of its host waiting. So such operations only block.
  void post_remaining() final {}
  void give_up_order() final {
    if (run_) run_->give_up_order();
  }
  [[nodiscard]] bool handed_over() const final { return stage_ == Stage::over; }

 protected:
  [[nodiscard]] const Hosts& hosts() const { return team_.hosts; }
  [[nodiscard]] HostMemory& memory() const { return *team_.memory; }
  [[nodiscard]] const Planned& planned() const { return exchange_.planned(); }
  /// Publishes this rank's arguments, from put(). The call fails on all ranks of a host where these differ.
  void give(std::uint64_t bytes, std::span<const std::uint64_t> more = {});
  /// A message is longer than this rank expects, or one of its own than what it takes it for.
  void differs(const LengthMismatch& mismatch) {
    if (!mismatch_) mismatch_ = mismatch;
  }
  /// True if ranks of this host gave different arguments. Valid once all have arrived.
  [[nodiscard]] bool spoilt() const { return memory().spoilt(call_); }
  /// At the end of an aggregate that the MPI library carries: what its host takes the call to be, or that it is spoilt.
  /// Elsewhere its length tells.
  using Mark = std::uint64_t;
  [[nodiscard]] std::size_t mark_bytes() const { return planned().window == 0 ? sizeof(Mark) : 0; }
  void put_mark(std::byte* at) const;
  void check_mark(const std::byte* at, std::size_t host);
  /// The half of the shared memory that belongs to this call.
  [[nodiscard]] std::byte* area() const { return memory().data() + call_ % 2 * (memory().bytes() / 2); }

 private:
  enum class Stage : std::uint8_t { gathering, working, carrying, landing, taken, over };

  [[nodiscard]] bool carries() const { return exchange_.all_lead() || hosts().leads(); }
  /// Starts the exchange between hosts, by schedule or by the MPI library's call.
  void begin_carrying();
  void begin_share();
  [[nodiscard]] bool carried();
  void end();
  [[noreturn]] void fail() const;
  void move_messages() const;

  virtual void put() = 0;
  /// True if every rank has work() to do between the last put() and the exchange between hosts.
  [[nodiscard]] virtual bool works() const { return false; }
  virtual void work() {}
  /// The leader's messages for the scheduled exchange.
  [[nodiscard]] virtual Traffic traffic() = 0;
  /// Starts the leaders' exchange by the MPI library's nonblocking call.
  virtual void carry(MPI_Comm leaders, MPI_Request* request) = 0;
  /// Used where all ranks act as leaders: the aggregate that this rank sends to a host, and the space for the one that
  /// it receives from a host. Empty aggregates are not sent.
  virtual void prepare_share() {}
  [[nodiscard]] virtual Span going_out(std::size_t) { return {}; }
  [[nodiscard]] virtual Span coming_in(std::size_t) { return {}; }
  virtual void take() = 0;
  /// True if this rank also has messages outside the aggregates; all_in() tells when these are complete.
  [[nodiscard]] virtual bool waits_for_more() const { return false; }
  [[nodiscard]] virtual bool all_in() { return true; }

  const Exchange& exchange_;
  const HostTeam& team_;
  const char* name_ = Called::now();
  std::uint32_t call_ = 0;
  std::uint64_t given_ = 0;
  bool as_first_ = true;  ///< false: this rank's arguments differ from those of the first rank on its host
  std::optional<LengthMismatch> mismatch_;
  std::uint64_t moves_ = 0;
  Stage stage_ = Stage::over;
  std::chrono::microseconds sleep_{1000};  ///< longest next wait for ranks of this host
  Traffic traffic_;
  std::optional<ExchangeRun> run_;
  std::vector<MPI_Request> requests_;
};

}  // namespace hocket::runtime
