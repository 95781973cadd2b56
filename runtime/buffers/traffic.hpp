#pragma once
/// The memory of the messages of a rank program in one call.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/plan/program.hpp"
#include "runtime/buffers/blocks.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// inout = in op inout, for so many bytes of whole elements. May throw MpiFailure.
using Combine = std::function<void(const std::byte* in, std::byte* inout, std::size_t bytes)>;

/// Messages that carry partial results (core/schedule/schedule.hpp).
struct Combining {
  std::uint64_t phases = 0;  ///< data of earlier phases is combined with the buffer, later data replaces it
  std::size_t element = 1;   ///< bytes; no segment is cut within one
  Combine combine;
  Arrivals arrivals;  ///< counts the receives of all phases
  /// Number of messages per byte that replace its partial result: a partial result is complete when only these are
  /// still to arrive.
  int replacing = 0;
};

/// One message per send and receive of the program, in its order.
struct Traffic {
  Messages sends, receives;
  /// Memory whose bytes are there when the call begins; a send waits until what it reads has come
  /// in. None: everything that is sent is there from the beginning, or the traffic combines.
  std::optional<Ranges> held;
  std::optional<Combining> combining;
  /// True if a message may be shorter than its receiver expects, as MPI allows: no rank forwards or combines its bytes.
  bool may_be_short = false;
  /// True if the data to send is already known to be invalid.
  bool spoilt = false;
};

/// Scales the cut at `offset` of a message of `planned` bytes to one of `actual` bytes, in proportion. Rounding one
/// bound at a time keeps neighbours together, and every rank rounds alike.
[[nodiscard]] std::size_t scaled(std::uint64_t offset, std::size_t actual, std::uint64_t planned);

/// Block i, counted from `send` on, goes to rank i, and one counted from `receive` on comes from rank i. Both spans are
/// the first block of their side.
[[nodiscard]] Traffic all_to_all_traffic(const RankProgram& program, Span send, Span receive);

/// Like all_to_all_traffic() where ranks pass on parts of messages. `relayed`: set to as many bytes as pass through
/// this rank, and must outlive the traffic.
[[nodiscard]] Traffic relayed_traffic(const Planned& planned, Rank rank, Span send, Span receive,
                                      std::vector<std::byte>& relayed);

/// The contribution of rank i lies, or is to lie, in blocks[i]; that of `rank` is there. All ranks
/// must give the same lengths.
[[nodiscard]] Traffic all_gather_traffic(const Planned& planned, const std::vector<Span>& blocks, std::size_t rank);

/// blocks[i] holds this rank's contribution to the result of rank i, in elements of `element` bytes. The result of this
/// rank, or all results of an all-reduce, are written to the same blocks. All ranks must give the same lengths.
[[nodiscard]] Traffic reduction_traffic(const Planned& planned, const std::vector<Span>& blocks, std::size_t element,
                                        Combine combine);

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
