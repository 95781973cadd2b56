#pragma once
/// Collectives as descriptors: what each one asks for, for planning, proving, running and measuring.
///
/// A new collective whose demand is of a known pattern is one row of the table.
#include <cstdint>
#include <span>
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/limits.hpp"

namespace hocket {

struct Collective {
  std::string_view name;       ///< "all-gather"
  std::string_view mpi_calls;  ///< the blocking MPI calls, by commas
  std::string_view asks;       ///< one sentence, in which SIZE stands for `bytes`
  Pattern pattern;             ///< pattern of its demands, which decides on bound, postcondition and algorithms
  bool rooted;                 ///< one rank is the root; elsewhere `root` has no meaning
  /// Among `ranks` ranks, `bytes` bytes a message or contribution. Null: a traffic matrix must say who sends what.
  Demand (*demand)(std::uint32_t ranks, std::uint64_t bytes, Rank root);

  /// True if calls with this root, of any size, can follow a plan of `demand`: it is their demand at some size, and
  /// leaves no part out that a larger size has.
  [[nodiscard]] bool can_follow(const Demand& demand, Rank root) const;

  /// Ranks pass on what they get.
  [[nodiscard]] bool forwards() const { return by_blocks(pattern); }
  /// Seconds that a message is taken to cost its sender unless the user says otherwise. One rank's block alone flows in
  /// a pipeline: what each part costs decides how many there are.
  [[nodiscard]] double usual_alpha() const { return rooted ? limits::run_alpha : 0; }
};

[[nodiscard]] std::span<const Collective> collectives();

/// Throws InputError that lists the known names.
[[nodiscard]] const Collective& find_collective(std::string_view name);

}  // namespace hocket
