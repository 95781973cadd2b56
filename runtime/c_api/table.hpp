#pragma once
/// The definition of the public interface's opaque hocket_table.
#include <mpi.h>

#include <memory>
#include <vector>

#include "runtime/agreement/private_comms.hpp"
#include "runtime/c_api/nested_exchange.hpp"
#include "runtime/c_api/phase_table.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/progress/requests.hpp"

struct hocket_table {
  using Phases = hocket::runtime::PhaseTable;
  using ManagedRequest = hocket::runtime::ManagedRequest;

  /// The table must have passed check_table().
  hocket_table(hocket::runtime::PrivateComm own, Phases made);
  /// Refused while it is under way, or if a buffer is missing.
  void start(const void* const* send, void* const* receive);
  [[nodiscard]] bool under_way() const { return served->state != ManagedRequest::State::inactive; }
  /// A step of everything that is under way in this process; true if this exchange is over.
  [[nodiscard]] bool test();
  void wait();

  hocket::runtime::PrivateComm comm;
  Phases phases;
  std::vector<hocket_phase> rows;
  hocket::runtime::Exchange exchange;
  std::shared_ptr<ManagedRequest> served;  ///< makes progress whenever one of the runtime's waits does

 private:
  void collect();
  hocket::runtime::NestedExchange* operation_;  ///< owned by `served`
};
