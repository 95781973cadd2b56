#pragma once
/// Demand of a collective: the bytes that each rank must send to each other one.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/limits.hpp"
#include "core/network/routing.hpp"

namespace hocket {

/// The first of `count` elements in part `part` of `parts`, which are as equal as can be: count · part / parts.
[[nodiscard]] constexpr std::uint64_t part_begin(std::uint64_t count, std::uint64_t part, std::uint64_t parts) {
  return count / parts * part + count % parts * part / parts;
}

struct Message {
  Rank src = 0, dst = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Message&) const = default;
};

/// Rows by sender, compressed: row i is [begin[i], begin[i + 1]) of `target` and `bytes`. Targets ascend
/// within a row; no message is empty and nobody sends to itself. This is the compressed matrix CCOM of
/// Wang, Lin and Ranka (section 3.3): nobody needs the n × n matrix.
class TrafficMatrix {
 public:
  TrafficMatrix() = default;
  /// From messages in any order; empty ones and those of a rank to itself are dropped. Throws InputError
  /// for ranks that do not exist, a message given twice, and more than 2⁶³ − 1 bytes in all.
  TrafficMatrix(std::uint32_t ranks, std::vector<Message> messages);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  [[nodiscard]] std::uint64_t messages() const { return target_.size(); }
  [[nodiscard]] std::uint64_t total_bytes() const { return total_; }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  /// The ranks to which `src` sends, and how much; two spans of the same length.
  [[nodiscard]] std::span<const Rank> targets(Rank src) const {
    return {target_.data() + begin_[src], target_.data() + begin_[src + 1]};
  }
  [[nodiscard]] std::span<const std::uint64_t> bytes(Rank src) const {
    return {bytes_.data() + begin_[src], bytes_.data() + begin_[src + 1]};
  }
  /// Number of the first message of `src`, counted through all rows.
  [[nodiscard]] std::uint64_t first(Rank src) const { return begin_[src]; }
  /// Bytes of the message src -> dst, 0 if there is none. Logarithmic in the row.
  [[nodiscard]] std::uint64_t size(Rank src, Rank dst) const;
  /// Calls visit(src, dst, bytes) for every message, row by row.
  template <class Visit>
  void each(Visit visit) const {
    for (Rank src = 0; src < ranks(); ++src)
      for (std::uint64_t i = begin_[src]; i < begin_[src + 1]; ++i) visit(src, target_[i], bytes_[i]);
  }
  /// The messages, row by row.
  [[nodiscard]] std::vector<Message> list() const;

  bool operator==(const TrafficMatrix&) const = default;

 private:
  std::vector<std::uint64_t> begin_{0};
  std::vector<Rank> target_;
  std::vector<std::uint64_t> bytes_;
  std::uint64_t total_ = 0, largest_ = 0;
};

enum class Pattern : std::uint8_t { all_to_all, all_gather, irregular, reduce_scatter, all_reduce };
inline constexpr std::uint8_t pattern_kinds = 5;

/// Ranks add what they get to what they have.
[[nodiscard]] constexpr bool reduces(Pattern pattern) {
  return pattern == Pattern::reduce_scatter || pattern == Pattern::all_reduce;
}
/// True if there is a block for every rank, which others pass on: what a rank contributes to an all-gather, or gets of
/// a sum.
[[nodiscard]] constexpr bool by_blocks(Pattern pattern) { return pattern == Pattern::all_gather || reduces(pattern); }

[[nodiscard]] std::string_view to_string(Pattern pattern);
/// "all-to-all" and so on; throws InputError.
[[nodiscard]] Pattern parse_pattern(std::string_view text);

/// The target of a piece of a block: in an all-gather what a rank contributes is one message to everyone. In a
/// reduction everyone has something for the block.
inline constexpr Rank everyone = ~Rank{0};

/// A traffic matrix over `ranks` ranks.
/// - All-to-all: every rank has a different message of `bytes` bytes for every other rank
///   (MPI_Alltoall without the part a rank keeps).
/// - All-gather: every rank contributes one message, which every other rank must get; of `bytes`
///   bytes, or of `contributions[rank]` where they are not equal (MPI_Allgatherv).
/// - Reduce-scatter: every rank has a vector of one block for every rank, of `bytes` or `contributions[rank]` bytes;
///   each must get the sum of all ranks' blocks for it (MPI_Reduce_scatter). The origin of a piece is the rank whose
///   block it is; a transfer carries what its sender has added up so far.
/// - All-reduce: the same, and then everyone must get all sums (MPI_Allreduce).
/// - Irregular: what `matrix` says (MPI_Alltoallv); `bytes` is its largest message.
struct Demand {
  Pattern pattern = Pattern::all_to_all;
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 1;
  std::vector<std::uint64_t> contributions = {};  ///< bytes of each rank's block; empty: `bytes` each
  TrafficMatrix matrix = {};                      ///< irregular

  [[nodiscard]] bool by_blocks() const { return hocket::by_blocks(pattern); }
  [[nodiscard]] bool reduces() const { return hocket::reduces(pattern); }
  /// Messages differ in size, or are missing.
  [[nodiscard]] bool by_matrix() const { return pattern == Pattern::irregular; }
  [[nodiscard]] std::uint64_t contribution(Rank origin) const {
    return contributions.empty() ? bytes : contributions[origin];
  }
  /// The root of a broadcast or reduce: the one rank that has a block. Nothing where others have one, too.
  [[nodiscard]] std::optional<Rank> only_block() const;
  /// Bytes that `target` must get from `origin`; what a rank contributes to everyone is no message
  /// to itself. Of blocks `target` is `everyone`, and only there.
  [[nodiscard]] std::uint64_t size(Rank origin, Rank target) const {
    if (by_matrix()) return matrix.size(origin, target);
    if (origin == target || (target == everyone) != by_blocks()) return 0;
    return contribution(origin);
  }
  /// Messages, or what every block must take: from rank to rank until all have had their part.
  [[nodiscard]] std::uint64_t messages() const {
    if (by_matrix()) return matrix.messages();
    return std::uint64_t{ranks} * (ranks > 0 ? ranks - 1 : 0) * (pattern == Pattern::all_reduce ? 2 : 1);
  }
  bool operator==(const Demand&) const = default;
};

[[nodiscard]] Demand irregular(TrafficMatrix matrix);

/// The all-gather of the same blocks: a reduction is scheduled as one, turned round.
[[nodiscard]] Demand gather_of(const Demand& reduction);

// Collectives as descriptors: what each one asks for, for planning, proving, running and measuring.
//
// A new collective whose demand is of a known pattern is one row of the table.

struct Collective {
  std::string_view name;       ///< "all-gather"
  std::string_view mpi_calls;  ///< the blocking MPI calls, by commas
  std::string_view asks;       ///< one sentence, in which SIZE stands for `bytes`
  Pattern pattern;             ///< pattern of its demands, which decides on bound, postcondition and algorithms
  bool rooted;                 ///< one rank is the root; elsewhere `root` has no meaning
  /// Among `ranks` ranks, `bytes` bytes a message or contribution. Null: a traffic matrix must say who sends what.
  Demand (*demand)(std::uint32_t ranks, std::uint64_t bytes, Rank root);

  /// True if calls with this root, of any size, can follow a plan of `demand`: it is their demand at some size, and
  /// leaves no part out that a larger size has.
  [[nodiscard]] bool can_follow(const Demand& demand, Rank root) const;

  /// Ranks pass on what they get.
  [[nodiscard]] bool forwards() const { return by_blocks(pattern); }
  /// Seconds that a message is taken to cost its sender unless the user says otherwise. One rank's block alone flows in
  /// a pipeline: what each part costs decides how many there are.
  [[nodiscard]] double usual_alpha() const { return rooted ? limits::run_alpha : 0; }
};

[[nodiscard]] std::span<const Collective> collectives();

/// Throws InputError that lists the known names.
[[nodiscard]] const Collective& find_collective(std::string_view name);

}  // namespace hocket
