#pragma once
/// The memory of the messages of an irregular rank program in one call.
#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/program.hpp"
#include "runtime/buffers/messages.hpp"
#include "runtime/buffers/traffic.hpp"

namespace hocket::runtime {

/// The memory of one side of a call: all that goes to (or comes from) a peer is one message.
class PeerMessages {
 public:
  /// Block i belongs to peers[i]; blocks of one peer follow each other in their order. Negative peers
  /// have none.
  PeerMessages(std::span<const int> peers, std::span<const Span> blocks);
  [[nodiscard]] std::span<const Span> of(Rank peer) const;

 private:
  std::vector<Rank> peers_;         ///< ascending
  std::vector<std::size_t> begin_;  ///< index of each peer's first span
  std::vector<Span> spans_;
};

/// The pieces of a program that `rank` follows as memory. All messages were planned with `planned_bytes` and are cut in
/// proportion; 0: they are as long as was planned.
[[nodiscard]] Traffic vector_traffic(const RankProgram& program, const PeerMessages& sends,
                                     const PeerMessages& receives, std::uint64_t planned_bytes = 0);

[[nodiscard]] std::size_t bytes_of(std::span<const Span> message);

/// Copies bytes, as many as both sides have.
void copy(std::span<const Span> from, std::span<const Span> to);

}  // namespace hocket::runtime
