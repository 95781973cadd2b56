#pragma once
/// A tree of bottlenecks inferred from rates of streams that went on together.
///
/// End-to-end rates show which sets of hosts share a bottleneck, in which direction, of what rate; never a link that is
/// no bottleneck. After Dichev, Reid and Lastovetsky (SC 2012) and Bobelin's MINTCar; what is judged here is the sum of
/// the rates over a split, as TCP shares a link unevenly between streams but fills it.
#include <cstdint>
#include <span>
#include <vector>

namespace hocket {

struct Stream {
  std::uint32_t from = 0, to = 0;  ///< hosts
};

/// Streams that went on together, each host sending one and receiving one at most, and their rates (bytes/s).
struct StreamRound {
  std::vector<Stream> streams;
  std::vector<double> rates;
};

/// Membership of each host.
using HostSet = std::vector<char>;

struct Bottleneck {
  HostSet hosts;           ///< at most half of all
  double out = 0, in = 0;  ///< bytes/s to all others and from them; infinite where more than its hosts use
};

struct MeasuredTree {
  std::vector<double> out, in;          ///< bytes/s of each host
  std::vector<Bottleneck> bottlenecks;  ///< nested or disjoint
};

/// The smaller side of a split; of two halves the one without host 0.
[[nodiscard]] HostSet smaller_side(HostSet hosts);
[[nodiscard]] std::uint32_t hosts_in(const HostSet& hosts);
/// The smallest bottleneck around a host set or, with `own`, that equals it; as many as there are: none.
[[nodiscard]] std::size_t around(const MeasuredTree& tree, const HostSet& hosts);

/// The smallest bottleneck around each host, and around each bottleneck; as many as there are: none.
struct Places {
  std::vector<std::size_t> at, parent;
  explicit Places(const MeasuredTree& tree);
};

/// Max-min fair rates of streams in a tree.
[[nodiscard]] std::vector<double> fair_rates(const MeasuredTree& tree, std::span<const Stream> streams);
[[nodiscard]] std::vector<double> fair_rates(const MeasuredTree& tree, const Places& places,
                                             std::span<const Stream> streams);

/// The rates of hosts by the fastest of their streams.
void estimate_hosts(MeasuredTree& tree, std::span<const StreamRound> rounds);

/// Rate over a split, from its hosts and to them.
struct Across {
  double out = 0, in = 0;
};
[[nodiscard]] Across across(const HostSet& hosts, std::span<const Stream> streams, std::span<const double> rates);

/// A split that may be a bottleneck: `gain` is how much better the rounds are explained with it, in squared rates of
/// a host.
struct SplitCandidate {
  HostSet hosts;
  double gain = 0;
  double within = 0;  ///< least rates between its parts, of those predicted
  double apart = 0;   ///< rates between it and the nearest others, of those within
};

/// Splits that fit into the tree and explain the rounds better than it does, the most promising first.
[[nodiscard]] std::vector<SplitCandidate> split_candidates(const MeasuredTree& tree,
                                                           std::span<const StreamRound> rounds, double joined = 0,
                                                           double apart = 1e9);
/// The split moved, host by host, to where it explains the rounds best.
[[nodiscard]] SplitCandidate refined(const MeasuredTree& tree, std::span<const StreamRound> rounds, HostSet hosts);

}  // namespace hocket
