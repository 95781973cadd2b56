#pragma once
/// Sorting numbers with vectors: what local sorts of keys alone come down to, where the processor has AVX-512.
#include <cstddef>
#include <cstdint>

namespace hocket::elements {

/// True if this processor has the instructions that vector_sort() uses.
[[nodiscard]] bool vectors_serve();

/// Sorts unsigned numbers of `Number` at any address, in place; not stable, which numbers do not show. `scratch` has
/// room for as many. False: pivots were so bad that it has given up, and the numbers are in some other order.
template <class Number>
[[nodiscard]] bool vector_sort(std::byte* numbers, std::size_t n, std::byte* scratch);

extern template bool vector_sort<std::uint32_t>(std::byte*, std::size_t, std::byte*);
extern template bool vector_sort<std::uint64_t>(std::byte*, std::size_t, std::byte*);

}  // namespace hocket::elements
