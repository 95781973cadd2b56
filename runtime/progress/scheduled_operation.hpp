#pragma once
/// A collective call that an exchange serves.
#include <cstddef>
#include <optional>

#include "runtime/exchange/exchange.hpp"
#include "runtime/exchange/exchange_run.hpp"
#include "runtime/mpi/called.hpp"
#include "runtime/progress/operation.hpp"

namespace hocket::runtime {

/// Says what a call fails by, and throws MPI_ERR_TRUNCATE. `rank`: this one.
[[noreturn]] void fail(const char* call, std::size_t rank, const LengthMismatch& mismatch);

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
