#pragma once
/// A collective call for which the ranks of each host act together.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/bundle/host_team.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/exchange/exchange_run.hpp"
#include "runtime/progress/operation.hpp"

namespace hocket::runtime {

/// Every rank puts what it has into the memory of its host. When all have, the leader carries it to the other hosts,
/// and what they have here, by an exchange between leaders. When that is over every rank takes out what is its own.
///
/// Of two calls that follow each other each has a half of the memory. So nobody waits until the others have taken out
/// theirs: who begins the second call after this one knows that all have begun the one between.
class BundledOperation : public Operation {
 public:
  /// Between the leaders; on other ranks it has no messages. It must outlive the operation.
  explicit BundledOperation(const Exchange& exchange);
  BundledOperation(const BundledOperation&) = delete;
  BundledOperation& operator=(const BundledOperation&) = delete;

  void begin() final;
  [[nodiscard]] bool advance() final;
  [[nodiscard]] const Exchange& exchange() const { return exchange_; }
  [[nodiscard]] std::uint64_t moves() const final { return moves_ + (run_ ? run_->moves() : 0); }
  /// Nothing: a rank that waits elsewhere keeps the others of its host waiting. So such operations only block.
  void post_remaining() final {}
  [[nodiscard]] bool handed_over() const final { return stage_ == Stage::over; }

 protected:
  [[nodiscard]] const Hosts& hosts() const { return team_.hosts; }
  [[nodiscard]] HostMemory& memory() const { return *team_.memory; }
  [[nodiscard]] const Planned& planned() const { return exchange_.planned(); }
  /// The memory of this call.
  [[nodiscard]] std::byte* area() const { return memory().data() + call_ % 2 * (memory().bytes() / 2); }

 private:
  enum class Stage : std::uint8_t { gathering, working, carrying, over };

  virtual void put() = 0;
  /// When all have put in theirs: what every rank does before the leader carries.
  virtual void work() {}
  /// What the leader carries.
  [[nodiscard]] virtual Traffic traffic() = 0;
  virtual void take() = 0;

  const Exchange& exchange_;
  const HostTeam& team_;
  std::uint64_t call_ = 0, moves_ = 0;
  Stage stage_ = Stage::over;
  Traffic traffic_;
  std::optional<ExchangeRun> run_;
};

}  // namespace hocket::runtime
