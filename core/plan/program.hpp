#pragma once
/// Program of one rank: its sends in order, the tokens each waits for, and the ranks to release when a message has come
/// in.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/lean_vector.hpp"
#include "core/schedule/closed_form.hpp"
#include "core/schedule/grouped.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

/// A token: the receiver of an earlier transfer tells the sender of a later one to go.
struct Release {
  Rank rank = 0;           ///< rank that waits
  std::uint32_t send = 0;  ///< index of the send that waits, counted from 0
  bool operator==(const Release&) const = default;
};

struct RankProgram {
  struct Send {
    Rank dst = 0;
    std::uint64_t phase = 0;
    LeanVector<Piece> pieces;  ///< in this order; none: the whole message from sender to receiver
    LeanVector<Rank> tokens;   ///< releasers; the rank itself where its own receive is awaited
    bool operator==(const Send&) const = default;
  };
  struct Receive {
    Rank src = 0;
    std::uint64_t phase = 0;
    LeanVector<Piece> pieces;
    LeanVector<Release> releases;
    bool operator==(const Receive&) const = default;
  };
  std::vector<Send> sends;        ///< sorted by phase
  std::vector<Receive> receives;  ///< sorted by phase
  bool operator==(const RankProgram&) const = default;
};

/// The programs of all ranks, made one at a time: together they take many times the memory of the schedule.
class RankPrograms {
 public:
  /// Schedule and waits must outlive it. `only`: no other rank will be asked for. Throws InputError for transfers
  /// between ranks that there are not, and for waits of another schedule.
  RankPrograms(const Schedule& schedule, const Waits& waits, std::optional<Rank> only = {});

  [[nodiscard]] RankProgram of(Rank rank) const;

 private:
  [[nodiscard]] LeanVector<Piece> pieces(std::uint32_t transfer) const;

  const Schedule& schedule_;
  const Waits& waits_;
  std::vector<std::uint32_t> phase_, send_place_;  ///< per transfer; the place among its sender's
  Grouped sends_, receives_;                       ///< transfers, per rank
  Grouped released_;                               ///< transfers that wait for one
};

[[nodiscard]] std::vector<RankProgram> rank_programs(const Schedule& schedule, const Waits& waits);
[[nodiscard]] RankProgram rank_program(const Schedule& schedule, const Waits& waits, Rank rank);

/// The rank's program, computed from a closed form; it equals that of the whole schedule with its waits for window 1.
/// O(n) memory for n ranks, and time by the routes.
[[nodiscard]] RankProgram rank_program(const Network& network, const ClosedForm& form, Rank rank);

}  // namespace hocket
