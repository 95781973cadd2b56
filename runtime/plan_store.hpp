#pragma once
/// The plan file of this process: its network, where this process is in it, and rank programs.
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "hocket/plan/plan.hpp"

namespace hocket::runtime {

class PlanStore {
 public:
  /// Read on first use. Never throws: a problem is kept and the node is unknown.
  static const PlanStore& instance();

  [[nodiscard]] std::int32_t node() const { return node_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::uint32_t ranks() const { return network_ ? network_->ranks() : 0; }
  /// Equal on ranks that would decide alike.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] std::uint32_t window() const { return header_.window; }
  [[nodiscard]] const Network& network() const { return *network_; }

  /// The all-to-all program of a network rank among the given ranks: from the file if it was
  /// planned for exactly these, else planned here. Throws InputError.
  [[nodiscard]] RankProgram program(std::span<const std::uint32_t> ranks_per_node, Rank rank,
                                    std::uint64_t& phases) const;

 private:
  PlanStore();
  void read_file(const std::string& path);

  Bytes bytes_;
  PlanHeader header_;
  std::unique_ptr<Network> network_;
  std::int32_t node_ = -1;
  std::string problem_;
  std::uint64_t digest_ = 0;
};

/// Says a warning, each text once per process.
void say_once(const std::string& text);

}  // namespace hocket::runtime
