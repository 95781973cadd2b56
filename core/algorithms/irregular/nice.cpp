/// Random scheduling: RS_N and its extensions RS_NL, RS_NH and RS_NLH (Wang, Lin and Ranka, section 3.3 and
/// figure 6).
#include <bit>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/edge_colours.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/algorithms/shared/random.hpp"

namespace hocket::algorithms {

// The two NICE algorithms that look at no message: asynchronous communication and linear permutation
// (Wang, Lin and Ranka, sections 3.1 and 3.2).

static Schedule make_asynchronous(const Network&, const Demand& demand, const AlgorithmOptions&) {
  PhaseWriter writer(demand);
  demand.matrix.each([&](Rank src, Rank dst, std::uint64_t bytes) { writer.send(src, dst, 0, bytes); });
  return writer.finish();
}

/// Pairwise exchange for every number of ranks, in the fewest steps: the ranks of each step form pairs, both directions
/// of a pair are in one step, and any two ranks meet in exactly one. Step k of a power of two pairs i with i XOR k
/// (figure 5); step 0 stays empty. Otherwise the paper leaves the extension open. The next power of two would take up
/// to 2n - 3 steps, in many of which most ranks have no partner. A tournament takes n - 1, or n if n is odd, and no
/// exchange by pairs takes fewer: step k pairs i with k - i modulo that.
static Schedule make_linear_permutation(const Network&, const Demand& demand, const AlgorithmOptions&) {
  const Tournament tournament(demand.ranks);
  const bool power_of_two = std::has_single_bit(demand.ranks);
  std::vector<std::uint32_t> step_of;
  step_of.reserve(demand.matrix.messages());
  demand.matrix.each([&](Rank a, Rank b, std::uint64_t) {
    step_of.push_back(power_of_two ? a ^ b : 2 * tournament.round_of(a, b) % tournament.rounds());
  });
  return whole_messages(demand, step_of, power_of_two ? demand.ranks : tournament.rounds());
}

constinit const Algorithm asynchronous{
    .pattern = Pattern::irregular,
    .name = "AC",
    .summary = "post everything at once, in the order of ranks",
    .source = "Wang, Lin and Ranka, section 3.1",
    .make = make_asynchronous,
    .guarantee = "one phase",
};

constinit const Algorithm linear_permutation{
    .pattern = Pattern::irregular,
    .name = "LP",
    .summary = "exchange by pairs, whoever has something to send",
    .source = "Wang, Lin and Ranka, section 3.2; other counts than powers of two: tournament",
    .make = make_linear_permutation,
    .guarantee = "at most one phase per rank, no port overfull",
};

namespace {

/// Small messages go completely, large ones only as far as the phase lasts; how far, the paper leaves open
/// (Wang, Lin and Ranka, section 3.3). Here a phase lasts as long as it pays: c is the size, of those in the
/// phase, that moves most bytes per unit of time,
///
///     sum of min(size, c) / (c + overhead).
///
/// Cutting early wastes overhead, cutting late the time of those that are through; between two sizes the
/// quotient has no maximum. The overhead of a phase is its per-message cost, in bytes at host speed, and at least a
/// fifth of a mean message, which keeps it to about one split per message where phases cost nothing.
class PhaseCut {
 public:
  /// `alpha`: seconds.
  PhaseCut(const Network& network, const Demand& demand, double alpha) {
    const std::uint64_t messages = std::max<std::uint64_t>(1, demand.matrix.messages());
    const double alpha_bytes = std::min(alpha * network.host_rate(), 0x1p62);
    overhead_ = std::max<std::uint64_t>(
        {1, demand.matrix.total_bytes() / messages / 5, static_cast<std::uint64_t>(alpha_bytes)});
  }

  /// Reduces the bytes that the messages of a phase have left to those that they send in it. The rest of a message is
  /// at least the overhead, or nothing: a smaller rest is not worth a phase of its own.
  void operator()(std::vector<std::uint64_t>& sizes) {
    const std::uint64_t cut = best_cut(sizes);
    std::uint64_t longest = cut;  // with the small rests that go along
    for (const std::uint64_t size : sizes)
      if (size - std::min(size, cut) < overhead_) longest = std::max(longest, size);
    for (std::uint64_t& size : sizes)
      if (size > longest) size = std::min(longest, size - overhead_);
  }

 private:
  [[nodiscard]] std::uint64_t best_cut(const std::vector<std::uint64_t>& sizes) {
    sorted_ = sizes;
    std::ranges::sort(sorted_);
    double best = 0, below = 0;  // bytes of the messages that are through before
    std::uint64_t cut = 0;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      const auto size = static_cast<double>(sorted_[i]);
      const double moved = below + size * static_cast<double>(sorted_.size() - i);
      const double pace = moved / (size + static_cast<double>(overhead_));
      if (pace >= best) best = pace, cut = sorted_[i];
      below += size;
    }
    return cut;
  }

  std::uint64_t overhead_;
  std::vector<std::uint64_t> sorted_;
};

/// Room on channels, for algorithms that fill one phase after the other and see to the ports themselves. All routes are
/// walked once, at the start; messages are numbered as in the matrix.
class LinkRoom {
 public:
  LinkRoom(const Network& network, const TrafficMatrix& matrix) {
    capacity_.push_back(1);
    for (Channel channel = 0; channel < network.channels(); ++channel) capacity_.push_back(network.capacity(channel));
    routes_.begin.reserve(matrix.messages() + 1);
    matrix.each([&](Rank src, Rank dst, std::uint64_t) {
      network.append_route(src, dst, routes_.items);
      routes_.end_list();
    });
    for (std::uint32_t& channel : routes_.items) ++channel;
  }

  /// Empties all channels.
  void next_phase() { room_ = capacity_; }
  /// True if every channel of the message's route has room; else `blocker` becomes one that has none. A
  /// message is refused by the same channel again and again: that one is looked at first.
  [[nodiscard]] bool has_room(std::uint32_t message, std::uint32_t& blocker) const {
    if (room_[blocker] == 0) return false;
    for (const std::uint32_t channel : routes_.of(message))
      if (room_[channel] == 0) {
        blocker = channel;
        return false;
      }
    return true;
  }

  void take(std::uint32_t message) {
    for (const std::uint32_t channel : routes_.of(message)) --room_[channel];
  }

 private:
  std::vector<std::uint32_t> capacity_, room_;  ///< channel i is at i + 1; number 0 is never taken
  Grouped routes_;                              ///< of all messages; channels counted from 1
};

/// The matrix CCOM of Wang, Lin and Ranka (section 3.3): row i holds the receivers that rank i has still to
/// serve, in random order, because the analysis of their algorithm takes destinations as random.
class CompressedRows {
 public:
  struct Entry {
    Rank dst;
    std::uint32_t message;      ///< counted through all rows of the matrix
    std::uint32_t blocker = 0;  ///< the channel that refused it last, where links are looked at
  };

  CompressedRows(const TrafficMatrix& matrix, Random& random) {
    entries_.reserve(matrix.messages());
    matrix.each([&](Rank, Rank dst, std::uint64_t) {
      entries_.push_back({.dst = dst, .message = static_cast<std::uint32_t>(entries_.size())});
    });
    for (Rank src = 0; src < matrix.ranks(); ++src) {
      begin_.push_back(matrix.first(src));
      left_.push_back(static_cast<std::uint32_t>(matrix.targets(src).size()));
      random.shuffle(row(src));
    }
  }

  [[nodiscard]] std::span<Entry> row(Rank src) { return {entries_.data() + begin_[src], left_[src]}; }
  /// Takes an entry out of its row; the last one moves to its place.
  void remove(Rank src, std::uint32_t place) {
    const auto entries = row(src);
    entries[place] = entries.back();
    --left_[src];
  }

 private:
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> left_;  ///< per row: how many (the vector prt)
  std::vector<Entry> entries_;
};

/// Stands where links are not looked at.
struct AnyRoom {
  AnyRoom(const Network&, const TrafficMatrix&) {}
  void next_phase() {}
  [[nodiscard]] bool has_room(std::uint32_t, std::uint32_t&) const { return true; }
  void take(std::uint32_t) {}
};

/// Stands where messages go whole.
struct NoCut {
  NoCut(const Network&, const Demand&, double) {}
  void operator()(std::vector<std::uint64_t>&) const {}
};

/// Fills phase after phase. `room` says which messages the links can still take, `cut` how many
/// bytes of each message a phase takes along.
template <class Room, class Cut>
class RandomPhases {
 public:
  RandomPhases(const Network& network, const Demand& demand, const AlgorithmOptions& options)
      : matrix_(demand.matrix),
        random_(options.seed),
        rows_(demand.matrix, random_),
        sent_(demand.matrix.messages(), 0),
        receives_(demand.ranks, 0),
        left_(demand.matrix.messages()),
        room_(network, demand.matrix),
        cut_(network, demand, options.alpha),
        writer_(demand) {}

  [[nodiscard]] Schedule make() {
    for (std::uint64_t phase = 1; left_ > 0; ++phase) {
      choose(phase);
      write();
    }
    return writer_.finish();
  }

 private:
  struct Choice {
    Rank src;
    std::uint32_t place;  ///< index in its row
  };

  /// The rows in turn, from a random one on, each give the first message whose receiver is free and whose
  /// route has room. Other than in figure 6 those with most left to send come first: the last phases are
  /// theirs, and there are fewer of them.
  void choose(std::uint64_t phase) {
    chosen_.clear();
    room_.next_phase();
    const std::uint32_t ranks = matrix_.ranks(), start = random_.below(ranks);
    std::size_t most = 0;
    for (Rank src = 0; src < ranks; ++src) most = std::max(most, rows_.row(src).size());
    for (const bool first_round : {true, false})
      for (std::uint32_t turn = 0; turn < ranks; ++turn) {
        const Rank src = start + turn < ranks ? start + turn : start + turn - ranks;
        if ((rows_.row(src).size() == most) == first_round) choose_from(src, phase);
      }
  }

  void choose_from(Rank src, std::uint64_t phase) {
    const auto row = rows_.row(src);
    for (std::uint32_t place = 0; place < row.size(); ++place) {
      auto& [dst, message, blocker] = row[place];
      if (receives_[dst] == phase || !room_.has_room(message, blocker)) continue;
      receives_[dst] = phase;
      room_.take(message);
      chosen_.push_back({src, place});
      return;
    }
  }

  /// Sends what was chosen. What a phase does not take along stays in its row.
  void write() {
    sizes_.clear();
    for (const auto [src, place] : chosen_) {
      const std::uint32_t message = rows_.row(src)[place].message;
      sizes_.push_back(matrix_.bytes(src)[message - matrix_.first(src)] - sent_[message]);
    }
    lengths_ = sizes_;
    cut_(lengths_);
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const auto [src, place] = chosen_[i];
      const auto [dst, message, blocker] = rows_.row(src)[place];
      writer_.send(src, dst, sent_[message], lengths_[i]);
      sent_[message] += lengths_[i];
      if (lengths_[i] < sizes_[i]) continue;
      rows_.remove(src, place);
      --left_;
    }
    writer_.end_phase();
  }

  const TrafficMatrix& matrix_;
  Random random_;
  CompressedRows rows_;
  std::vector<std::uint64_t> sent_;      ///< bytes, per message
  std::vector<std::uint64_t> receives_;  ///< per rank: the last phase in which it does
  std::uint64_t left_;                   ///< messages
  Room room_;
  Cut cut_;
  PhaseWriter writer_;
  std::vector<Choice> chosen_;
  std::vector<std::uint64_t> sizes_, lengths_;  ///< per chosen message: bytes left, bytes sent
};

}  // namespace

template <class Room, class Cut>
static Schedule make_random(const Network& network, const Demand& demand, const AlgorithmOptions& options) {
  return RandomPhases<Room, Cut>(network, demand, options).make();
}

constinit const Algorithm random_nodes{
    .pattern = Pattern::irregular,
    .name = "RS_N",
    .summary = "random phases without node contention",
    .source = "Wang, Lin and Ranka, section 3.3",
    .make = make_random<AnyRoom, NoCut>,
    .guarantee = "no port overfull",
};

constinit const Algorithm random_links{
    .pattern = Pattern::irregular,
    .name = "RS_NL",
    .summary = "random phases without node and link contention",
    .source = "Wang, Lin and Ranka, section 3.3",
    .contention_free = true,
    .make = make_random<LinkRoom, NoCut>,
};

constinit const Algorithm random_nodes_even{
    .pattern = Pattern::irregular,
    .name = "RS_NH",
    .summary = "RS_N that splits large messages, so that phases are even",
    .source = "Wang, Lin and Ranka, section 3.3; rule: own",
    .make = make_random<AnyRoom, PhaseCut>,
    .guarantee = "no port overfull",
};

constinit const Algorithm random_links_even{
    .pattern = Pattern::irregular,
    .name = "RS_NLH",
    .summary = "RS_NL that splits large messages, so that phases are even",
    .source = "Wang, Lin and Ranka, section 3.3; rule: own",
    .contention_free = true,
    .make = make_random<LinkRoom, PhaseCut>,
};

}  // namespace hocket::algorithms
