#pragma once
/// Sorting within one rank.
#include <cstddef>
#include <cstdint>

#include "sort/core/elements/record.hpp"

namespace hocket {

/// Stable sort by key, in place; `scratch` has room for as many records. Least significant digit first; digits
/// that are the same in all records are left out.
void sort_records(RecordType type, std::byte* records, std::size_t n, std::byte* scratch);

/// True if sort_records() sorts keys of 32 and 64 bits without payload by vector instructions (AVX-512).
[[nodiscard]] bool has_vector_sort();

}  // namespace hocket
