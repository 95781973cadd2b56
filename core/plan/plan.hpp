#pragma once
/// The plan: network, demand and every rank's program, in one file that checks itself.
///
/// Layout (docs/formats.md): a header with a table of sections, each with its checksum; the
/// programs of the ranks can be read one at a time, so that a rank reads the header, the network and
/// its own program only. The matrix of an irregular demand has a section of its own: it says which calls the plan
/// serves.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/network/spec.hpp"
#include "core/plan/binary.hpp"
#include "core/plan/program.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/verify.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

/// Empty for regular demands, which the header describes whole.
[[nodiscard]] Bytes encode_matrix(const Demand& demand);
/// Fills in the matrix of a demand whose pattern, ranks and largest message the header has told. Throws
/// PlanProblem for what is no such section.
void decode_matrix(ByteView bytes, Demand& demand);

constexpr std::uint64_t max_plan_ranks = 1u << 22;

[[nodiscard]] Bytes encode_network(const NetworkSpec& spec);
/// Throws PlanProblem for what is no network section; whether the network can exist is Network's to say.
[[nodiscard]] NetworkSpec decode_network(ByteView bytes);

struct PlanHeader {
  std::string algorithm;
  Demand demand;
  std::uint64_t phases = 0, transfers = 0;
  std::uint32_t window = 1;         ///< window of the waits
  std::uint64_t waits_derived = 0;  ///< before redundant ones were removed
  std::uint64_t bound_phases = 0;
  double bound_seconds = 0;
  double predicted_seconds = 0;
};

/// A way in which a run may carry the exchange out, and its predicted seconds; none if it cannot be simulated.
struct Estimate {
  std::string_view name;
  std::optional<double> seconds = {};
};

/// Candidates of a run, the fastest first, and the algorithms of MPI libraries: as fast as simulated, the fastest
/// first, or, where there are no candidates, step after step by the rates of links alone.
struct Forecast {
  std::vector<Estimate> candidates, library;
};

struct TwoLevelPlan;  // choose/request.hpp

/// A schedule and what is known about it, whether planning has made it or a file holds it.
struct Plan {
  std::string algorithm;
  Demand demand;
  std::uint64_t bound_phases = 0;  ///< no schedule of the algorithm's port model has fewer
  double bound_seconds = 0;        ///< no schedule takes less time, per-message costs counted
  Schedule schedule{0, 0};
  Waits waits = {};                              ///< without `begin` while there are none
  double predicted_seconds = 0;                  ///< with its waits
  std::string_view prediction = {};              ///< what kind (model/predict.hpp); empty: none yet, or of a file
  std::shared_ptr<const Network> network = {};   ///< null where planner or reader has it
  double alpha = 0;                              ///< seconds that a message was taken to cost its sender
  std::uint64_t seed = 1;                        ///< of algorithms that draw lots
  std::optional<Certificate> certificate = {};   ///< of schedule and waits
  double plan_seconds = 0, verify_seconds = 0;   ///< that schedule and waits, and the certificate, took
  std::optional<TrueBounds> bounds = {};         ///< of an all-to-all, if asked for
  std::optional<Forecast> forecast = {};         ///< if asked for
  std::shared_ptr<TwoLevelPlan> two_level = {};  ///< what ranks do, where this plan is of one rank a host for them
};

/// The plan, which has its network, as the bytes of a file.
[[nodiscard]] Bytes encode_plan(const Plan& plan);

/// A view on an encoded plan; reads and checks only what is asked for. The bytes must outlive it.
class PlanFile {
 public:
  /// Checks magic, version, size and the section table. Throws PlanProblem.
  explicit PlanFile(ByteView bytes);

  /// Equal for equal plans: covers the header, the network and the checksums of all programs.
  [[nodiscard]] std::uint64_t digest() const;
  /// Digest of the network alone, with its names, rates and routes.
  [[nodiscard]] std::uint64_t network_digest() const;
  /// The header without the matrix of an irregular demand.
  [[nodiscard]] PlanHeader header() const;
  /// The demand with its matrix.
  [[nodiscard]] Demand demand() const;
  [[nodiscard]] NetworkSpec network() const;
  [[nodiscard]] RankProgram program(Rank rank) const;
  /// The whole plan, without its network; rank programs are checked against each other. Throws PlanProblem.
  [[nodiscard]] Plan plan() const;

 private:
  [[nodiscard]] ByteView section(std::uint32_t id) const;
  [[nodiscard]] ByteView program(ByteView index, std::uint32_t ranks, Rank rank) const;

  ByteView bytes_;
  std::vector<ByteView> sections_;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace hocket
