#pragma once
/// Times that no gossip can beat, in units of L·t_l; r = t_s / (L·t_l).
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", section 3: Lemma 1, and
/// Theorem 1 in a form with its constants.
#include <cstdint>

#include "core/gossip/steps.hpp"

namespace hocket::gossip {

/// Fewest steps in which one item can reach everyone: holders grow by a factor of ports + 1 at most.
[[nodiscard]] std::uint64_t fewest_steps(std::uint64_t nodes, std::uint32_t ports);

/// Fewest steps of gossip where a processor sends or receives one message at a time: the least t with φ^t ≥ N, φ = (1 +
/// √5)/2. Entry (j, i) of the product of the steps' matrices I + P counts the ways of item i to processor j. P pairs
/// senders with receivers, so that no step stretches a vector by more than the norm of (1 1; 0 1), which is φ; a matrix
/// without a 0 stretches the vector of ones by N.
[[nodiscard]] std::uint64_t fewest_half_duplex_steps(std::uint64_t nodes);
/// N(N − 1) items must be received, in a step at most ⌊N/2⌋ messages of the largest size.
[[nodiscard]] double half_duplex_volume(std::uint64_t nodes);

/// Lemma 1 for synchronous steps, and for any schedule whatever. A mesh is limited by the channels
/// into its corner, half-duplex processors by the two functions above.
[[nodiscard]] double synchronous_bound(const Grid& grid, double r, Ports ports = Ports::all);
[[nodiscard]] double asynchronous_bound(const Grid& grid, double r);

/// Largest possible decrease of an item's potential in a step, per processor. `share`: the largest channel load over
/// n/2. Increasing and concave.
[[nodiscard]] double potential_drop(double share);
[[nodiscard]] double inverse_potential_drop(double drop);

/// Least volume with which `steps` synchronous steps can gossip on a ring of n, given that the
/// potential of every item is still `potential`.
[[nodiscard]] double ring_volume_bound(std::uint64_t n, double potential, std::uint64_t steps);

/// Theorem 1: the best number of steps for that potential. Valid for channels shared by messages too.
[[nodiscard]] double ring_bound(std::uint64_t n, double r);

/// The best of the above for synchronous steps.
[[nodiscard]] double lower_bound(const Grid& grid, double r, Ports ports = Ports::all);

}  // namespace hocket::gossip
