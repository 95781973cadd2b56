#pragma once
/// One rank's part of a scheduled exchange, run with point-to-point messages: its tags, its trace and its order.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

/// The tags of an exchange's messages. That of a segment says where it stands among all segments from its sender, how
/// long it is, and whether another one of its message follows. So a receive takes only what it expects: nothing is cut
/// off by the MPI library, which would tell an error handler of its own choice, and what nobody expects can be looked
/// at. Tokens and acknowledgements are empty messages: source and tag say it all.
class Tags {
 public:
  /// Divides the tags 0 to `largest`; half of them are for segments.
  explicit Tags(std::size_t largest);
  /// The tags for this communicator, within its MPI_TAG_UB; the same on all ranks.
  [[nodiscard]] static Tags of(MPI_Comm comm);

  /// Tags of tokens: so many sends a rank may have.
  [[nodiscard]] std::size_t tokens() const { return largest_ - static_cast<std::size_t>(token(0)); }

  [[nodiscard]] int segment(std::size_t position, std::size_t bytes, bool more) const {
    return static_cast<int>((bytes % lengths_ * positions + position % positions) * 2 + (more ? 1 : 0));
  }
  [[nodiscard]] int acknowledgement() const { return static_cast<int>(lengths_ * positions * 2); }
  /// For the sends of a rank, by their number.
  [[nodiscard]] int token(std::size_t send) const { return acknowledgement() + 1 + static_cast<int>(send); }

  [[nodiscard]] bool is_segment(int tag) const { return tag < acknowledgement(); }
  [[nodiscard]] static bool is_at(int tag, std::size_t position) {
    return static_cast<std::size_t>(tag) / 2 % positions == position % positions;
  }
  [[nodiscard]] static bool has_more(int tag) { return tag % 2 != 0; }

 private:
  static constexpr std::size_t positions = 256;  ///< more than receives are posted in advance

  std::size_t largest_, lengths_;
};

/// Every send has a tag for its tokens. Throws InputError if this MPI has too few.
void check_tags(const Planned& planned, MPI_Comm comm);

/// A record of what a rank did, in its order and without times, to hold against the plan.
class Trace {
 public:
  /// Null unless HOCKET_TRACE asks for one. The file is HOCKET_TRACE.<rank that the launcher gave>.
  [[nodiscard]] static Trace* instance();

  template <class... Numbers>
  void event(std::string_view what, Numbers... numbers) {
    std::string line(what);
    ((line += " " + std::to_string(numbers)), ...);
    std::fprintf(file_, "%s\n", line.c_str());
  }

  /// Writes the head of a call: pattern, number of ranks and this rank, then each planned send with its pieces.
  void plan(const Planned& planned, int rank);

  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

 private:
  explicit Trace(const std::string& path);
  std::FILE* file_;
};

struct HostTeam;

/// Runs a rank program as often as it is asked to. Messages travel in segments small enough to be sent eagerly, so that
/// no rendezvous delays them. When a message is in, its receiver lets the sender go on and releases the senders that
/// wait for it. Source of the scheme: Faraj and Yuan, section 5; who releases, and when, was decided by measurement
/// (docs/decisions/0001-receivers-release.md).
///
/// Forwarded data is sent on segment by segment as it arrives. Sends start in the order of the program; those of one
/// phase proceed together.
class Exchange {
 public:
  /// The program names ranks of `comm`, which must be used by nobody else.
  /// `host_team`: the ranks of each host act together, and the program is their leader's; it must outlive this.
  /// `all_lead`: there is no program, each of them carries some of what they have.
  Exchange(MPI_Comm comm, Planned planned, const Settings& settings, const HostTeam* host_team = nullptr,
           bool all_lead = false);

  [[nodiscard]] const Planned& planned() const { return planned_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] const Tags& tags() const { return tags_; }
  /// Null: every rank carries its own messages.
  [[nodiscard]] const HostTeam* host_team() const { return host_team_; }
  [[nodiscard]] bool all_lead() const { return all_lead_; }

 private:
  friend class ExchangeRun;

  void order_sends(std::size_t ranks);
  void order_receives(std::size_t ranks);
  void order_signals(std::size_t ranks);

  MPI_Comm comm_;
  Planned planned_;
  Settings settings_;
  const HostTeam* host_team_;
  bool all_lead_;
  Trace* trace_;
  Tags tags_;
  int rank_ = 0;
  /// Per send: how many of the first sends must be acknowledged before it may start.
  std::vector<std::size_t> acks_before_;
  /// Per send and receive: the one before it to or from the same rank, or itself.
  std::vector<std::size_t> before_to_same_, before_from_same_;
  /// Per send: receives of earlier phases after which its receiver is told to go on, since the send to it before.
  std::vector<std::vector<std::size_t>> owed_before_;
  std::size_t widest_ = 0;  ///< sends in one phase, at most
  /// Receives of one phase from different ranks are a group: their segments are awaited in turn.
  std::vector<std::size_t> group_begin_;
};

}  // namespace hocket::runtime
