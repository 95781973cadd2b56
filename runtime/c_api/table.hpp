#pragma once
/// A table of hocket.h, and the network that it is for.
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/agreement/private_comm.hpp"
#include "runtime/c_api/phase_table.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

/// The network as the ranks of one communicator see it.
struct Site {
  Network network;              ///< its ranks are those of the communicator, in host order
  Numbering numbering;          ///< numbering of these ranks
  std::uint64_t digest;         ///< digest of network and numbering; the same on all ranks
  bool machines_differ = true;  ///< see Places
};

/// Collective. The network of the plans, restricted to the hosts of these ranks; without plans every rank is a host of
/// one switch. Throws ApiError, on all ranks alike, where these cannot follow a plan together (Places).
[[nodiscard]] Site site_of(MPI_Comm comm);

/// The site's network by which to plan: where the launcher only assumed how wide uplinks are, as wide as they are
/// measured, by what is known or by measuring now. Where they cannot be measured, as assumed, with a warning.
/// Collective; nobody else uses `own` meanwhile. Throws MpiFailure.
[[nodiscard]] Network network_to_plan(MPI_Comm own, const Site& site);

/// An exchange between buffers of which there is one per message, as in figure 9 of Wang, Lin and Ranka.
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

/// The opaque type of the public interface.
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
