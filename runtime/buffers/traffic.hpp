#pragma once
/// Where the messages of a program lie in the memory of one call.
#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/buffers/messages.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// One message per send and receive of the program, in its order.
struct Traffic {
  Messages sends, receives;
  /// Memory whose bytes are there when the call begins; a send waits until what it reads has come
  /// in. None: everything that is sent is there from the beginning.
  std::optional<Ranges> held;
};

/// Block i of `send` goes to rank i, block i of `receive` comes from rank i; `bytes` each.
[[nodiscard]] Traffic all_to_all_traffic(const RankProgram& program, const std::byte* send, std::byte* receive,
                                         std::size_t bytes);

/// The contribution of rank i lies, or is to lie, in blocks[i]; that of `rank` is there. All ranks
/// must give the same lengths.
[[nodiscard]] Traffic all_gather_traffic(const Planned& planned, const std::vector<Span>& blocks, std::size_t rank);

}  // namespace hocket::runtime
