#pragma once
/// The duels of a communicator's irregular exchanges, and what is kept of them.
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/demand/demand.hpp"
#include "runtime/choose/duel.hpp"
#include "runtime/choose/keeper.hpp"

namespace hocket::runtime {

/// What evidence about an irregular exchange is kept under.
struct DemandClass {
  std::uint64_t digest = 0;  ///< of who sends to whom messages of which size class
  std::uint64_t mean_bytes = 0;
};
[[nodiscard]] DemandClass class_of(const Demand& demand);

class Duels final : public Keeper {
 public:
  struct Members {
    int rank = 0, size = 0, hosts = 0;
    std::function<std::string()> place;  ///< digest of what evidence depends on; the ranks have met
  };
  explicit Duels(Members members) : members_(std::move(members)) {}
  Duels(const Duels&) = delete;
  Duels& operator=(const Duels&) = delete;
  ~Duels() { end(); }

  /// Of an exchange that was planned just now; `bound` as for Duel. What earlier runs have found out about exchanges of
  /// its class counts. Collective.
  [[nodiscard]] std::shared_ptr<Duel> begin(MPI_Comm comm, DemandClass demand_class, double bound,
                                            AgreedCosts::Cost cost);

 private:
  struct Known {
    std::string layout;  ///< of the evidence: the class
    std::uint64_t mean_bytes;
    std::shared_ptr<Duel> duel;
  };
  void keep() const override;

  Members members_;
  std::optional<std::vector<Evidence>> kept_;  ///< of earlier runs, once it was asked for
  std::string place_, mpi_;
  std::vector<Known> known_;  ///< also those that nobody remembers any more
};

}  // namespace hocket::runtime
