#pragma once
/// One phase of a crossing of two groups.
#include <cstdint>
#include <vector>

namespace hocket::product {

/// One phase of a crossing. Messages travel in the left dimensions first and turn where these end, into the line of the
/// right dimension.
struct CrossPhase {
  std::vector<std::uint32_t> left;   ///< per source type of the right group: the left part to use, or none
  std::vector<std::uint32_t> right;  ///< per target type of the left group: the right part to use, or none
  std::vector<bool> fires;           ///< [left type · right types + right type]: those that turn there send
};

}  // namespace hocket::product
