#pragma once
/// Agreement, plans and exchanges of the ranks of a communicator. They are kept when the program frees it, and serve
/// the next one of the same ranks in the same order, if all of them have kept the same.
#include <mpi.h>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/irregular/vector_exchanges.hpp"
#include "runtime/paths/pacing.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/two_level/host_team.hpp"

namespace hocket::runtime {

struct Setup {
  std::uint64_t number = 0;         ///< Places::number; 0: it must not serve another communicator
  std::vector<int> world_ranks;     ///< of the communicator's ranks
  std::string problem;              ///< the reason why calls go to the MPI library
  int hosts = 0;                    ///< 0: the ranks cannot follow a plan together
  bool machines_differ = true;      ///< no two hosts are one machine
  bool neighbours_collide = false;  ///< a ring in the order of ranks sends twice over some channel
  Numbering numbering;
  std::shared_ptr<PrivateComms> comms = std::make_shared<PrivateComms>();
  std::optional<PrivateComms::Lease> private_comm;
  bool private_asked = false;
  const Network* network = nullptr;
  bool network_asked = false;
  std::optional<Network> measured;
  using Way = std::pair<CallKind, std::string_view>;  ///< call kind and name of the candidate
  bool host_team_asked = false;
  std::optional<PrivateComm> between_leaders;
  std::unique_ptr<HostTeam> host_team;
  std::map<Way, std::unique_ptr<Exchange>> exchanges;  ///< null: such calls go to the MPI library
  std::unique_ptr<VectorExchanges> vectors;
};

/// A schedule of the setup serves a call as long as this lives. After a call that fails nothing is handed on.
class Serving {
 public:
  Serving(Setup& setup, std::uint64_t pace) : setup_(setup), paced_(settings().paths_table, pace) {}
  ~Serving() {
    if (std::uncaught_exceptions() > before_) setup_.number = 0;
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  Setup& setup_;
  Paced paced_;
  int before_ = std::uncaught_exceptions();
};

/// Keeps a setup until MPI ends; the one that was kept first goes if there are too many. Local.
void keep(std::unique_ptr<Setup> setup);
/// The last setup kept of these ranks, and no longer so; null: none. Local.
[[nodiscard]] std::unique_ptr<Setup> take_kept(const std::vector<int>& world_ranks);

/// The ranks of each host come to share memory.
/// Null, on all ranks alike and with a warning, where the ranks of some host cannot. Collective; `own` is the runtime's
/// alone.
[[nodiscard]] std::unique_ptr<HostTeam> form_host_team(MPI_Comm own, const Numbering& numbering);

}  // namespace hocket::runtime
