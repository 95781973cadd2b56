#include "core/schedule/verify.hpp"

#include <unordered_map>

#include "core/progress/progress.hpp"
#include "core/schedule/block_parts.hpp"
#include "core/schedule/ranges.hpp"

namespace hocket {
namespace {

std::string pair_name(Rank src, Rank dst) { return std::to_string(src) + "->" + std::to_string(dst); }

std::string message_name(Rank origin, Rank target) {
  if (target == everyone) return "the contribution of " + std::to_string(origin);
  return "message " + pair_name(origin, target);
}

std::string piece_name(const Piece& piece) {
  return "bytes " + std::to_string(piece.offset) + ".." + std::to_string(piece.offset + piece.length) + " of " +
         message_name(piece.origin, piece.target);
}

/// Ports and channels, phase by phase. Counters carry the phase they were last used in, so that
/// nothing is cleared between phases. Blocks may go beside each other on a channel that is faster than each of them: as
/// fast as the slowest channels of their routes, all together no faster than this one.
class PhaseCheck {
 public:
  PhaseCheck(const Network& network, const Demand& demand, PortModel ports, Certificate& certificate)
      : network_(network),
        one_port_(ports == PortModel::one_port),
        by_speed_(demand.by_blocks() && !network.equal_rates()),
        certificate_(certificate),
        sends_(network.ranks()),
        receives_(network.ranks()),
        uses_(network.channels()) {}

  void add(std::uint64_t phase, Hop hop) {
    if (one_port_) {
      if (count(sends_[hop.src], phase, hop) == network_.ports(hop.src) + 1)
        certificate_.add(Violation::send_port, phase,
                         "rank " + std::to_string(hop.src) + " sends " + others(sends_[hop.src], hop));
      if (count(receives_[hop.dst], phase, hop) == network_.ports(hop.dst) + 1)
        certificate_.add(Violation::receive_port, phase,
                         "rank " + std::to_string(hop.dst) + " receives " + others(receives_[hop.dst], hop));
    }
    network_.find_route(hop.src, hop.dst, route_);
    const double speed = by_speed_ ? own_speed(network_, route_) : 0;
    for (const Channel channel : route_) {
      const std::uint32_t use = count(uses_[channel], phase, hop);
      certificate_.worst_channel_use = std::max<std::uint64_t>(certificate_.worst_channel_use, use);
      if (!fits(channel, use, speed))
        certificate_.add(Violation::contention, phase,
                         "channel " + network_.channel_name(channel) + " (capacity " +
                             std::to_string(network_.capacity(channel)) + ") carries " + others(uses_[channel], hop));
    }
  }

 private:
  struct Use {
    std::uint64_t phase = ~std::uint64_t{0};
    std::uint32_t count = 0;
    Hop first;
    double speed = 0;   ///< bytes/s of all together
    bool full = false;  ///< reported
  };

  /// False for the first message of a phase that is too much for the channel.
  bool fits(Channel channel, std::uint32_t use, double speed) {
    constexpr double rounding = 1 + 1e-9;
    Use& of = uses_[channel];
    of.speed += speed;
    if (of.full || use <= network_.capacity(channel)) return true;
    of.full = !by_speed_ || of.speed > network_.rate(channel) * rounding;
    return !of.full;
  }

  static std::uint32_t count(Use& use, std::uint64_t phase, Hop hop) {
    if (use.phase != phase) use = {phase, 0, hop, 0, false};
    return ++use.count;
  }

  static std::string others(const Use& use, Hop hop) {
    return pair_name(use.first.src, use.first.dst) + " and " + pair_name(hop.src, hop.dst);
  }

  const Network& network_;
  bool one_port_, by_speed_;
  Certificate& certificate_;
  std::vector<Use> sends_, receives_, uses_;
  std::vector<Channel> route_;
};

/// Whole messages straight to their target: one bit per message says that it has come.
class DirectDelivery {
 public:
  DirectDelivery(const Demand& demand, Certificate& certificate)
      : demand_(demand), certificate_(certificate), seen_(std::uint64_t{demand.ranks} * demand.ranks, false) {}

  void add(std::uint64_t phase, Hop hop) {
    auto seen = seen_[std::uint64_t{hop.src} * demand_.ranks + hop.dst];
    if (seen) certificate_.add(Violation::delivered_twice, phase, "message " + pair_name(hop.src, hop.dst));
    seen = true;
  }

  void finish(std::uint64_t phases) {
    for (Rank origin = 0; origin < demand_.ranks; ++origin)
      for (Rank target = 0; target < demand_.ranks; ++target)
        if (demand_.size(origin, target) > 0 && !seen_[std::uint64_t{origin} * demand_.ranks + target])
          certificate_.add(Violation::missing, phases, "message " + pair_name(origin, target));
  }

 private:
  const Demand& demand_;
  Certificate& certificate_;
  std::vector<bool> seen_;
};

/// Pieces that may be split and forwarded: what every rank holds, byte range by byte range. What
/// arrives in a phase is held from the next phase on.
class PieceDelivery {
 public:
  PieceDelivery(const Demand& demand, Certificate& certificate) : demand_(demand), certificate_(certificate) {
    if (gather()) range_.assign(std::uint64_t{demand.ranks} * demand.ranks, {});
  }

  void add(std::uint64_t phase, Hop hop, const Piece& piece) {
    const std::uint64_t end = piece.offset + piece.length;
    if (gather() && piece.length == 0 && piece.origin < demand_.ranks && demand_.contribution(piece.origin) == 0)
      return;
    const bool known_target = gather() ? piece.target == everyone : piece.target < demand_.ranks;
    if (piece.origin >= demand_.ranks || !known_target || demand_.size(piece.origin, piece.target) == 0) {
      certificate_.add(Violation::not_demanded, phase, piece_name(piece) + " sent " + pair_name(hop.src, hop.dst));
      return;
    }
    if (end < piece.offset || end > demand_.size(piece.origin, piece.target)) {
      certificate_.add(Violation::beyond_message, phase, piece_name(piece));
      return;
    }
    if (hop.src != piece.origin && !holds(hop.src, piece, end))
      certificate_.add(Violation::not_held, phase, "rank " + std::to_string(hop.src) + " sends " + piece_name(piece));
    arrivals_.push_back({hop.dst, piece});
  }

  void end_phase(std::uint64_t phase) {
    for (const auto& [rank, piece] : arrivals_) {
      const bool at_target = gather() || rank == piece.target;
      if (receive(rank, piece) && at_target)
        certificate_.add(Violation::delivered_twice, phase,
                         piece_name(piece) + (gather() ? " to rank " + std::to_string(rank) : std::string()));
    }
    arrivals_.clear();
  }

  void finish(std::uint64_t phases) {
    if (demand_.by_matrix()) {
      demand_.matrix.each([&](Rank origin, Rank target, std::uint64_t bytes) {
        if (!holds(target, {origin, target, 0, bytes}, bytes))
          certificate_.add(Violation::missing, phases, "part of " + message_name(origin, target));
      });
      return;
    }
    for (Rank origin = 0; origin < demand_.ranks; ++origin)
      for (Rank target = 0; target < demand_.ranks; ++target) {
        const Piece all{origin, gather() ? everyone : target, 0, demand_.size(origin, gather() ? everyone : target)};
        if (origin == target || all.length == 0 || holds(target, all, all.length)) continue;
        certificate_.add(Violation::missing, phases,
                         "part of " + message_name(origin, all.target) +
                             (gather() ? " at rank " + std::to_string(target) : std::string()));
      }
  }

 private:
  struct Key {
    Rank holder, origin, target;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = (std::uint64_t{key.holder} << 32 | key.origin) * 0x9e3779b97f4a7c15u;
      hash = (hash ^ hash >> 29 ^ key.target) * 0xbf58476d1ce4e5b9u;
      return static_cast<std::size_t>(hash ^ hash >> 32);
    }
  };
  struct Arrival {
    Rank rank;
    Piece piece;
  };

  [[nodiscard]] bool gather() const { return demand_.by_blocks(); }
  [[nodiscard]] std::uint64_t slot(Rank holder, Rank origin) const {
    return std::uint64_t{holder} * demand_.ranks + origin;
  }

  [[nodiscard]] bool holds(Rank rank, const Piece& piece, std::uint64_t end) const {
    if (gather()) {
      if (rank == piece.origin) return true;
      const Range& range = range_[slot(rank, piece.origin)];
      if (range.begin <= piece.offset && end <= range.end) return true;
      if (held_.empty()) return false;
    }
    const auto it = held_.find({rank, piece.origin, piece.target});
    return it != held_.end() && it->second.covers(piece.offset, end);
  }

  /// Returns whether any of the bytes were there before. In an all-gather what a rank holds of a
  /// contribution is nearly always one range; there are too many of them for a map, which takes only
  /// those that lie apart, until they are complete.
  bool receive(Rank rank, const Piece& piece) {
    const Key key{rank, piece.origin, piece.target};
    const std::uint64_t begin = piece.offset, end = piece.offset + piece.length;
    if (!gather()) return held_[key].add(begin, end) > 0;
    if (rank == piece.origin) return true;
    Range& range = range_[slot(rank, piece.origin)];
    if (const auto it = held_.empty() ? held_.end() : held_.find(key); it != held_.end()) {
      const bool known = it->second.add(begin, end) > 0;
      if (const std::uint64_t size = demand_.contribution(piece.origin); it->second.covers(0, size)) {
        range = {0, size};
        held_.erase(it);
      }
      return known;
    }
    if (range.begin == range.end) {
      range = {begin, end};
      return false;
    }
    if (begin <= range.end && range.begin <= end) {
      const bool known = begin < range.end && range.begin < end;
      range = {std::min(begin, range.begin), std::max(end, range.end)};
      return known;
    }
    Ranges& ranges = held_[key];
    ranges.add(range.begin, range.end);
    ranges.add(begin, end);
    return false;
  }

  struct Range {
    std::uint64_t begin = 0, end = 0;
  };

  const Demand& demand_;
  Certificate& certificate_;
  std::unordered_map<Key, Ranges, KeyHash> held_;
  std::vector<Range> range_;  ///< all-gather, per holder and origin
  std::vector<Arrival> arrivals_;
};

/// True if phases [first, end) bring every block exactly once to everyone, each time from a rank that has it.
/// `backwards`: transfers are turned round, and the last phase comes first.
bool spread(const BlockParts& parts, const Schedule& schedule, std::uint64_t first, std::uint64_t end, bool backwards) {
  HeldParts held(parts);
  std::vector<BlockParts::Bits> bits;
  std::vector<std::size_t> begin;  // per transfer: the begin of its bits
  for (std::uint64_t k = first; k < end; ++k) {
    const std::uint64_t phase = backwards ? end - 1 - (k - first) : k;
    const auto hops = schedule.phase(phase);
    bits.clear();
    begin.assign(1, 0);
    const auto carried = [&](std::size_t i) { return std::span(bits).subspan(begin[i], begin[i + 1] - begin[i]); };
    for (std::size_t i = 0; i < hops.size(); ++i) {
      if (hops[i].src >= parts.ranks() || hops[i].dst >= parts.ranks()) return false;
      parts.append(schedule.pieces(schedule.phase_begin()[phase] + i), bits);
      begin.push_back(bits.size());
      if (!held.has_all(backwards ? hops[i].dst : hops[i].src, carried(i))) return false;
    }
    for (std::size_t i = 0; i < hops.size(); ++i)
      if (!held.add(backwards ? hops[i].src : hops[i].dst, carried(i))) return false;
  }
  return held.complete();
}

/// Quickly, many pieces at once, whether blocks or sums are where they should be. It does not tell what is wrong, and
/// does not know all that is right.
///
/// Sums: backwards, what adds them up has to spread the blocks. Then every rank but a block's own sends once, after all
/// that it gets, so every part comes once to the block's own; only that one has the sum when they begin to spread.
bool blocks_arrive(const Demand& demand, const Schedule& schedule) {
  constexpr std::uint64_t most_words = 1u << 25;  // 256 MB
  if (!demand.by_blocks() || schedule.direct()) return false;
  const std::uint64_t words_of_a_part = std::uint64_t{demand.ranks} * ((demand.ranks + 63) / 64);
  const BlockParts parts(demand, schedule.piece_lists().pieces, most_words / words_of_a_part);
  if (!parts.usable()) return false;
  const std::uint64_t turn = combining_phases(demand.pattern, schedule.phases());
  if (demand.reduces() && !spread(parts, schedule, 0, turn, true)) return false;
  return demand.pattern == Pattern::reduce_scatter || spread(parts, schedule, turn, schedule.phases(), false);
}

/// A transfer of no bytes is in order where there is nothing to send.
bool may_be_empty(const Demand& demand, const Schedule& schedule, std::uint64_t transfer) {
  if (!demand.by_blocks()) return !demand.by_matrix() && demand.bytes == 0;
  bool nothing = true;
  schedule.each_piece(transfer, [&](const Piece& piece) {
    nothing = nothing && piece.origin < demand.ranks && demand.contribution(piece.origin) == 0;
  });
  return nothing;
}

bool well_formed(const Network& network, std::uint64_t phase, Hop hop, bool empty, Certificate& certificate) {
  if (hop.src >= network.ranks() || hop.dst >= network.ranks())
    certificate.add(Violation::rank_out_of_range, phase, pair_name(hop.src, hop.dst));
  else if (hop.src == hop.dst)
    certificate.add(Violation::self_transfer, phase, "rank " + std::to_string(hop.src));
  else if (empty)
    certificate.add(Violation::empty_transfer, phase, pair_name(hop.src, hop.dst));
  else
    return true;
  return false;
}

}  // namespace

Certificate verify(const Network& network, const Demand& demand, const Schedule& schedule, PortModel ports) {
  Certificate certificate;
  certificate.transfers = schedule.size();
  certificate.phases = schedule.phases();
  if (schedule.ranks() != network.ranks() || demand.ranks != network.ranks()) {
    certificate.add(Violation::wrong_ranks, 0,
                    "the network has " + std::to_string(network.ranks()) + " ranks, the demand " +
                        std::to_string(demand.ranks) + ", the schedule " + std::to_string(schedule.ranks()));
    return certificate;
  }
  Steps steps("verifying the schedule", schedule.size());
  PhaseCheck phase_check(network, demand, ports, certificate);
  const auto begin = schedule.phase_begin();
  const auto walk = [&](auto&& add, auto&& end_phase) {
    for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
      for (std::uint64_t i = begin[phase]; i < begin[phase + 1]; ++i) {
        steps.tick();
        const Hop hop = schedule.hops()[i];
        const bool empty = schedule.length(i) == 0 && !may_be_empty(demand, schedule, i);
        if (!well_formed(network, phase, hop, empty, certificate)) continue;
        phase_check.add(phase, hop);
        add(phase, i, hop);
      }
      end_phase(phase);
    }
  };
  if (!demand.by_blocks() && !demand.by_matrix() && schedule.direct() && schedule.message_bytes() == demand.bytes) {
    DirectDelivery delivery(demand, certificate);
    walk([&](std::uint64_t phase, std::uint64_t, Hop hop) { delivery.add(phase, hop); }, [](std::uint64_t) {});
    delivery.finish(schedule.phases());
  } else if (blocks_arrive(demand, schedule)) {
    walk([](std::uint64_t, std::uint64_t, Hop) {}, [](std::uint64_t) {});
  } else if (demand.reduces()) {
    walk([](std::uint64_t, std::uint64_t, Hop) {}, [](std::uint64_t) {});
    verify_sums(demand, schedule, certificate);
  } else {
    PieceDelivery delivery(demand, certificate);
    const auto add = [&](std::uint64_t phase, std::uint64_t i, Hop hop) {
      schedule.each_piece(i, [&](const Piece& piece) { delivery.add(phase, hop, piece); });
    };
    walk(add, [&](std::uint64_t phase) { delivery.end_phase(phase); });
    delivery.finish(schedule.phases());
  }
  return certificate;
}

}  // namespace hocket
