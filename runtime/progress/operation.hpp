#pragma once
/// An asynchronously progressed collective.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/exchange/exchange.hpp"
#include "runtime/exchange/exchange_run.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

/// A collective that makes progress in steps. It can begin again when it is over.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void begin() = 0;  ///< packs and posts what it can; does not block
  /// Moves what can be moved; true when everything is over (received data in place). Never blocks.
  [[nodiscard]] virtual bool advance() = 0;
  /// Grows when advance() moved something: who waits then tries again before he sleeps.
  [[nodiscard]] virtual std::uint64_t moves() const { return 0; }
  /// Waits until advance() may have something to do, or for some milliseconds, without taking the processor; false: it
  /// knows no better way than to look now and then. There is nothing else to move.
  [[nodiscard]] virtual bool wait() { return false; }
  /// The rank is about to wait inside the MPI library, where nobody advances this: hands over all that
  /// is left, so that the other ranks can finish. advance() goes on afterwards.
  virtual void post_remaining() = 0;
  /// It takes longer than it may: from here on it waits for no rank's turn, only for bytes. Where nothing can be done
  /// about it nothing changes.
  virtual void give_up_order() {}
  /// True if other ranks can finish without this rank's advancing the operation. False, even after post_remaining(),
  /// while this rank must still forward data that has not arrived.
  [[nodiscard]] virtual bool handed_over() const = 0;
};

/// Says what a call fails by, and throws MPI_ERR_TRUNCATE. `rank`: this one.
[[noreturn]] void fail(const char* call, std::size_t rank, const LengthMismatch& mismatch);

/// A collective call that an exchange serves.
class ScheduledOperation : public Operation {
 public:
  /// The exchange must outlive the operation and be used by nothing else while this is under way.
  explicit ScheduledOperation(const Exchange& exchange) : exchange_(exchange) {}
  ScheduledOperation(const ScheduledOperation&) = delete;
  ScheduledOperation& operator=(const ScheduledOperation&) = delete;

  void begin() final;
  [[nodiscard]] bool advance() final;
  [[nodiscard]] const Exchange& exchange() const { return exchange_; }
  [[nodiscard]] std::uint64_t moves() const final { return pass_ ? pass_->moves() : 0; }
  void post_remaining() final {
    if (pass_) pass_->post_remaining();
  }
  void give_up_order() final {
    if (pass_) pass_->give_up_order();
  }
  [[nodiscard]] bool handed_over() const final { return !pass_ || pass_->handed_over(); }

 protected:
  [[nodiscard]] const Planned& planned() const { return exchange_.planned(); }
  /// In pack(): what this rank has for itself is longer than what it takes it for. The call goes on, since others wait
  /// for it, and then fails.
  void own_differs(std::size_t sent, std::size_t expected) {
    own_mismatch_ = {static_cast<Rank>(exchange_.rank()), sent, expected};
  }

 private:
  /// Puts what goes out where it can be sent from, and says where everything lies.
  [[nodiscard]] virtual Traffic pack() = 0;
  /// Puts what came in where the program wants it.
  virtual void unpack() = 0;

  const Exchange& exchange_;
  const char* call_ = Called::now();
  std::optional<LengthMismatch> own_mismatch_;
  Traffic traffic_;
  std::optional<ExchangeRun> pass_;
};

}  // namespace hocket::runtime
