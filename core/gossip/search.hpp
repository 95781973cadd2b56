#pragma once
/// The best parameters of every gossip algorithm for a ring, torus or mesh, and the best algorithm.
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori": sections 4 to 6 for the
/// algorithms. Their search has one a and one b; here every round has a factor and steps of its own.
#include <string>
#include <vector>

#include "core/gossip/cost.hpp"
#include "core/gossip/steps.hpp"
#include "core/gossip/stride.hpp"

namespace hocket::gossip {

enum class Method : std::uint8_t { high_dim, cubgos, stride, black_white };

/// An algorithm with all of its parameters. On a ring, high_dim is one phase with a plan for rings.
struct GossipPlan {
  std::string name;  ///< "approach 1", "CircGos", "approach 2..21", "HighDimGos'", "CubGos'", "StrideGos" …
  Method method = Method::high_dim;
  bool coloured = false;
  std::vector<std::vector<RingPlan>> phases;  ///< high_dim: per phase one plan, or one for every axis
  std::uint32_t spacing = 1;                  ///< cubgos: between the first bridgeheads
  std::vector<Round> rounds;                  ///< cubgos
  StridePlan stride;                          ///< stride
  Cost cost;
  double time = 0;   ///< in units of L·t_l
  double bound = 0;  ///< bound for gossip in synchronous steps

  [[nodiscard]] double ratio() const { return bound > 0 ? time / bound : 1; }
};

struct GossipModel {
  bool shared = false;  ///< messages of a step may share channels, at the price of their sum
  Ports ports = Ports::all;
};

/// The number of steps in which a round of insertion is fastest.
[[nodiscard]] Round best_round(std::uint32_t factor, double message, double r, Ports ports = Ports::all);

/// CircGos with its best bridgeheads and rounds, by dynamic programming over the gaps that remain.
[[nodiscard]] RingPlan best_circgos(std::uint32_t n, double message, double r, Model model = {});
/// The best of approach 1, approach 2 and CircGos.
[[nodiscard]] RingPlan best_ring_plan(std::uint32_t n, double message, double r, Model model = {});

/// Every algorithm that serves the grid, with its best parameters, the fastest first. StrideGos is
/// among them in the shared model, on rings and tori.
[[nodiscard]] std::vector<GossipPlan> gossip_candidates(const Grid& grid, double r, GossipModel model = {},
                                                        std::uint64_t effort = default_effort);
[[nodiscard]] GossipPlan best_gossip(const Grid& grid, double r, GossipModel model = {},
                                     std::uint64_t effort = default_effort);

/// The steps of a plan, for execute(). StrideGos shares channels; the others do not.
[[nodiscard]] Steps build_gossip(const Grid& grid, const GossipPlan& plan, Ports ports = Ports::all);

}  // namespace hocket::gossip
