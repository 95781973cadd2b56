#pragma once
/// Times that no gossip can beat, in units of L·t_l; r = t_s / (L·t_l).
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", section 3: Lemma 1, and
/// Theorem 1 in a form with its constants.
#include <cstdint>

#include "hocket/gossip/steps.hpp"

namespace hocket::gossip {

/// Fewest steps in which one item can reach everyone: holders grow by a factor of ports + 1 at most.
[[nodiscard]] std::uint64_t fewest_steps(std::uint64_t nodes, std::uint32_t ports);

/// Lemma 1 for synchronous steps, and for any schedule whatever. A mesh is limited by the channels
/// into its corner.
[[nodiscard]] double synchronous_bound(const Grid& grid, double r);
[[nodiscard]] double asynchronous_bound(const Grid& grid, double r);

/// How much a step lowers the potential of an item, per processor, at most: `share` is the largest
/// channel load over n/2. Increasing and concave.
[[nodiscard]] double potential_drop(double share);
[[nodiscard]] double inverse_potential_drop(double drop);

/// Least volume with which `steps` synchronous steps can gossip on a ring of n, given that the
/// potential of every item is still `potential`.
[[nodiscard]] double ring_volume_bound(std::uint64_t n, double potential, std::uint64_t steps);

/// Theorem 1: the best number of steps for that potential. Valid for channels shared by messages too.
[[nodiscard]] double ring_bound(std::uint64_t n, double r);

/// The best of the above for synchronous steps.
[[nodiscard]] double lower_bound(const Grid& grid, double r);

}  // namespace hocket::gossip
