#include <array>
#include <string>

#include "core/error.hpp"
#include "core/schedulers/entries.hpp"
#include "core/schedulers/scheduler.hpp"

namespace hocket {
namespace {

using namespace algorithms;

constexpr std::array table{
    Scheduler{Pattern::all_to_all, "tree", "optimal phases on any tree of switches with equal links",
              "Faraj and Yuan, section 4", true, PortModel::one_port, tree_why_not, tree},
    Scheduler{Pattern::all_to_all, "product", "phases of a grid from the moves of one line of each dimension",
              "Stricker and Hardwick; Hinrichs et al.; several moves per coordinate: own", true, PortModel::one_port,
              product_why_not, product},
    Scheduler{Pattern::all_to_all, "fat-tree", "shifts along the hosts of a full fat tree, by its D-mod-k routes",
              "Zahavi; whole subtrees of it: own", true, PortModel::one_port, fat_tree_why_not, fat_tree},
    Scheduler{Pattern::all_to_all, "nested-shifts",
              "shifts of hosts, leaves and pods of a fat tree, one within the other; of parts, and oversubscribed",
              "own; after Zahavi", true, PortModel::one_port, nested_shifts_why_not, nested_shifts},
    Scheduler{Pattern::all_to_all, "dragonfly",
              "all groups of a full dragonfly at once, by matchings of the routers' distances", "own", true,
              PortModel::one_port, dragonfly_why_not, dragonfly},
    Scheduler{Pattern::all_to_all, "packing",
              "phases packed against the bottleneck on any network, trunks of any width",
              "own; ejection search as of Nagata and Bräysy", true, PortModel::one_port, common_why_not, packing},
    Scheduler{Pattern::all_to_all, "list", "each message when its route has room, in continuous time; unequal links",
              "own; list scheduling: Graham", true, PortModel::one_port, common_why_not, list},
    Scheduler{Pattern::all_to_all, "ring", "at step j rank i sends to i + j", "MPICH (Thakur, Rabenseifner, Gropp)",
              false, PortModel::one_port, common_why_not, ring},
    Scheduler{Pattern::all_to_all, "pairwise", "at step j rank i exchanges with i XOR j", "MPICH, powers of two", false,
              PortModel::one_port, pairwise_why_not, pairwise},
    Scheduler{Pattern::all_to_all, "linear", "post everything at once, in the order of ranks", "LAM/MPI", false,
              PortModel::one_port, common_why_not, linear},
    Scheduler{Pattern::all_to_all, "shift", "on a torus or mesh a phase per displacement in every dimension",
              "Stricker and Hardwick, phased routing", false, PortModel::one_port, shift_why_not, shift},
    Scheduler{Pattern::all_to_all, "paired-shift", "shifts whose phases use both directions of every ring of a torus",
              "Stricker and Hardwick, pattern fixed; odd sides: own", false, PortModel::one_port, paired_shift_why_not,
              paired_shift},
    Scheduler{Pattern::all_gather, "switch-ring", "rings that follow the switches, closed behind slow links",
              "Faraj, Patarasuk and Yuan; closed rings: own", true, PortModel::one_port, switch_ring_why_not,
              switch_ring},
    Scheduler{Pattern::all_gather, "gossip", "the fastest gossip algorithm for this ratio of startup to transfer time",
              "Juurlink, Sibeyn and Rao", true, PortModel::all_port, gossip_why_not, algorithms::gossip},
    Scheduler{Pattern::all_gather, "stride", "everyone sends far first; few startups, links are shared",
              "own; shared model", false, PortModel::all_port, stride_why_not, stride},
    Scheduler{Pattern::all_gather, "rails", "several rings of hosts at once, each with a part of every contribution",
              "own; Hamiltonian decompositions of tori: Kotzig", true, PortModel::all_port, rails_why_not, rails},
    Scheduler{Pattern::all_gather, "spreading", "phase by phase, every channel used where it brings news",
              "own; greedy synthesis as in TACOS (Won et al.)", true, PortModel::all_port, spreading_why_not,
              spreading},
    Scheduler{Pattern::all_gather, "group-chain", "one contribution in pieces down a chain of groups, doubling in each",
              "chain: Patarasuk et al.; rotating groups: own", true, PortModel::one_port, group_chain_why_not,
              group_chain},
    Scheduler{Pattern::all_gather, "disjoint-trees", "one contribution in pieces down trees that share no channel",
              "Edmonds; grown together by flows: own, after Lovász", true, PortModel::all_port, disjoint_trees_why_not,
              disjoint_trees},
    Scheduler{Pattern::all_gather, "neighbor-ring", "a ring in the order of ranks", "MPICH, Open MPI", false,
              PortModel::one_port, gather_why_not, neighbor_ring},
    Scheduler{Pattern::all_gather, "recursive-doubling", "at step j rank i exchanges all it has with i XOR 2^j",
              "MPICH, powers of two", false, PortModel::one_port, recursive_doubling_why_not, recursive_doubling},
    Scheduler{Pattern::all_gather, "bruck", "at step j rank i sends all it has to i - 2^j",
              "Bruck et al.; MPICH, Open MPI", false, PortModel::one_port, gather_why_not, bruck},
    Scheduler{Pattern::all_gather, "neighbor-exchange", "pairs exchange with either neighbour in turn", "Open MPI",
              false, PortModel::one_port, neighbor_exchange_why_not, neighbor_exchange},
    Scheduler{Pattern::irregular, "AC", "post everything at once, in the order of ranks",
              "Wang, Lin and Ranka, section 3.1", false, PortModel::one_port, irregular_why_not, asynchronous,
              "one phase"},
    Scheduler{Pattern::irregular, "LP", "exchange by pairs, whoever has something to send",
              "Wang, Lin and Ranka, section 3.2; other counts than powers of two: tournament", false,
              PortModel::one_port, irregular_why_not, linear_permutation,
              "at most one phase per rank, no port overfull"},
    Scheduler{Pattern::irregular, "RS_N", "random phases without node contention", "Wang, Lin and Ranka, section 3.3",
              false, PortModel::one_port, irregular_why_not, random_nodes, "no port overfull"},
    Scheduler{Pattern::irregular, "RS_NL", "random phases without node and link contention",
              "Wang, Lin and Ranka, section 3.3", true, PortModel::one_port, irregular_why_not, random_links},
    Scheduler{Pattern::irregular, "RS_NH", "RS_N that splits large messages, so that phases are even",
              "Wang, Lin and Ranka, section 3.3; rule: own", false, PortModel::one_port, irregular_why_not,
              random_nodes_even, "no port overfull"},
    Scheduler{Pattern::irregular, "RS_NLH", "RS_NL that splits large messages, so that phases are even",
              "Wang, Lin and Ranka, section 3.3; rule: own", true, PortModel::one_port, irregular_why_not,
              random_links_even},
    Scheduler{Pattern::irregular, "proposals", "random phases that ranks agree on with their partners alone",
              "after Panconesi and Srinivasan", false, PortModel::one_port, irregular_why_not, proposals,
              "no port overfull"},
    Scheduler{Pattern::irregular, "colouring", "edge colouring: fewest phases, whatever the sizes",
              "König; Euler splits: Gabow", false, PortModel::one_port, irregular_why_not, colouring,
              "exactly as many phases as the busiest rank has messages to send or to receive"},
    Scheduler{
        Pattern::irregular, "open-shop", "phases of just the right lengths where only the ports matter",
        "Gonzalez and Sahni; Birkhoff and von Neumann; longest phase first: own", false, PortModel::one_port,
        irregular_why_not, open_shop,
        "exactly the largest row or column sum if that takes at most two splits per message, at most 1 % above it "
        "otherwise"},
    Scheduler{Pattern::irregular, "list", "whole messages, each when its route is free; to be run with tokens",
              "own; list scheduling: Graham", true, PortModel::one_port, irregular_why_not, list,
              "no message is split"},
    Scheduler{Pattern::irregular, "critical", "phases that serve the busiest ports and channels; splits messages",
              "own; open shop with preemption: Gonzalez and Sahni", true, PortModel::one_port, irregular_why_not,
              critical, "a message ends in every phase; messages that take equally long are not split"},
};

}  // namespace

std::string_view algorithms::common_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.ranks > max_explicit_ranks) return "more than 8192 ranks: ask for one rank's row";
  if (demand.pattern != Pattern::all_to_all) return "it serves the all-to-all";
  return {};
}

std::string_view algorithms::gather_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.ranks > max_explicit_ranks) return "more than 8192 ranks: there is no schedule of that size";
  if (demand.pattern != Pattern::all_gather) return "it serves the all-gather";
  return {};
}

std::string_view algorithms::irregular_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.pattern != Pattern::irregular) return "it serves irregular exchanges";
  return {};
}

std::span<const Scheduler> schedulers() { return table; }

const Scheduler& find_scheduler(std::string_view name, Pattern pattern) {
  if (reduces(pattern)) return find_scheduler(name, Pattern::all_gather);
  std::string known;
  for (const Scheduler& scheduler : table) {
    if (scheduler.pattern != pattern) continue;
    if (scheduler.name == name) return scheduler;
    known += (known.empty() ? "" : ", ") + std::string(scheduler.name);
  }
  throw InputError("no " + std::string(to_string(pattern)) + " scheduler is called '" + std::string(name) +
                   "'; there are " + known);
}

}  // namespace hocket
