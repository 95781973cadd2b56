#pragma once
/// Loops that combine two arrays of numbers, element by element, at the speed of memory.
#include <cstddef>
#include <cstdint>

namespace hocket::runtime {

enum class Operator : std::uint8_t {
  sum,
  product,
  minimum,
  maximum,
  bits_and,
  bits_or,
  bits_xor,
};
enum class NumberKind : std::uint8_t { signed_integer, unsigned_integer, floating, complex };

/// inout[i] = in[i] op inout[i]. The arrays need no alignment.
using Kernel = void (*)(const std::byte* in, std::byte* inout, std::size_t elements);

/// For numbers of `bytes` bytes; integers wrap around. Null where there is none: the MPI library has to do it.
[[nodiscard]] Kernel find_kernel(Operator operation, NumberKind numbers, std::size_t bytes);

}  // namespace hocket::runtime
