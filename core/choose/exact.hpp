#pragma once
/// Logarithm and exponential by operations that IEEE 754 rounds in one way: the functions of mathematical libraries
/// differ between processors, and ranks that compute with them could decide differently.
namespace hocket {

/// The natural logarithm of a positive number, within 1e-10.
[[nodiscard]] double exact_log(double x);

/// The exponential of a number within ±700, to within 1e-12 of itself; beyond as at the nearest of these.
[[nodiscard]] double exact_exp(double x);

}  // namespace hocket
