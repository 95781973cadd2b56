#pragma once
/// The tags of an exchange's messages.
#include <mpi.h>

#include <cstddef>

#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// The tag of a segment says where it stands among all segments from its sender, how long it is, and whether another
/// one of its message follows. So a receive takes only what it expects: nothing is cut off by the MPI library, which
/// would tell an error handler of its own choice, and what nobody expects can be looked at. Tokens and acknowledgements
/// are empty messages: source and tag say it all.
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

}  // namespace hocket::runtime
