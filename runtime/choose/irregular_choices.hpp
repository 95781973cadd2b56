#pragma once
/// Who serves the irregular exchanges of a communicator, and what is kept of that.
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/demand/demand.hpp"
#include "runtime/choose/keeper.hpp"
#include "runtime/choose/selection.hpp"

namespace hocket::runtime {

/// What evidence about an irregular exchange is kept under.
struct DemandClass {
  std::uint64_t digest = 0;  ///< of who sends to whom messages of which size class
  std::uint64_t mean_bytes = 0;
};
[[nodiscard]] DemandClass class_of(const Demand& demand);

class IrregularChoices final : public Keeper {
 public:
  struct Members {
    int rank = 0, size = 0, hosts = 0;
    std::function<std::string()> place;  ///< digest of what evidence depends on; the ranks have met
  };
  explicit IrregularChoices(Members members) : members_(std::move(members)) {}
  IrregularChoices(const IrregularChoices&) = delete;
  IrregularChoices& operator=(const IrregularChoices&) = delete;
  ~IrregularChoices() { end(); }

  /// Of an exchange that was planned just now, for which no schedule takes less than `bound` seconds (0: not known).
  /// What earlier runs have found out about exchanges of its class counts. Collective.
  [[nodiscard]] std::shared_ptr<Selection> begin(MPI_Comm comm, DemandClass demand_class, double bound,
                                                 AgreedCost::Of of);

 private:
  struct Known {
    std::string layout;  ///< of the evidence: the class
    std::uint64_t mean_bytes;
    std::shared_ptr<Selection> selection;
  };
  void keep() const override;

  Members members_;
  std::optional<std::vector<Evidence>> kept_;  ///< of earlier runs, once it was asked for
  std::string place_, mpi_;
  std::vector<Known> known_;  ///< also of exchanges that nobody remembers any more
};

}  // namespace hocket::runtime
