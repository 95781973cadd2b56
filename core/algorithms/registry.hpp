#pragma once
/// The algorithms that there are. Adding one means one file with its descriptor, and one line here.
// clang-format off
#define HOCKET_ALGORITHMS(one) \
  one(tree) \
  one(product) \
  one(fat_tree) \
  one(nested_shifts) \
  one(dragonfly) \
  one(packing) \
  one(list) \
  one(relays) \
  one(ring) \
  one(pairwise) \
  one(linear) \
  one(shift) \
  one(paired_shift) \
  one(switch_ring) \
  one(gossip) \
  one(stride) \
  one(rails) \
  one(spreading) \
  one(group_chain) \
  one(disjoint_trees) \
  one(tree_packing) \
  one(neighbor_ring) \
  one(recursive_doubling) \
  one(bruck) \
  one(neighbor_exchange) \
  one(asynchronous) \
  one(linear_permutation) \
  one(random_nodes) \
  one(random_links) \
  one(random_nodes_even) \
  one(random_links_even) \
  one(proposals) \
  one(colouring) \
  one(open_shop) \
  one(irregular_list) \
  one(critical)
// clang-format on
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

/// Inputs of an algorithm besides network and demand.
struct AlgorithmOptions {
  double alpha = 0;                         ///< seconds a message costs besides its transfer (t_s, α)
  std::uint64_t seed = 1;                   ///< random seed: the same seed gives the same schedule
  const ChannelSharing* sharing = nullptr;  ///< channel shares of the demand's messages; null: not computed yet
};

/// A schedule of which a rank need not know the whole; null: then `why_not` says why, or nothing where the network is
/// of another kind.
struct FoundForm {
  std::unique_ptr<ClosedForm> form;
  std::string_view algorithm = {};
  std::string_view why_not = {};
};

struct Algorithm {
  Pattern pattern;
  std::string_view name;
  std::string_view summary;
  std::string_view source;                ///< paper and section, or the library that uses it
  bool contention_free = false;           ///< its schedules pass the verifier wherever why_not() is empty
  PortModel ports = PortModel::one_port;  ///< the port model that they keep
  /// The reason why it does not serve a demand of its pattern on this network, or empty; null: it serves all.
  std::string_view (*refuses)(const Network&, const Demand&) = nullptr;
  Schedule (*make)(const Network&, const Demand&, const AlgorithmOptions&);
  std::string_view guarantee = {};  ///< guarantee proven for its schedules; empty: nothing beyond the above
  /// The order in which one is chosen where nobody names one, from 1; 0: it is not.
  int rank = 0;
  /// True if its schedule is so far from the bound that later algorithms are tried first; null: never.
  bool (*is_far)(const Network&, const Demand&, const Bounds&) = nullptr;
  /// True if it is made for one contribution, in pieces as fine as pays; simulating them all would take minutes.
  bool one_contribution = false;
  /// True if its messages fill their phases alike: where nobody says how many may be in flight, one at a time on a
  /// channel, which a second one would slow down, or as many as of others, whichever is predicted to be faster.
  bool even_phases = false;
  /// True if ranks pass on parts of an all-to-all's messages: these take other ways than the network's routes, and only
  /// the bound of any routes holds.
  bool own_ways = false;
  /// Its schedule in closed form, where it has one. `near`: where that comes near the bound, too.
  FoundForm (*form)(const Network&, const Demand&, bool near) = nullptr;

  /// Empty if the algorithm makes a schedule of this demand on this network, else the reason why not.
  [[nodiscard]] std::string_view why_not(const Network& network, const Demand& demand) const;
};

[[nodiscard]] std::span<const Algorithm* const> all_algorithms();

/// The algorithms of a pattern that are chosen automatically, by ascending `rank`.
[[nodiscard]] std::vector<const Algorithm*> by_rank(Pattern pattern);

/// Null for one that this version does not know. Reductions are scheduled as all-gathers.
[[nodiscard]] const Algorithm* known_algorithm(std::string_view name, Pattern pattern);
/// The port model that an algorithm keeps; the strictest for one that this version does not know.
[[nodiscard]] inline PortModel ports_of(std::string_view algorithm, Pattern pattern) {
  const Algorithm* const known = known_algorithm(algorithm, pattern);
  return known == nullptr ? PortModel::one_port : known->ports;
}

/// Throws InputError that lists the known names. Reductions are scheduled as all-gathers.
[[nodiscard]] const Algorithm& find_algorithm(std::string_view name, Pattern pattern = Pattern::all_to_all);

}  // namespace hocket

namespace hocket::algorithms {

#define HOCKET_DECLARE(name) extern const Algorithm name;
HOCKET_ALGORITHMS(HOCKET_DECLARE)
#undef HOCKET_DECLARE

/// Limit of explicit schedules, in ranks; beyond, each rank of an all-to-all computes its own program.
inline constexpr std::uint32_t max_explicit_ranks = 8192;

}  // namespace hocket::algorithms

namespace hocket {

/// The schedule that plan_exchange() would choose, in closed form. Null where it has none: then `why_not` says why.
/// Time and memory are linear in the nodes of the network. `algorithm`: that of this one, however far from the bound.
[[nodiscard]] FoundForm closed_form_of(const Network& network, const Demand& demand, std::string_view algorithm = {});

}  // namespace hocket
