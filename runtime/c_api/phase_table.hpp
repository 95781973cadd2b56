#pragma once
/// One rank's part of a scheduled irregular exchange: what it sends and receives, phase by phase, and how
/// it is written to a file. Source: Wang, Lin and Ranka, section 4 (communication phase table, figure 8).
#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/binary.hpp"
#include "core/plan/program.hpp"
#include "hocket.h"

namespace hocket::runtime {

/// A destination or source vector.
struct Partners {
  std::vector<int> ranks;
  std::vector<std::int64_t> bytes;

  void add(int rank, std::int64_t size) {
    ranks.push_back(rank);
    bytes.push_back(size);
  }
  [[nodiscard]] std::size_t size() const { return ranks.size(); }
  bool operator==(const Partners&) const = default;
};

struct PhaseTable {
  std::uint32_t ranks = 0;
  Rank rank = 0;  ///< owner of this table; a communicator rank, like all ranks here
  std::string algorithm;
  std::uint64_t seed = 0;
  std::uint64_t phases = 0;
  std::uint32_t window = 1;                        ///< messages that may be unacknowledged
  double lockstep_seconds = 0, bound_seconds = 0;  ///< 0: unknown
  std::uint64_t place = 0;                         ///< digest of the network and of where the ranks are in it
  std::uint64_t whole = 0;                         ///< sum of the digests of all ranks' parts
  Partners targets;                                ///< the caller's list: may hold the rank itself and empty messages
  Partners sources;                                ///< ascending; no message of no bytes
  RankProgram program;                             ///< one piece per send and receive
};

/// The rows of figure 8.
[[nodiscard]] std::vector<hocket_phase> rows_of(const PhaseTable& table);

/// Digest of everything but `whole`. Its sum over all ranks distinguishes tables of one exchange from a mixture.
[[nodiscard]] std::uint64_t part_digest(const PhaseTable& table);

/// Throws InputError unless each is one of the ranks, given once, with a number of bytes.
void check_partners(const Partners& partners, std::uint32_t ranks);
/// Throws InputError unless the program carries every byte of the targets and sources exactly once, straight from
/// sender to receiver.
void check_table(const PhaseTable& table);

/// The layout is described in docs/formats.md.
[[nodiscard]] Bytes encode_table(const PhaseTable& table);
/// Throws PlanProblem for anything but a whole, undamaged table; whether it passes check_table() is not looked at.
[[nodiscard]] PhaseTable decode_table(ByteView bytes);

}  // namespace hocket::runtime
