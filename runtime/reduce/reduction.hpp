#pragma once
/// Reductions that ranks can compute among themselves, and the combination of two partial results.
#include <mpi.h>

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

/// Reducibility of an operation and a datatype, by the classes of the MPI standard (MPI-4.1, section 6.9.2).
struct Reducible {
  bool at_all =
      false;  ///< no: not commutative, of elements with gaps, in the order of ranks by the user's wish, or wrong
  bool later = false;    ///< also when the call has returned; not an operation of the program, which it may free then
  bool exactly = false;  ///< in any order of elements the result is the same
};

/// Classifies a reduction. All ranks give the same arguments and get the same answer.
[[nodiscard]] Reducible reducible(MPI_Op op, MPI_Datatype type);

/// Combines partial results. Operation and type must be reducible (`at_all`).
class Reduction {
 public:
  Reduction(MPI_Op op, MPI_Datatype type);

  /// Bytes from one element to the next. Padding in predefined pair types is sent, too.
  [[nodiscard]] std::size_t element() const { return element_; }
  /// inout = in op inout, for so many bytes of whole elements. Throws MpiFailure.
  void operator()(const std::byte* in, std::byte* inout, std::size_t bytes) const;

 private:
  MPI_Op op_;
  MPI_Datatype type_;
  std::size_t element_;
  Kernel kernel_;  ///< null: the MPI library combines
};

}  // namespace hocket::runtime
