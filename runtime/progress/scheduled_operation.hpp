#pragma once
/// A collective call that an exchange serves.
#include <optional>

#include "runtime/exchange/exchange.hpp"
#include "runtime/exchange/exchange_run.hpp"
#include "runtime/progress/operation.hpp"

namespace hocket::runtime {

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

 private:
  /// Puts what goes out where it can be sent from, and says where everything lies.
  [[nodiscard]] virtual Traffic pack() = 0;
  /// Puts what came in where the program wants it.
  virtual void unpack() = 0;

  const Exchange& exchange_;
  Traffic traffic_;
  std::optional<ExchangeRun> pass_;
};

}  // namespace hocket::runtime
