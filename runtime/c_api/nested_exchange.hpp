#pragma once
/// An exchange between buffers of which there is one per message, as in figure 9 of Wang, Lin and Ranka.
#include "runtime/c_api/phase_table.hpp"
#include "runtime/progress/scheduled_operation.hpp"

namespace hocket::runtime {

class NestedExchange final : public ScheduledOperation {
 public:
  /// Both must outlive the operation; the exchange runs the program of the table.
  NestedExchange(const Exchange& exchange, const PhaseTable& table) : ScheduledOperation(exchange), table_(table) {}
  /// Sets the buffers of the next begin(), in the order of targets and sources. The arrays must live until begin()
  /// returns.
  void use(const void* const* send, void* const* receive) {
    send_ = send;
    receive_ = receive;
  }

 private:
  [[nodiscard]] Traffic pack() override;
  void unpack() override {}

  const PhaseTable& table_;
  const void* const* send_ = nullptr;
  void* const* receive_ = nullptr;
};

}  // namespace hocket::runtime
