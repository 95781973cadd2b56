#include <complex>
#include <concepts>
#include <cstring>
#include <functional>
#include <type_traits>

#include "runtime/reduce/reduction.hpp"

// GCC's -O2 vectorises next to none of these loops; Clang's does.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif

namespace hocket::runtime {
namespace {

/// Small integers are computed with as int, which would overflow. Only unsigned ones are added.
template <class T>
struct ComputedAs {
  using Type = T;
};
template <std::unsigned_integral T>
struct ComputedAs<T> {
  using Type = std::common_type_t<T, unsigned>;
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// The copies are loads and stores to the compiler, of memory that need not be aligned.
template <class T, class Operation>
void combine(const std::byte* __restrict in, std::byte* __restrict inout, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    T a, b;
    std::memcpy(&a, in + i * sizeof a, sizeof a);
    std::memcpy(&b, inout + i * sizeof b, sizeof b);
    using Computed = typename ComputedAs<T>::Type;
    const auto result = static_cast<T>(Operation()(Computed{a}, Computed{b}));
    std::memcpy(inout + i * sizeof result, &result, sizeof result);
  }
}

/// The loop over the one of these types that has so many bytes.
template <class Operation, class... Types>
Kernel on_one_of(std::size_t bytes) {
  Kernel found = nullptr;
  ((sizeof(Types) == bytes ? void(found = combine<Types, Operation>) : void()), ...);
  return found;
}

template <class Operation>
Kernel on_unsigned(std::size_t bytes) {
  return on_one_of<Operation, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(bytes);
}

template <class Operation>
Kernel on_signed(std::size_t bytes) {
  return on_one_of<Operation, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(bytes);
}

template <class Operation>
Kernel on_floating(std::size_t bytes) {
  return on_one_of<Operation, float, double>(bytes);
}

/// Complex multiplication follows C, including its treatment of infinities. Two's complement: signed integers are added
/// like unsigned ones, which may overflow.
template <class Operation>
Kernel arithmetic(NumberKind numbers, std::size_t bytes) {
  if (numbers == NumberKind::complex) return on_one_of<Operation, std::complex<float>, std::complex<double>>(bytes);
  return numbers == NumberKind::floating ? on_floating<Operation>(bytes) : on_unsigned<Operation>(bytes);
}

template <class Operation>
Kernel comparison(NumberKind numbers, std::size_t bytes) {
  if (numbers == NumberKind::signed_integer) return on_signed<Operation>(bytes);
  if (numbers == NumberKind::unsigned_integer) return on_unsigned<Operation>(bytes);
  return numbers == NumberKind::floating ? on_floating<Operation>(bytes) : nullptr;
}

template <class Operation>
Kernel bitwise(NumberKind numbers, std::size_t bytes) {
  const bool integers = numbers == NumberKind::signed_integer || numbers == NumberKind::unsigned_integer;
  return integers ? on_unsigned<Operation>(bytes) : nullptr;
}

}  // namespace

Kernel find_kernel(Operator operation, NumberKind numbers, std::size_t bytes) {
  switch (operation) {
    case Operator::sum:
      return arithmetic<std::plus<>>(numbers, bytes);
    case Operator::product:
      return arithmetic<std::multiplies<>>(numbers, bytes);
    case Operator::minimum:
      return comparison<Minimum>(numbers, bytes);
    case Operator::maximum:
      return comparison<Maximum>(numbers, bytes);
    case Operator::bits_and:
      return bitwise<std::bit_and<>>(numbers, bytes);
    case Operator::bits_or:
      return bitwise<std::bit_or<>>(numbers, bytes);
    case Operator::bits_xor:
      return bitwise<std::bit_xor<>>(numbers, bytes);
  }
  return nullptr;
}

}  // namespace hocket::runtime
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
