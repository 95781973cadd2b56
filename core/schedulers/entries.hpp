#pragma once
/// The functions behind the registry's table: one pair per scheduler file.
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedulers/scheduler.hpp"

namespace hocket::algorithms {

/// Explicit schedules end at this many ranks; beyond, each rank computes its own row.
inline constexpr std::uint32_t max_explicit_ranks = 8192;

/// What no explicit scheduler serves: demand and network of different sizes, or too many ranks.
std::string_view common_why_not(const Network& network, const Demand& demand);

std::string_view tree_why_not(const Network& network, const Demand& demand);
Schedule tree(const Network& network, const Demand& demand, const SchedulerOptions&);

std::string_view product_why_not(const Network& network, const Demand& demand);
Schedule product(const Network& network, const Demand& demand, const SchedulerOptions& costs);

std::string_view fat_tree_why_not(const Network& network, const Demand& demand);
Schedule fat_tree(const Network& network, const Demand& demand, const SchedulerOptions&);

std::string_view nested_shifts_why_not(const Network& network, const Demand& demand);
Schedule nested_shifts(const Network& network, const Demand& demand, const SchedulerOptions&);

std::string_view dragonfly_why_not(const Network& network, const Demand& demand);
Schedule dragonfly(const Network& network, const Demand& demand, const SchedulerOptions&);

Schedule packing(const Network& network, const Demand& demand, const SchedulerOptions&);

Schedule linear(const Network& network, const Demand& demand, const SchedulerOptions&);
Schedule ring(const Network& network, const Demand& demand, const SchedulerOptions&);
std::string_view pairwise_why_not(const Network& network, const Demand& demand);
Schedule pairwise(const Network& network, const Demand& demand, const SchedulerOptions&);
std::string_view shift_why_not(const Network& network, const Demand& demand);
Schedule shift(const Network& network, const Demand& demand, const SchedulerOptions&);
std::string_view paired_shift_why_not(const Network& network, const Demand& demand);
Schedule paired_shift(const Network& network, const Demand& demand, const SchedulerOptions&);

// All-gather
std::string_view gather_why_not(const Network& network, const Demand& demand);
std::string_view switch_ring_why_not(const Network& network, const Demand& demand);
Schedule switch_ring(const Network& network, const Demand& demand, const SchedulerOptions& costs);
std::string_view gossip_why_not(const Network& network, const Demand& demand);
Schedule gossip(const Network& network, const Demand& demand, const SchedulerOptions& costs);
std::string_view stride_why_not(const Network& network, const Demand& demand);
Schedule stride(const Network& network, const Demand& demand, const SchedulerOptions& costs);
std::string_view rails_why_not(const Network& network, const Demand& demand);
Schedule rails(const Network& network, const Demand& demand, const SchedulerOptions& costs);
std::string_view spreading_why_not(const Network& network, const Demand& demand);
Schedule spreading(const Network& network, const Demand& demand, const SchedulerOptions& costs);
std::string_view group_chain_why_not(const Network& network, const Demand& demand);
Schedule group_chain(const Network& network, const Demand& demand, const SchedulerOptions& costs);
std::string_view disjoint_trees_why_not(const Network& network, const Demand& demand);
Schedule disjoint_trees(const Network& network, const Demand& demand, const SchedulerOptions& costs);
Schedule neighbor_ring(const Network& network, const Demand& demand, const SchedulerOptions&);
std::string_view recursive_doubling_why_not(const Network& network, const Demand& demand);
Schedule recursive_doubling(const Network& network, const Demand& demand, const SchedulerOptions&);
Schedule bruck(const Network& network, const Demand& demand, const SchedulerOptions&);
std::string_view neighbor_exchange_why_not(const Network& network, const Demand& demand);
Schedule neighbor_exchange(const Network& network, const Demand& demand, const SchedulerOptions&);

// Irregular
std::string_view irregular_why_not(const Network& network, const Demand& demand);
Schedule asynchronous(const Network&, const Demand& demand, const SchedulerOptions&);
Schedule linear_permutation(const Network&, const Demand& demand, const SchedulerOptions&);
Schedule random_nodes(const Network&, const Demand& demand, const SchedulerOptions& options);
Schedule random_links(const Network& network, const Demand& demand, const SchedulerOptions& options);
Schedule random_nodes_even(const Network& network, const Demand& demand, const SchedulerOptions& options);
Schedule random_links_even(const Network& network, const Demand& demand, const SchedulerOptions& options);
Schedule proposals(const Network&, const Demand& demand, const SchedulerOptions& options);
Schedule colouring(const Network&, const Demand& demand, const SchedulerOptions&);
Schedule critical(const Network& network, const Demand& demand, const SchedulerOptions& costs);
Schedule list(const Network& network, const Demand& demand, const SchedulerOptions& costs);
Schedule open_shop(const Network&, const Demand& demand, const SchedulerOptions&);

}  // namespace hocket::algorithms
