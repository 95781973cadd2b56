#pragma once
/// Selection of candidates for the irregular exchanges of a communicator, and the timings kept.
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

/// The key under which timings of an irregular exchange are kept.
struct DemandClass {
  std::uint64_t digest = 0;  ///< digest of senders, receivers and size classes of all messages
  std::uint64_t mean_bytes = 0;
};
[[nodiscard]] DemandClass class_of(const Demand& demand);

class IrregularChoices final : public Keeper {
 public:
  struct Members {
    int rank = 0, size = 0, hosts = 0;
    std::function<std::string()> place;  ///< digest of what timings depends on; the ranks have met
  };
  explicit IrregularChoices(Members members) : members_(std::move(members)) {}
  IrregularChoices(const IrregularChoices&) = delete;
  IrregularChoices& operator=(const IrregularChoices&) = delete;
  ~IrregularChoices() { end(); }

  /// Starts the selection for a newly planned exchange, using timings that earlier runs kept for its class. `bound`:
  /// lower bound of any schedule in seconds; 0: not known. Collective.
  [[nodiscard]] std::shared_ptr<Selection> begin(MPI_Comm comm, DemandClass demand_class, double bound,
                                                 AgreedCost::Of of);

 private:
  struct Known {
    std::string layout;  ///< KeptTimings::layout, the class of the demand
    std::uint64_t mean_bytes;
    std::shared_ptr<Selection> selection;
  };
  void keep() const override;

  Members members_;
  std::optional<std::vector<KeptTimings>> kept_;  ///< timings from earlier runs, read on first use
  std::string place_, mpi_;
  std::vector<Known> known_;  ///< includes exchanges dropped from the schedule cache
};

}  // namespace hocket::runtime
