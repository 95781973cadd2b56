#pragma once
/// Phases of transfers.
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/routing.hpp"

namespace hocket {

/// One send of one phase.
struct Hop {
  Rank src = 0, dst = 0;
  bool operator==(const Hop&) const = default;
};

/// The part of the message origin -> target that a hop carries: bytes [offset, offset + length).
struct Piece {
  Rank origin = 0, target = 0;
  std::uint64_t offset = 0, length = 0;
  bool operator==(const Piece&) const = default;
};

/// Transfers grouped by phase. Most schedules send whole messages straight from origin to target;
/// these store eight bytes per transfer. Only schedules that forward or split carry `pieces`.
class Schedule {
 public:
  Schedule(std::uint32_t ranks, std::uint64_t message_bytes) : ranks_(ranks), bytes_(message_bytes) {}

  /// Takes transfers already sorted by phase; phase p is [begin[p], begin[p+1]).
  Schedule(std::uint32_t ranks, std::uint64_t message_bytes, std::vector<std::uint64_t> begin, std::vector<Hop> hops,
           std::vector<Piece> pieces = {});

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint64_t message_bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t phases() const { return begin_.size() - 1; }
  [[nodiscard]] std::uint64_t size() const { return hops_.size(); }
  [[nodiscard]] std::span<const Hop> hops() const { return hops_; }
  [[nodiscard]] std::span<const Hop> phase(std::uint64_t p) const {
    return {hops_.data() + begin_[p], hops_.data() + begin_[p + 1]};
  }
  [[nodiscard]] std::span<const std::uint64_t> phase_begin() const { return begin_; }
  /// True when every transfer is a whole message on its way from origin to target.
  [[nodiscard]] bool direct() const { return pieces_.empty(); }
  [[nodiscard]] Piece piece(std::uint64_t transfer) const {
    if (!pieces_.empty()) return pieces_[transfer];
    return {hops_[transfer].src, hops_[transfer].dst, 0, bytes_};
  }

 private:
  std::uint32_t ranks_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<Hop> hops_;
  std::vector<Piece> pieces_;
};

/// Throws InputError if a transfer names a rank that the schedule does not have.
void check_ranks(const Schedule& schedule);

/// Sorts (phase, hop) pairs into a schedule: stable counting sort, linear time.
/// `phase_of[i]` belongs to `hops[i]`.
[[nodiscard]] Schedule group_by_phase(std::uint32_t ranks, std::uint64_t message_bytes, std::uint64_t phases,
                                      std::span<const std::uint32_t> phase_of, std::span<const Hop> hops);

}  // namespace hocket
