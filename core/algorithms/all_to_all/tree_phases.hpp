#pragma once
/// Optimal all-to-all on any tree of switches, in closed form: the phase of any message follows
/// from its two ends in O(log k) for k branches at the root, so that one rank can compute its own
/// row without the rest of the schedule.
///
/// Source: Faraj and Yuan, "Message Scheduling for All-to-All Personalized Communication on
/// Ethernet Switched Clusters", section 4. A host with several ranks is treated as one more switch
/// with its ranks as leaves, so that its link carries one message at a time as well.
#include <cstdint>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

class TreePhases {
 public:
  /// Throws InputError unless the network is a tree.
  explicit TreePhases(const Network& network);

  /// |M0|·(|M|−|M0|), where M0 is the largest branch of the root.
  [[nodiscard]] std::uint64_t phases() const { return phases_; }
  /// The phase in which src sends to dst (src != dst).
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const;

  /// The node whose branches these are, largest first. Ranks on it are branches of their own.
  [[nodiscard]] Node root() const { return root_; }
  [[nodiscard]] std::uint32_t branches() const { return static_cast<std::uint32_t>(size_.size()); }
  [[nodiscard]] std::uint32_t branch_of(Rank rank) const { return branch_[rank]; }
  [[nodiscard]] std::uint32_t place_of(Rank rank) const { return place_[rank]; }  ///< in its branch
  [[nodiscard]] std::uint64_t size(std::uint32_t branch) const { return size_[branch]; }
  /// Ranks in the branches before this one; also of the one after the last.
  [[nodiscard]] std::uint64_t before(std::uint32_t branch) const { return before_[branch]; }
  /// The first phase of the messages between two branches (extended ring scheduling, section 4.2).
  [[nodiscard]] std::uint64_t start(std::uint32_t from, std::uint32_t to) const {
    if (to > from) return size_[from] * (before_[to] - before_[from + 1]);
    return phases_ - size_[to] * (before_[from + 1] - before_[to + 1]);
  }
  /// In the given round, of |M0| phases, place (phase + rotation) mod |M0| of the largest branch sends.
  [[nodiscard]] std::uint64_t rotation(std::uint64_t round) const { return rotation(round, target_of_round(round)); }
  /// Overload for callers that know `to`, the branch to which the largest one sends in that round.
  [[nodiscard]] std::uint64_t rotation(std::uint64_t round, std::uint32_t to) const {
    return (round + size_[0] - before_[to]) * size_[0] / rotation_[to].block;
  }
  /// The branch to which the largest one sends in the given round.
  [[nodiscard]] std::uint32_t target_of_round(std::uint64_t round) const;
  /// The phase of the given round in which this place of the largest branch sends.
  [[nodiscard]] std::uint64_t in_round(std::uint64_t round, std::uint32_t sender) const;

 private:
  /// The way from the largest branch to branch j (rotate pattern).
  struct Rotation {
    std::uint64_t block;    ///< lcm of the two sizes: phases between rotations
    std::uint64_t divisor;  ///< gcd of the two sizes: number of rotations
    std::uint64_t inverse;  ///< inverse of |M0|/divisor modulo |Mj|/divisor
  };

  [[nodiscard]] std::uint64_t from_largest(std::uint32_t sender, std::uint32_t to, std::uint32_t receiver) const;
  [[nodiscard]] std::uint64_t to_largest(std::uint32_t from, std::uint32_t sender, std::uint32_t receiver) const;
  [[nodiscard]] std::uint64_t local(std::uint32_t branch, std::uint32_t sender, std::uint32_t receiver) const;

  Node root_ = 0;
  std::uint64_t phases_ = 0;
  std::vector<std::uint64_t> size_;    ///< machines per branch, largest first
  std::vector<std::uint64_t> before_;  ///< machines in the branches before this one; one entry more
  std::vector<Rotation> rotation_;
  std::vector<std::uint32_t> branch_, place_;  ///< per rank: its branch, and its number in there
};

}  // namespace hocket
