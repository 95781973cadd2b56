#pragma once
/// Sorting within one rank.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/elements/record.hpp"

namespace hocket {

/// Stable sort by key, in place; `scratch` has room for as many records. Least significant digit first; digits
/// that are the same in all records are left out.
void sort_records(RecordType type, std::byte* records, std::size_t n, std::byte* scratch);

/// The digits that cover the lowest `bits` of an order, least significant first: as few as digits of at most
/// `most` bits allow, of nearly equal width.
[[nodiscard]] std::vector<Digit> digits_of(unsigned bits, unsigned most);

}  // namespace hocket
