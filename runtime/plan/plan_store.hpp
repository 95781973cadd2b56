#pragma once
/// The plan files of this process: their network, where this process is in it, and rank programs.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

class PlanStore {
 public:
  /// Read on first use. Never throws: a problem is kept and the node is unknown.
  static const PlanStore& instance();
  explicit PlanStore(const Settings& settings);

  /// The location of this process, or the reason why it is unknown, such as an unusable plan.
  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] std::int32_t node() const { return placement_.node; }
  /// Equal on ranks that would decide alike.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] bool has_network() const { return network_ != nullptr; }
  [[nodiscard]] const Network& network() const { return *network_; }
  [[nodiscard]] std::uint64_t network_digest() const { return network_digest_; }
  /// Digest of the network without link rates and latencies, which may be remeasured between two jobs.
  [[nodiscard]] std::uint64_t wiring_digest() const { return wiring_digest_; }

  /// The rank program of a network rank: from a plan file for this kind of call and exactly these ranks if there is
  /// one, else planned here for messages of CallKind::bytes. The root of `kind` is a network rank, too. `window`:
  /// messages of a rank that may be unacknowledged; 0: as many as the file has, or window(). `measured`: plan for this
  /// network instead, whose links have other rates. `whole`: ScheduleOptions::whole, where it is planned here. Throws
  /// InputError.
  [[nodiscard]] Planned program(CallKind kind, std::span<const std::uint32_t> ranks_per_node, Rank rank,
                                std::uint32_t window = 0, const Network* measured = nullptr, bool whole = false) const;

  /// Messages of a rank that may be unacknowledged: what somebody has chosen for a plan file of this pattern; none: its
  /// plan chooses. Irregular exchanges take what was chosen for the all-to-all; reductions, unless for them, for the
  /// all-gather. One at a time may be an algorithm's own choice (Algorithm::even_phases), and says nothing of others.
  [[nodiscard]] std::optional<std::uint32_t> window(const Demand& demand) const;

 private:
  struct Stored {
    Bytes bytes;
    PlanHeader header;
  };

  void read_file(const std::string& path);
  /// The plan file for such calls of all ranks; null if there is none.
  [[nodiscard]] const Stored* stored_for(CallKind kind) const;
  [[nodiscard]] Planned make(CallKind kind, const Network& part, Rank rank, std::uint32_t window, bool whole) const;

  std::vector<Stored> stored_;  ///< one of a pattern; of irregular ones, of a demand
  std::unique_ptr<Network> network_;
  Placement placement_;
  std::uint64_t digest_ = 0, network_digest_ = 0, wiring_digest_ = 0;
};

}  // namespace hocket::runtime
