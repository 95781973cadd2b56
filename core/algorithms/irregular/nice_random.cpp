/// Random scheduling: RS_N and its extensions RS_NL, RS_NH and RS_NLH (Wang, Lin and Ranka, section 3.3 and
/// figure 6).
#include <algorithm>
#include <utility>
#include <vector>

#include "core/algorithms/irregular/compressed_rows.hpp"
#include "core/algorithms/irregular/link_room.hpp"
#include "core/algorithms/irregular/phase_cut.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/algorithms/shared/serves.hpp"

namespace hocket::algorithms {
namespace {

/// Stands where links are not looked at.
struct AnyRoom {
  void next_phase() {}
  [[nodiscard]] bool has_room(std::uint32_t, std::uint32_t&) const { return true; }
  void take(std::uint32_t) {}
};

/// Stands where messages go whole.
struct NoCut {
  void operator()(std::vector<std::uint64_t>&) const {}
};

/// Fills phase after phase. `room` says which messages the links can still take, `cut` how many
/// bytes of each message a phase takes along.
template <class Room, class Cut>
class RandomPhases {
 public:
  RandomPhases(const Demand& demand, std::uint64_t seed, Room room, Cut cut)
      : matrix_(demand.matrix),
        random_(seed),
        rows_(demand.matrix, random_),
        sent_(demand.matrix.messages(), 0),
        receives_(demand.ranks, 0),
        left_(demand.matrix.messages()),
        room_(std::move(room)),
        cut_(std::move(cut)),
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

static Schedule make_random_nodes(const Network&, const Demand& demand, const AlgorithmOptions& options) {
  return RandomPhases(demand, options.seed, AnyRoom{}, NoCut{}).make();
}

static Schedule make_random_links(const Network& network, const Demand& demand, const AlgorithmOptions& options) {
  return RandomPhases(demand, options.seed, LinkRoom(network, demand.matrix), NoCut{}).make();
}

static Schedule make_random_nodes_even(const Network& network, const Demand& demand, const AlgorithmOptions& options) {
  return RandomPhases(demand, options.seed, AnyRoom{}, PhaseCut(network, demand, options.alpha)).make();
}

static Schedule make_random_links_even(const Network& network, const Demand& demand, const AlgorithmOptions& options) {
  const PhaseCut cut(network, demand, options.alpha);
  return RandomPhases(demand, options.seed, LinkRoom(network, demand.matrix), cut).make();
}

constinit const Algorithm random_nodes{
    .pattern = Pattern::irregular,
    .name = "RS_N",
    .summary = "random phases without node contention",
    .source = "Wang, Lin and Ranka, section 3.3",
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = irregular_why_not,
    .make = make_random_nodes,
    .guarantee = "no port overfull",
};

constinit const Algorithm random_links{
    .pattern = Pattern::irregular,
    .name = "RS_NL",
    .summary = "random phases without node and link contention",
    .source = "Wang, Lin and Ranka, section 3.3",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = irregular_why_not,
    .make = make_random_links,
};

constinit const Algorithm random_nodes_even{
    .pattern = Pattern::irregular,
    .name = "RS_NH",
    .summary = "RS_N that splits large messages, so that phases are even",
    .source = "Wang, Lin and Ranka, section 3.3; rule: own",
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = irregular_why_not,
    .make = make_random_nodes_even,
    .guarantee = "no port overfull",
};

constinit const Algorithm random_links_even{
    .pattern = Pattern::irregular,
    .name = "RS_NLH",
    .summary = "RS_NL that splits large messages, so that phases are even",
    .source = "Wang, Lin and Ranka, section 3.3; rule: own",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = irregular_why_not,
    .make = make_random_links_even,
};

}  // namespace hocket::algorithms
