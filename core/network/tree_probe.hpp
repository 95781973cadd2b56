#pragma once
/// Which streams to measure next, so that the rates of few rounds tell a network's bottlenecks.
///
/// Pairs alone tell the rates of hosts; matchings in which all send suggest who shares a bottleneck; of each suggested
/// split all hosts of one side send to the other and back, which proves or refutes it. Permutations at the end check
/// what was found.
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace hocket {

// A tree of bottlenecks inferred from rates of streams that went on together.
//
// End-to-end rates show which sets of hosts share a bottleneck, in which direction, of what rate; never a link that is
// no bottleneck. After Dichev, Reid and Lastovetsky (SC 2012) and Bobelin's MINTCar; what is judged here is the sum of
// the rates over a split, as TCP shares a link unevenly between streams but fills it.

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

/// Fisher and Yates: the standard library's shuffle differs between machines.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}
void both_ways(std::vector<Stream>& streams, std::uint32_t a, std::uint32_t b);

class TreeProbe {
 public:
  /// `most`: rounds that may be asked for, about. Throws InputError for fewer than 2 hosts or too many.
  TreeProbe(std::uint32_t hosts, std::uint64_t seed, std::uint32_t most);
  /// Asks for the permutations alone, which check a tree that is known: errors(). Throws InputError for rates or
  /// bottlenecks of other hosts.
  TreeProbe(MeasuredTree known, std::uint64_t seed);

  /// The streams of the next round; none when all is done.
  [[nodiscard]] const std::vector<Stream>& next() const { return asked_; }
  /// The purpose of these.
  [[nodiscard]] const char* doing() const;
  /// Takes the rates of next(). Throws InputError for another number of them.
  void add(std::vector<double> rates);

  [[nodiscard]] const MeasuredTree& tree() const { return tree_; }
  [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(rounds_.size()) + checks(); }
  /// Errors of the permutations that were not used: the most that a sum over a bottleneck was mispredicted, relative
  /// to its rate, or that of all streams.
  [[nodiscard]] const std::vector<double>& errors() const { return errors_; }
  /// How much the sums over bottlenecks differ between pairings of the same hosts, and between repeats of one: several
  /// paths differ by pairing alone, other traffic by both. The medians, relative.
  [[nodiscard]] double by_pairing() const;
  [[nodiscard]] double by_repeat() const;

 private:
  enum class Stage : std::uint8_t { alone, loaded, split, again, inside, check, done };
  enum Pairing : std::uint8_t { near, spread };
  static constexpr double least_gain = 0.1;         ///< squared rates of a host that noise may explain
  static constexpr double bottleneck = 0.85;        ///< of the predicted rate over a split: less is a bottleneck
  static constexpr std::uint32_t alone_rounds = 8;  ///< all twice
  static constexpr std::uint32_t few = 64;          ///< hosts of which every pair is measured
  static constexpr std::size_t repeated = 2;        ///< test of a split that is made again after the next
  struct Test {
    std::size_t round;
    bool repeats = false;  ///< the streams of another test
  };
  struct Split {
    HostSet hosts;
    std::vector<Test> tests;
    double below;         ///< of what is predicted without it: then it is accepted
    bool larger = false;  ///< than an accepted one, by a few hosts
    std::uint32_t moved = 0;
    double part = 1;  ///< that came through
    bool accepted = false, refuted = false;
  };

  /// A round of tests: of which splits, and where it is one again, how many rounds after.
  struct Planned {
    std::vector<std::size_t> splits;
    std::size_t repeats = 0;
  };

  [[nodiscard]] bool many() const { return hosts_ > few; }
  [[nodiscard]] std::uint32_t checks() const { return static_cast<std::uint32_t>(errors_.size()); }
  void advance();
  void ask_alone();
  void ask_loaded();
  void ask_through();
  void ask_within();
  void ask_beside();
  void propose_larger(const Places& places);
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> groups() const;
  [[nodiscard]] bool load_more();
  [[nodiscard]] bool propose_many();
  [[nodiscard]] bool ask_planned();
  void judge_many();
  [[nodiscard]] double within(const Split& split) const;
  [[nodiscard]] bool make_room(const Split& split);
  void drop_strangers(Split& split) const;
  [[nodiscard]] bool ask_split();
  [[nodiscard]] bool propose();
  [[nodiscard]] bool tried(const HostSet& hosts) const;
  void ask_across(Split& split, Pairing pairing);
  void choose_near(const std::vector<std::uint32_t>& inside, std::vector<std::uint32_t>& outside) const;
  void judge();
  void eliminate();
  void ask_permutation();
  void check(const std::vector<double>& rates);
  struct Through {
    double measured, predicted;
    [[nodiscard]] double part() const { return predicted > 0 ? measured / predicted : 1; }
  };
  [[nodiscard]] std::array<std::vector<Through>, 2> through(const Split& split, const MeasuredTree& tree) const;
  [[nodiscard]] double reached(const Split& split, const MeasuredTree& without) const;
  [[nodiscard]] bool differ() const;
  [[nodiscard]] Bottleneck capacity(const Split& split, const MeasuredTree& without) const;
  [[nodiscard]] MeasuredTree without(const HostSet& hosts) const;
  [[nodiscard]] std::vector<HostSet> differences() const;
  [[nodiscard]] std::vector<double> changes(bool repeats) const;

  std::uint32_t hosts_, most_, loaded_ = 0, refuted_ = 0, stale_ = 0, turn_ = 0;
  bool loaded_twice_ = false, busy_ = false, proposed_ = false;
  std::mt19937_64 random_;
  Stage stage_ = Stage::alone;
  std::uint32_t step_ = 0;  ///< of the stage
  std::vector<std::uint32_t> labels_;
  std::vector<Stream> asked_;
  std::vector<StreamRound> rounds_, checked_;
  std::vector<Split> splits_;
  std::vector<Planned> planned_;
  std::size_t next_planned_ = 0, loaded_from_ = 0, loaded_to_ = 0,
              found_ = 0;  ///< tests, first round of matchings, bottlenecks before
  std::vector<double> errors_;
  MeasuredTree tree_;
};

}  // namespace hocket
