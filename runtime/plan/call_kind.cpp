#include "runtime/plan/call_kind.hpp"

#include "core/algorithms/rooted/one_giver.hpp"

namespace hocket::runtime {
namespace {

/// The least bytes of what is cut at all, and of what is cut as messages of limits::reference_bytes. Both begin a class
/// of sizes for which it is learned who serves calls. Ranks whose counts lie on different sides do not follow the same
/// plan: they are few on purpose (docs/decisions/0051-a-tag-says-how-long-a-segment-is.md).
constexpr std::uint64_t least_cut = 2 * algorithms::smallest_piece, least_usual = 64 << 10;
constexpr std::uint64_t planned_as_short = 16 << 10;

}  // namespace

CallKind pipelined_calls(const Collective& collective, int root, std::uint64_t bytes) {
  CallKind kind{&collective, static_cast<Rank>(root)};
  if (bytes < least_usual) kind.bytes = bytes < least_cut ? algorithms::smallest_piece : planned_as_short;
  return kind;
}

}  // namespace hocket::runtime
