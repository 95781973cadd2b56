#pragma once
/// The generalised diagonal of a cube: one point on each axis-parallel line.
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", section 6.1.
#include <cstdint>
#include <vector>

namespace hocket::gossip {

/// Points of {0, ..., side-1}^dimensions whose coordinates sum to 0 modulo the side, in lexical
/// order: side^(dimensions-1) of them. Throws InputError for sizes that no memory holds.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> diagonal(std::uint32_t side, std::uint32_t dimensions);

}  // namespace hocket::gossip
