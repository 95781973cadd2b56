#pragma once
/// Orders of a job's ranks in which the calls of their MPI library load the wires least.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/algorithms/baselines/library_calls.hpp"
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::order {

/// Messages that go at once: in closed form, or listed.
struct Step {
  NativeStep form;
  double bytes = 0;               ///< of each message of the form
  std::vector<Message> messages;  ///< not empty: these, once

  [[nodiscard]] double times() const { return messages.empty() ? form.times : 1; }
  /// Calls `visit(src, dst, bytes)` for each message.
  template <class Visit>
  void each(Rank ranks, Visit visit) const {
    for (const Message& one : messages) visit(one.src, one.dst, static_cast<double>(one.bytes));
    if (!messages.empty()) return;
    for (Rank src = 0; src < ranks; ++src) visit(src, form.partner(src, ranks), bytes);
  }
};

/// Steps one after the other. `weight`: how much the call counts among others.
struct Call {
  std::vector<Step> steps;
  double weight = 1;
};

/// The algorithms of a collective that are made of steps and serve so many ranks; with `block` those alone by which
/// blocks of so many bytes are sent.
[[nodiscard]] std::vector<const LibraryCall*> made_of_steps(Pattern pattern, Rank ranks,
                                                            std::optional<std::uint64_t> block);

/// Steps of one of them on blocks of so many bytes: contributions of ranks, messages, or parts of a vector that is
/// added up. Of more than 48 steps some stand for all, evenly spaced. Throws InputError if it does not serve so many
/// ranks.
[[nodiscard]] Call native_call(const LibraryCall& algorithm, Rank ranks, double block, double weight);

/// All messages of an irregular demand at once. Throws InputError for other demands.
[[nodiscard]] Call demand_call(const Demand& demand, double weight);

using Unit = std::uint32_t;

/// Units of equally many ranks, and as many slots of as many places, in an order in which near ones follow each other.
struct Units {
  std::vector<std::vector<Rank>> ranks;   ///< per unit
  std::vector<std::vector<Rank>> places;  ///< per slot
  [[nodiscard]] Unit size() const { return static_cast<Unit>(ranks.size()); }
};

/// Bytes between units, either way together; compressed rows.
struct UnitGraph {
  struct Edge {
    Unit to = 0;
    double bytes = 0;
  };
  std::vector<std::uint64_t> begin{0};
  std::vector<Edge> edges;
  [[nodiscard]] std::span<const Edge> of(Unit unit) const {
    return std::span(edges).subspan(begin[unit], begin[unit + 1] - begin[unit]);
  }
};

/// Graph of the messages that the calls list; closed forms are left out.
[[nodiscard]] UnitGraph graph_of(const Units& units, std::span<const Call> calls);

/// The channel that a step keeps busy the longest.
struct Busiest {
  double seconds = 0;
  Channel channel = 0;
};

/// Counts loads on the channels of a network. `place[r]`: the number that rank r has in the network. Places on one host
/// use no channel. Latencies, startups and what ranks run ahead of each other are not counted.
class Wires {
 public:
  explicit Wires(const Network& network) : network_(network), load_(network.channels(), 0) {}

  /// Seconds of all steps, and the channel of the step that takes longest.
  [[nodiscard]] Busiest call(const Call& call, std::span<const Rank> place) {
    forms_.clear();
    return of_call(call, place);
  }
  /// Σ weight · log(seconds): two orders differ by the logarithm of how many times as fast the calls are, whatever
  /// their sizes. −∞ where some call needs no wire.
  [[nodiscard]] double score(std::span<const Call> calls, std::span<const Rank> place);

 private:
  [[nodiscard]] Busiest of_call(const Call& call, std::span<const Rank> place);
  [[nodiscard]] Busiest of_step(const Step& step, std::span<const Rank> place);
  /// The busiest channel of a step of this form with one byte a message.
  [[nodiscard]] Busiest of_form(const NativeStep& form, std::span<const Rank> place);
  /// The busiest of the used channels, whose loads are cleared.
  [[nodiscard]] Busiest taken();
  void add(Rank src, Rank dst, double bytes);

  const Network& network_;
  std::vector<double> load_;  ///< per channel
  std::vector<Channel> used_, route_;
  std::vector<std::pair<Node, Node>> ends_;
  std::map<std::pair<NativeStep::Partner, std::uint32_t>, Busiest> forms_;  ///< of this place: algorithms share steps
};

/// Seconds in which no order of the job's ranks lets every rank send `bytes` to the next one of a ring: whatever the
/// order, a message leaves every host that is not alone, and in a tree every link between two hosts of the job is
/// crossed once each way. A depth-first order of a tree takes no longer.
[[nodiscard]] double least_ring_step(const Network& network, double bytes);

/// Freedom that whoever starts the ranks leaves.
enum class Freedom : std::uint8_t {
  hosts,  ///< ranks fill the hosts one after the other; the order of hosts can be chosen
  ranks,  ///< every rank can be put on any place
};

/// `place[r]`: the number that rank r has in the network, where ranks are numbered by hosts.
struct Order {
  std::vector<Rank> place;
  std::string how;
  double gain = 1;  ///< times as fast as given; only reordered() tells
};

/// Ranks that fill these hosts one after the other.
[[nodiscard]] std::vector<Rank> filled(const Network& network, std::span<const Node> hosts);

/// The order with the least Wires::score of those compared: the given one (ranks fill the hosts of `given` in their
/// order), host_orders(), with Freedom::ranks also ranks dealt out to hosts in turn; of up to seven hosts every order
/// of theirs; and for listed messages a mapping by bisected() and exchanged(). The given one is kept where the score of
/// the best is not lower by 0.001 and more. `most_routes`: as for exchanged(); some seconds. The same on every machine.
/// Throws InputError where `given` are not the hosts of the network.
[[nodiscard]] Order order_ranks(const Network& network, std::span<const Node> given, std::span<const Call> calls,
                                Freedom freedom, std::uint64_t most_routes = 12'000'000);

/// The like for ranks that lie on any places: the best order of order_ranks() for ranks that can be put anywhere, or
/// `given`, the place of each rank, where nothing is gained by that. A second for 1,024 ranks of 40 neighbours.
[[nodiscard]] Order reordered(const Network& network, std::span<const Rank> given, std::span<const Call> calls);

/// The schedule with each rank in its place.
[[nodiscard]] Schedule placed(const Schedule& schedule, std::span<const Rank> place);

/// Improves the slot of each unit. Compared is the fourth power mean of the channels' times, which is close to the
/// longest and smooth; what is returned is best by Wires::score. Exchanges with the neighbours of a unit's partners and
/// with random units are tried until a round finds none, or until so many routes have been followed. The same on every
/// machine.
[[nodiscard]] std::vector<Unit> exchanged(const Network& network, const Units& units, const UnitGraph& graph,
                                          std::span<const Call> calls, std::vector<Unit> slot,
                                          std::uint64_t most_routes);

/// The place of each rank.
[[nodiscard]] std::vector<Rank> places_of(const Units& units, std::span<const Unit> slot);

/// The slot of each unit. The line is cut near its middle, where the way from one slot to the next is longest; the
/// units are dealt out to both parts so that few bytes cross the cut, counting what they send to units elsewhere by the
/// way that is saved; both parts again, level by level. Sources: Pellegrini, "Static mapping by dual recursive
/// bipartitioning of process and architecture graphs" (1994); Kernighan and Lin, "An efficient heuristic procedure for
/// partitioning graphs" (1970), with the bookkeeping of Fiduccia and Mattheyses (1982).
[[nodiscard]] std::vector<Unit> bisected(const Network& network, const Units& units, const UnitGraph& graph);

/// An order of the hosts of a network, and how it came about.
struct HostOrder {
  std::string_view how;
  std::vector<Node> hosts;
  bool compact = false;  ///< every stretch is of near hosts, also where the ring is not the best
};

/// Orders worth comparing, the given one first. Trees: depth-first, which crosses every link once each way and is so
/// optimal for rings; fat trees and dragonflies: by subtree and by group; tori, meshes and hypercubes: snakes and
/// Hamiltonian cycles; other graphs: depth-first in a spanning tree of the fastest links, and up to 2,048 hosts a ring
/// improved by search. `given`: all hosts of the network.
[[nodiscard]] std::vector<HostOrder> host_orders(const Network& network, std::span<const Node> given);

}  // namespace hocket::order
