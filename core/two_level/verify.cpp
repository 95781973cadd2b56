#include "core/two_level/verify.hpp"

#include <utility>

#include "core/schedule/ranges.hpp"

namespace hocket {
namespace {

using two_level_check::MemoryTrace;

std::string copy_name(const LocalCopy& copy) {
  return "rank " + std::to_string(copy.rank) + ", bytes " + std::to_string(copy.piece.offset) + ".." +
         std::to_string(copy.piece.offset + copy.piece.length) + " of " + std::to_string(copy.piece.origin) +
         (copy.piece.target == everyone ? "" : "->" + std::to_string(copy.piece.target)) + " at " +
         std::to_string(copy.at);
}

/// Every rank is on one host, once, and the tables say so.
bool check_groups(const Network& between, const TwoLevelExchange& x, TwoLevelCertificate& certificate) {
  const HostGroups& groups = x.groups;
  const auto refuse = [&](const std::string& text) { certificate.add(MemoryFault::misplaced, 0, text); };
  const std::uint32_t ranks = x.demand.ranks;
  if (groups.host_of.size() != ranks || groups.local_of.size() != ranks || x.memory.size() != groups.count() ||
      between.ranks() != groups.count() || x.schedule.ranks() != groups.count() || x.between.ranks != groups.count()) {
    refuse("demand, hosts, schedule and network disagree on how many there are");
    return false;
  }
  std::vector<std::uint32_t> seen(ranks, 0);
  for (std::uint32_t host = 0; host < groups.count(); ++host) {
    if (groups.ranks[host].empty()) refuse("host " + std::to_string(host) + " has no ranks");
    for (std::uint32_t local = 0; local < groups.ranks[host].size(); ++local) {
      const Rank rank = groups.ranks[host][local];
      if (rank >= ranks)
        refuse("there is no rank " + std::to_string(rank));
      else if (++seen[rank] > 1)
        refuse("rank " + std::to_string(rank) + " is there twice");
      else if (groups.host_of[rank] != host || groups.local_of[rank] != local)
        refuse("rank " + std::to_string(rank) + " is not where the tables say");
    }
  }
  for (Rank rank = 0; rank < ranks; ++rank)
    if (seen[rank] == 0) refuse("rank " + std::to_string(rank) + " is on no host");
  bool in_range = true;
  const auto known = [&](Rank rank) { return rank < ranks; };
  for (const LocalCopy& copy : x.puts) in_range = in_range && known(copy.rank);
  for (const LocalCopy& copy : x.takes) in_range = in_range && known(copy.rank);
  for (const LocalSum& sum : x.sums) in_range = in_range && known(sum.rank);
  for (const Hop hop : x.schedule.hops())
    in_range = in_range && hop.src < groups.count() && hop.dst < groups.count() && hop.src != hop.dst;
  if (!in_range) certificate.add(MemoryFault::misplaced, 0, "a copy or a message names a rank that is not there");
  if (x.carry_begin.size() != x.schedule.size() + 1 || x.carry_begin.front() != 0 ||
      x.carry_begin.back() != x.carries.size() || !std::ranges::is_sorted(x.carry_begin)) {
    refuse("the messages between hosts are not those of the schedule");
    return false;
  }
  return certificate.memory_ok();
}

template <class Visit>
void each_carry(const TwoLevelExchange& x, Visit visit) {
  const auto begin = x.schedule.phase_begin();
  for (std::uint64_t phase = 0; phase < x.schedule.phases(); ++phase)
    for (std::uint64_t i = begin[phase]; i < begin[phase + 1]; ++i) {
      std::uint64_t bytes = 0;
      for (const Carry& carry : x.of_transfer(i)) {
        visit(phase, i, x.schedule.hops()[i], carry);
        bytes += carry.length;
      }
      visit.ends(phase, i, bytes);
    }
}

/// Checks that a message moves as many bytes as the schedule has for it.
struct Lengths {
  const TwoLevelExchange& x;
  TwoLevelCertificate& certificate;
  void ends(std::uint64_t phase, std::uint64_t transfer, std::uint64_t bytes) const {
    if (bytes == x.schedule.length(transfer)) return;
    const Hop hop = x.schedule.hops()[transfer];
    certificate.add(MemoryFault::other_bytes, phase,
                    "the message " + std::to_string(hop.src) + "->" + std::to_string(hop.dst) + " moves " +
                        std::to_string(bytes) + " bytes of " + std::to_string(x.schedule.length(transfer)));
  }
};

struct Writes : Lengths {
  MemoryTrace& memory;
  void operator()(std::uint64_t phase, std::uint64_t, Hop hop, const Carry& carry) const {
    memory.carry(hop.src, hop.dst, carry, phase + 1);
  }
};

struct Reads {
  const MemoryTrace& memory;
  TwoLevelCertificate& certificate;
  void operator()(std::uint64_t phase, std::uint64_t, Hop hop, const Carry& carry) const {
    if (!memory.written(hop.src, carry.from, carry.length, phase + 1))
      certificate.add(MemoryFault::not_written, phase,
                      "host " + std::to_string(hop.src) + " sends bytes " + std::to_string(carry.from) + ".." +
                          std::to_string(carry.from + carry.length) + " of its memory, not written yet");
  }
  void ends(std::uint64_t, std::uint64_t, std::uint64_t) const {}
};

/// Check of all-to-alls, irregular exchanges and all-gathers, whose pieces are copied and never change.
class CopyCheck {
 public:
  CopyCheck(const TwoLevelExchange& exchange, std::uint64_t bound, TwoLevelCertificate& certificate)
      : x_(exchange), certificate_(certificate), memory_(exchange.memory, bound, certificate) {}

  void run() {
    for (const LocalCopy& put : x_.puts) {
      if (put.piece.origin != put.rank)
        certificate_.add(MemoryFault::not_demanded, 0, copy_name(put) + ": not its own");
      else if (demanded(put))
        memory_.put(x_.groups.host_of[put.rank], put.at, put.piece);
    }
    each_carry(x_, Writes{{x_, certificate_}, memory_});
    memory_.close();
    // Only where every place is written once is it clear what a reader finds.
    if (certificate_.count(MemoryFault::written_twice) > 0) return;
    each_carry(x_, Reads{memory_, certificate_});
    for (const LocalCopy& take : x_.takes) check_take(take);
    check_complete();
  }

 private:
  [[nodiscard]] std::uint64_t last() const { return x_.schedule.phases(); }

  bool demanded(const LocalCopy& copy) {
    const Piece& piece = copy.piece;
    const bool target = x_.demand.by_blocks() ? piece.target == everyone : piece.target < x_.demand.ranks;
    const std::uint64_t size =
        target && piece.origin < x_.demand.ranks ? x_.demand.size(piece.origin, piece.target) : 0;
    const bool inside = size > 0 && piece.offset <= size && piece.length <= size - piece.offset;
    if (!inside) certificate_.add(MemoryFault::not_demanded, 0, copy_name(copy));
    return inside;
  }

  void check_take(const LocalCopy& take) {
    if (!demanded(take)) return;
    if (x_.demand.by_blocks() ? take.rank == take.piece.origin : take.rank != take.piece.target) {
      certificate_.add(MemoryFault::not_demanded, last(), copy_name(take) + ": not for this rank");
      return;
    }
    bool same = true;
    const bool all = memory_.trace(x_.groups.host_of[take.rank], take.at, take.piece.length, last() + 1,
                                   [&](std::uint64_t at, const Piece& found) {
                                     same = same && found.origin == take.piece.origin &&
                                            found.target == take.piece.target &&
                                            found.offset == take.piece.offset + (at - take.at);
                                   });
    if (!all) certificate_.add(MemoryFault::not_written, last(), copy_name(take) + ": nothing was written there");
    if (!same) certificate_.add(MemoryFault::other_bytes, last(), copy_name(take));
    if (!all || !same) return;
    Ranges& taken = taken_[{take.rank, take.piece.origin}];
    if (taken.add(take.piece.offset, take.piece.offset + take.piece.length) > 0)
      certificate_.add(MemoryFault::taken_twice, last(), copy_name(take));
  }

  void check_complete() {
    const auto wanted = [&](Rank origin, Rank target, std::uint64_t bytes) {
      const auto found = taken_.find({target, origin});
      if (bytes == 0 || (found != taken_.end() && found->second.covers(0, bytes))) return;
      certificate_.add(MemoryFault::missing, last(),
                       "part of what rank " + std::to_string(target) + " gets from " + std::to_string(origin));
    };
    if (x_.demand.by_matrix()) return x_.demand.matrix.each(wanted);
    for (Rank origin = 0; origin < x_.demand.ranks; ++origin)
      for (Rank target = 0; target < x_.demand.ranks; ++target)
        if (origin != target) wanted(origin, target, x_.demand.contribution(origin));
  }

  const TwoLevelExchange& x_;
  TwoLevelCertificate& certificate_;
  MemoryTrace memory_;
  std::map<std::pair<Rank, Rank>, Ranges> taken_;  ///< ranges that a rank has taken, by rank and origin
};

/// Check of all-reduces: sums are made within hosts, then between them, then taken.
class SumCheck {
 public:
  SumCheck(const TwoLevelExchange& exchange, std::uint64_t bound, TwoLevelCertificate& certificate)
      : x_(exchange), certificate_(certificate), memory_(exchange.memory, bound, certificate) {
    for (Rank rank = 0; rank < x_.demand.ranks; ++rank) bytes_ += x_.demand.contribution(rank);
  }

  void run() {
    for (const LocalCopy& put : x_.puts) {
      if (put.piece.origin != put.rank)
        certificate_.add(MemoryFault::not_demanded, 0, copy_name(put) + ": not its own");
      else if (put.piece.target != everyone || put.piece.offset + put.piece.length > bytes_)
        certificate_.add(MemoryFault::not_demanded, 0, copy_name(put));
      else
        memory_.put(x_.groups.host_of[put.rank], put.at, put.piece);
    }
    sums_.resize(x_.groups.count());
    for (const LocalSum& sum : x_.sums)  // its place is taken, but nobody adds up what is there
      memory_.put(x_.groups.host_of[sum.rank], sum.to, {sum.rank, everyone, 0, sum.length}, 1);
    memory_.close();
    if (certificate_.count(MemoryFault::written_twice) > 0) return;
    for (const LocalSum& sum : x_.sums) check_sum(sum);
    for (std::uint32_t host = 0; host < x_.groups.count(); ++host)
      if (bytes_ > 0 && !sums_[host].all.covers(0, bytes_))
        certificate_.add(MemoryFault::missing, 0, "part of the sum of host " + std::to_string(host));
    check_carries();
    for (const LocalCopy& take : x_.takes) check_take(take);
    for (Rank rank = 0; rank < x_.demand.ranks; ++rank)
      if (!taken_[rank].covers(0, bytes_))
        certificate_.add(MemoryFault::missing, x_.schedule.phases(),
                         "part of the vector at rank " + std::to_string(rank));
  }

 private:
  struct Sum {
    bool known = false;
    std::uint64_t base = 0;  ///< place of byte 0 of the vector
    Ranges all;              ///< ranges of the vector that are summed
  };

  void check_sum(const LocalSum& sum) {
    const std::uint32_t host = x_.groups.host_of[sum.rank];
    Sum& here = sums_[host];
    std::vector<bool> added(x_.demand.ranks, false);
    std::uint64_t offset = ~std::uint64_t{0}, ranks = 0;
    bool right = sum.from.size() == x_.groups.ranks[host].size();
    for (const std::uint64_t from : sum.from) {
      Rank whose = everyone;
      const bool all = memory_.trace(host, from, sum.length, 1, [&](std::uint64_t at, const Piece& found) {
        if (at == from) {
          whose = found.origin;
          if (!added[whose]) added[whose] = true, ++ranks;
        }
        const std::uint64_t begins = found.offset - (at - from);
        if (offset == ~std::uint64_t{0}) offset = begins;
        right = right && begins == offset && found.origin == whose;
      });
      right = right && all;
    }
    const std::uint64_t base = sum.to - offset;
    if (!right || ranks != sum.from.size() || (here.known && here.base != base)) {
      certificate_.add(MemoryFault::other_bytes, 0,
                       "rank " + std::to_string(sum.rank) + " does not add the same bytes of every rank of its host");
      return;
    }
    here.known = true;
    here.base = base;
    if (here.all.add(offset, offset + sum.length) > 0)
      certificate_.add(MemoryFault::taken_twice, 0,
                       "rank " + std::to_string(sum.rank) + " adds up what another has added up");
  }

  /// Each carries the part of the sum that the schedule names, from its place to its place.
  void check_carries() {
    std::vector<std::uint64_t> block(x_.groups.count() + 1, 0);
    for (Rank host = 0; host < x_.groups.count(); ++host) block[host + 1] = block[host] + x_.between.contribution(host);
    if (block.back() != bytes_)
      certificate_.add(MemoryFault::other_bytes, 0, "the blocks of the hosts are not the vector");
    for (std::uint64_t i = 0; i < x_.schedule.size(); ++i) {
      const Hop hop = x_.schedule.hops()[i];
      auto carry = x_.of_transfer(i).begin();
      bool right = true;
      x_.schedule.each_piece(i, [&](const Piece& piece) {
        if (piece.length == 0) return;
        if (carry == x_.of_transfer(i).end() || piece.origin >= x_.groups.count()) {
          right = false;
          return;
        }
        const std::uint64_t at = block[piece.origin] + piece.offset;
        right = right && *carry == Carry{sums_[hop.src].base + at, sums_[hop.dst].base + at, piece.length};
        ++carry;
      });
      if (!right || carry != x_.of_transfer(i).end())
        certificate_.add(MemoryFault::other_bytes, 0,
                         "the message " + std::to_string(hop.src) + "->" + std::to_string(hop.dst) +
                             " moves other bytes than the sum that is scheduled");
    }
  }

  void check_take(const LocalCopy& take) {
    const Sum& here = sums_[x_.groups.host_of[take.rank]];
    const std::uint64_t end = take.piece.offset + take.piece.length;
    if (!here.known || end > bytes_ || take.at != here.base + take.piece.offset)
      certificate_.add(MemoryFault::other_bytes, x_.schedule.phases(), copy_name(take) + ": not the sum");
    else if (taken_[take.rank].add(take.piece.offset, end) > 0)
      certificate_.add(MemoryFault::taken_twice, x_.schedule.phases(), copy_name(take));
  }

  const TwoLevelExchange& x_;
  TwoLevelCertificate& certificate_;
  MemoryTrace memory_;
  std::vector<Sum> sums_;
  std::map<Rank, Ranges> taken_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

TwoLevelCertificate verify_two_level(const Network& between, const TwoLevelExchange& exchange, const Waits* waits,
                                     std::uint64_t bound, PortModel ports) {
  TwoLevelCertificate certificate;
  if (!check_groups(between, exchange, certificate)) return certificate;
  certificate.between = verify(between, exchange.between, exchange.schedule, ports);
  if (waits != nullptr) verify_waits(between, exchange.schedule, *waits, certificate.between);
  if (exchange.demand.pattern == Pattern::all_reduce)
    SumCheck(exchange, bound, certificate).run();
  else
    CopyCheck(exchange, bound, certificate).run();
  return certificate;
}

}  // namespace hocket
