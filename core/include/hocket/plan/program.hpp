#pragma once
/// What one rank does: its sends in order, the tokens each waits for, and whom to release when a
/// message has come in.
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/schedule/closed_form.hpp"
#include "hocket/schedule/schedule.hpp"
#include "hocket/schedule/waits.hpp"

namespace hocket {

/// A token: the receiver of an earlier transfer tells the sender of a later one to go.
struct Release {
  Rank rank = 0;           ///< who waits
  std::uint32_t send = 0;  ///< which of its sends, counted from 0
  bool operator==(const Release&) const = default;
};

struct RankProgram {
  struct Send {
    Rank dst = 0;
    std::uint64_t phase = 0;
    std::vector<Piece> pieces;  ///< in this order; none: the whole message from sender to receiver
    std::vector<Rank> tokens;   ///< releasers; the rank itself where its own receive is awaited
    bool operator==(const Send&) const = default;
  };
  struct Receive {
    Rank src = 0;
    std::uint64_t phase = 0;
    std::vector<Piece> pieces;
    std::vector<Release> releases;
    bool operator==(const Receive&) const = default;
  };
  std::vector<Send> sends;        ///< by phase
  std::vector<Receive> receives;  ///< by phase
  bool operator==(const RankProgram&) const = default;
};

/// The programs of all ranks, or of one only.
[[nodiscard]] std::vector<RankProgram> rank_programs(const Schedule& schedule, const Waits& waits);
[[nodiscard]] RankProgram rank_program(const Schedule& schedule, const Waits& waits, Rank rank);

/// The same as of the whole schedule with its waits for window 1, from its closed form: O(n) memory for n ranks, and
/// time by the routes.
[[nodiscard]] RankProgram rank_program(const Network& network, const ClosedForm& form, Rank rank);

}  // namespace hocket
