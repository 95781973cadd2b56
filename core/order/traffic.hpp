#pragma once
/// Calls that ranks are put in order for: steps of native algorithms, or messages that go at once.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/algorithms/baselines/library_calls.hpp"
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

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

}  // namespace hocket::order
