#pragma once
/// The predicted time of one step of an operation on elements.
#include <cstdint>
#include <string>
#include <vector>

#include "sort/core/elements/record.hpp"

namespace hocket {

struct StepCost {
  std::string name;
  double seconds;
};

/// The steps of the radix sort, each the sum over all digits: first those of Stricker and Hardwick's, then what
/// follows where the highest digit comes first; and of the sample sort.
inline constexpr int talk_steps = 6;
inline constexpr const char* radix_steps[] = {"bucket counts", "transpose",       "scan",       "untranspose",
                                              "presort copy",  "grouped permute", "local sort", "balance"};
inline constexpr const char* sample_steps[] = {"sample", "splitters", "partition", "exchange", "local sort", "balance"};

/// A sort as the model sees it.
struct SortShape {
  RecordType type;
  std::uint64_t elements = 0;  ///< total over all ranks
  unsigned order_bits = 64;    ///< the lowest bits of the order in which keys differ
  int ranks = 1, ranks_per_host = 1;
  bool library_sort = false;  ///< ranks sort their own keys by a library's function
  std::size_t fetched = 0;    ///< bytes of payload per element whose positions move instead, fetched at the end
};

}  // namespace hocket
