#pragma once
/// The memory of the messages of a rank program in one call.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/buffers/arrivals.hpp"
#include "runtime/buffers/messages.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// inout = in op inout, for so many bytes of whole elements. May throw MpiFailure.
using Combine = std::function<void(const std::byte* in, std::byte* inout, std::size_t bytes)>;

/// Messages that carry partial results (hocket/schedule/turned.hpp).
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

}  // namespace hocket::runtime
