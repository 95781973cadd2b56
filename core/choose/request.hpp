#pragma once
/// Planning as users mean it: a request in, a plan out with all that is known about it.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/algorithms/plan_exchange.hpp"
#include "core/model/memory_profile.hpp"
#include "core/two_level/verify.hpp"

namespace hocket {

/// Costs by which the ways in which a run may serve a call are predicted.
struct RunCosts {
  /// Costs of messages of about so many bytes, in segments of so many; 0: not cut, as MPI libraries send them.
  std::function<ModelParameters(std::uint64_t bytes, std::uint64_t segment)> of_messages;
  std::function<MemoryProfile()> memory;  ///< asked where ranks share hosts
  std::uint64_t segment = 0;              ///< usual bytes of an MPI message of a schedule
  std::uint64_t host_memory = 0;          ///< bytes that an exchange in two levels may use on a host
};

struct PlanRequest {
  std::shared_ptr<const Network> network;
  Demand demand;
  ScheduleOptions options = {};
  bool two_level = false;              ///< one message between two hosts for all their ranks; needs `costs`
  bool bounds = false;                 ///< those of an all-to-all by any routes, too
  std::optional<RunCosts> costs = {};  ///< what runs, and libraries, make of it is predicted by these
  std::uint64_t most_compared = 0;     ///< messages of a plan whose alternatives are simulated
};

/// The schedule with waits and prediction, verified, and what else is asked for. Throws InputError.
[[nodiscard]] Plan plan(const PlanRequest& request);

/// Candidates that default settings offer to a run of the plan, and the algorithms of MPI libraries; without the
/// library's own call, whose algorithm is unknown. Candidates are not simulated for plans of more than `most_messages`,
/// and of an irregular exchange nothing is.
[[nodiscard]] Forecast forecast(const Plan& plan, const RunCosts& costs, std::uint64_t most_messages);

/// Exchange of ranks that a plan of one rank a host, with one message between any two, is made for. The plan's times of
/// planning and verifying are those of both levels.
struct TwoLevelPlan {
  TwoLevelExchange exchange;
  TwoLevelCertificate certificate;
  std::optional<TwoLevelTime> time = {};      ///< none if the simulation would take too many steps
  std::uint64_t direct_messages = 0;          ///< of ranks, one by one, that leave their host
  std::optional<double> direct_seconds = {};  ///< with these, under the faster of the usual windows
  /// The largest size of a message, or of a rank's contribution, in bytes, for which aggregates are predicted to be
  /// faster: a power of two, 0 for none. It is assumed that they are faster below. None: too large to be simulated.
  std::optional<std::uint64_t> faster_up_to = {};
};

/// True if runs can aggregate the exchange in so much memory of a host; not those to which one rank contributes.
[[nodiscard]] bool runs_two_level(const HostGroups& groups, const Demand& demand, std::uint64_t host_memory);

}  // namespace hocket
