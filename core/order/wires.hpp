#pragma once
/// The measure by which orders of ranks are compared: the time of the busiest channel, step after step.
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/network/network.hpp"
#include "core/order/traffic.hpp"

namespace hocket::order {

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
  [[nodiscard]] Busiest call(const Call& call, std::span<const Rank> place);
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
