#pragma once
/// A table of hocket.h, and the network that it is for.
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/network/network.hpp"
#include "core/plan/binary.hpp"
#include "core/plan/program.hpp"
#include "hocket.h"
#include "runtime/agreement/agreement.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

// One rank's part of a scheduled irregular exchange: what it sends and receives, phase by phase, and how
// it is written to a file. Source: Wang, Lin and Ranka, section 4 (communication phase table, figure 8).

/// A destination or source vector.
struct Partners {
  std::vector<int> ranks;
  std::vector<std::int64_t> bytes;

  void add(int rank, std::int64_t size) {
    ranks.push_back(rank);
    bytes.push_back(size);
  }
  [[nodiscard]] std::size_t size() const { return ranks.size(); }
  bool operator==(const Partners&) const = default;
};

struct PhaseTable {
  std::uint32_t ranks = 0;
  Rank rank = 0;  ///< owner of this table; a communicator rank, like all ranks here
  std::string algorithm;
  std::uint64_t seed = 0;
  std::uint64_t phases = 0;
  std::uint32_t window = 1;                        ///< messages that may be unacknowledged
  double lockstep_seconds = 0, bound_seconds = 0;  ///< 0: unknown
  std::uint64_t place = 0;                         ///< digest of the network and of where the ranks are in it
  std::uint64_t whole = 0;                         ///< sum of the digests of all ranks' parts
  Partners targets;                                ///< the caller's list: may hold the rank itself and empty messages
  Partners sources;                                ///< ascending; no message of no bytes
  RankProgram program;                             ///< one piece per send and receive
};

/// The rows of figure 8.
[[nodiscard]] std::vector<hocket_phase> rows_of(const PhaseTable& table);

/// Digest of everything but `whole`. Its sum over all ranks distinguishes tables of one exchange from a mixture.
[[nodiscard]] std::uint64_t part_digest(const PhaseTable& table);

/// Throws InputError unless each is one of the ranks, given once, with a number of bytes.
void check_partners(const Partners& partners, std::uint32_t ranks);
/// Throws InputError unless the program carries every byte of the targets and sources exactly once, straight from
/// sender to receiver.
void check_table(const PhaseTable& table);

/// The layout is described in docs/formats.md.
[[nodiscard]] Bytes encode_table(const PhaseTable& table);
/// Throws PlanProblem for anything but a whole, undamaged table; whether it passes check_table() is not looked at.
[[nodiscard]] PhaseTable decode_table(ByteView bytes);

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
