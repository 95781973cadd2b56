#pragma once
/// Who must send how many bytes to whom.
#include <cstdint>
#include <string_view>
#include <vector>

#include "hocket/demand/traffic_matrix.hpp"
#include "hocket/network/routing.hpp"

namespace hocket {

enum class Pattern : std::uint8_t { all_to_all, all_gather, irregular };
inline constexpr std::uint8_t pattern_kinds = 3;

[[nodiscard]] std::string_view to_string(Pattern pattern);
/// "all-to-all", "all-gather" or "irregular"; throws InputError.
[[nodiscard]] Pattern parse_pattern(std::string_view text);

/// The target of a piece that every rank must get: in an all-gather what a rank contributes is one
/// message to everyone.
inline constexpr Rank everyone = ~Rank{0};

/// A traffic matrix over `ranks` ranks.
/// - All-to-all: every rank has a different message of `bytes` bytes for every other rank
///   (MPI_Alltoall without the part a rank keeps).
/// - All-gather: every rank contributes one message, which every other rank must get; of `bytes`
///   bytes, or of `contributions[rank]` where they are not equal (MPI_Allgatherv).
/// - Irregular: what `matrix` says (MPI_Alltoallv); `bytes` is its largest message.
struct Demand {
  Pattern pattern = Pattern::all_to_all;
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 1;
  std::vector<std::uint64_t> contributions = {};  ///< all-gather, one per rank; empty: `bytes` each
  TrafficMatrix matrix = {};                      ///< irregular

  /// Every message is a contribution that all other ranks must get, and that they may forward.
  [[nodiscard]] bool to_everyone() const { return pattern == Pattern::all_gather; }
  /// Messages differ in size, or are missing.
  [[nodiscard]] bool by_matrix() const { return pattern == Pattern::irregular; }
  [[nodiscard]] std::uint64_t contribution(Rank origin) const {
    return contributions.empty() ? bytes : contributions[origin];
  }
  /// Bytes that `target` must get from `origin`; what a rank contributes to everyone is no message
  /// to itself. `target` may be `everyone` in an all-gather, and only there.
  [[nodiscard]] std::uint64_t size(Rank origin, Rank target) const {
    if (by_matrix()) return matrix.size(origin, target);
    if (origin == target || (target == everyone) != to_everyone()) return 0;
    return contribution(origin);
  }
  /// Messages, or deliveries of a contribution to a rank.
  [[nodiscard]] std::uint64_t messages() const {
    if (by_matrix()) return matrix.messages();
    return std::uint64_t{ranks} * (ranks > 0 ? ranks - 1 : 0);
  }
  bool operator==(const Demand&) const = default;
};

[[nodiscard]] Demand irregular(TrafficMatrix matrix);

}  // namespace hocket
