#pragma once
/// Who must send how many bytes to whom.
#include <cstdint>
#include <string_view>

#include "hocket/network/routing.hpp"

namespace hocket {

enum class Pattern : std::uint8_t { all_to_all };

[[nodiscard]] std::string_view to_string(Pattern pattern);

/// A traffic matrix over `ranks` ranks. All-to-all: every rank has a different message of `bytes`
/// bytes for every other rank (MPI_Alltoall without the part a rank keeps).
struct Demand {
  Pattern pattern = Pattern::all_to_all;
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 1;

  /// Bytes of the message origin -> target.
  [[nodiscard]] std::uint64_t size(Rank origin, Rank target) const { return origin == target ? 0 : bytes; }
  [[nodiscard]] std::uint64_t messages() const { return std::uint64_t{ranks} * (ranks > 0 ? ranks - 1 : 0); }
};

}  // namespace hocket
