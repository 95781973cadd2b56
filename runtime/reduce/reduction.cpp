#include "runtime/reduce/reduction.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "runtime/mpi/datatypes.hpp"
#include "runtime/mpi/refusals.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

/// Settings::segment is at least as large.
constexpr std::size_t largest_element = 1024;

/// Classes of types. `other_integer`: of Fortran, which are not true or false, nor are addresses.
enum class Class : std::uint8_t {
  signed_integer,
  unsigned_integer,
  other_integer,
  address,
  floating,
  complex,
  logical,
  byte,
  pair,
  floating_pair
};
/// Classes of operations.
enum class Allows : std::uint8_t { order, arithmetic, logic, bits, place };

struct Predefined {
  Allows allows;
  std::optional<Operator> operation;  ///< none: the MPI library combines
};

const Predefined* find_operation(MPI_Op op) {
  static const std::map<MPI_Op, Predefined> known{
      {MPI_MAX, {Allows::order, Operator::maximum}},
      {MPI_MIN, {Allows::order, Operator::minimum}},
      {MPI_SUM, {Allows::arithmetic, Operator::sum}},
      {MPI_PROD, {Allows::arithmetic, Operator::product}},
      {MPI_BAND, {Allows::bits, Operator::bits_and}},
      {MPI_BOR, {Allows::bits, Operator::bits_or}},
      {MPI_BXOR, {Allows::bits, Operator::bits_xor}},
      {MPI_LAND, {Allows::logic, {}}},
      {MPI_LOR, {Allows::logic, {}}},
      {MPI_LXOR, {Allows::logic, {}}},
      {MPI_MAXLOC, {Allows::place, {}}},
      {MPI_MINLOC, {Allows::place, {}}},
  };
  const auto found = known.find(op);
  return found != known.end() ? &found->second : nullptr;
}

/// The class of a predefined datatype, or null. Datatypes that the MPI library lacks have the handle MPI_DATATYPE_NULL.
const Class* find_class(MPI_Datatype type) {
  using OfClass = std::pair<Class, std::vector<MPI_Datatype>>;
  static const std::vector<OfClass> classes{
      {Class::signed_integer,
       {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
        MPI_INT64_T}},
      {Class::unsigned_integer,
       {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
        MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}},
      {Class::address, {MPI_AINT, MPI_OFFSET, MPI_COUNT}},
      {Class::other_integer, {MPI_INTEGER}},
      {Class::floating, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION}},
      {Class::complex,
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
        MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX}},
      {Class::logical, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL}},
      {Class::byte, {MPI_BYTE}},
      {Class::pair, {MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_2INTEGER}},
      {Class::floating_pair, {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION}},
// Optional types of Fortran, those that are as wide as one of C: an MPI need not have them.
#ifdef MPI_INTEGER1
      {Class::other_integer, {MPI_INTEGER1}},
#endif
#ifdef MPI_INTEGER2
      {Class::other_integer, {MPI_INTEGER2}},
#endif
#ifdef MPI_INTEGER4
      {Class::other_integer, {MPI_INTEGER4}},
#endif
#ifdef MPI_INTEGER8
      {Class::other_integer, {MPI_INTEGER8}},
#endif
#ifdef MPI_REAL4
      {Class::floating, {MPI_REAL4}},
#endif
#ifdef MPI_REAL8
      {Class::floating, {MPI_REAL8}},
#endif
#ifdef MPI_COMPLEX8
      {Class::complex, {MPI_COMPLEX8}},
#endif
#ifdef MPI_COMPLEX16
      {Class::complex, {MPI_COMPLEX16}},
#endif
  };
  const auto found = std::ranges::find_if(
      classes, [&](const OfClass& one) { return std::ranges::find(one.second, type) != one.second.end(); });
  return type != MPI_DATATYPE_NULL && found != classes.end() ? &found->first : nullptr;
}

bool is_number(Class elements) { return elements <= Class::floating; }
bool is_integer(Class elements) { return elements <= Class::address; }

bool allowed(Allows operation, Class elements) {
  switch (operation) {
    case Allows::order:
      return is_number(elements);
    case Allows::arithmetic:
      return is_number(elements) || elements == Class::complex;
    case Allows::logic:
      return elements <= Class::unsigned_integer || elements == Class::logical;
    case Allows::bits:
      return is_integer(elements) || elements == Class::byte;
    case Allows::place:
      return elements == Class::pair || elements == Class::floating_pair;
  }
  return false;
}

/// Results depend on the order in which elements are combined: sums round, and of a number and none, or of zeros with
/// different signs, a minimum is the one or the other.
bool follow_order(Class elements) {
  return elements == Class::floating || elements == Class::complex || elements == Class::floating_pair;
}

NumberKind kind_of(Class elements) {
  if (elements == Class::floating) return NumberKind::floating;
  if (elements == Class::complex) return NumberKind::complex;
  return elements == Class::signed_integer || elements == Class::other_integer ? NumberKind::signed_integer
                                                                               : NumberKind::unsigned_integer;
}

std::size_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  return static_cast<std::size_t>(extent);
}

/// Sums of 8 and 16 bits, of which only MPICH is known to be always the same: in Open MPI's vectors they saturate, in
/// what is left of them they wrap around.
bool depends_on_place(const Predefined& predefined, Class elements, MPI_Datatype type) {
  return !is_mpich && predefined.operation == Operator::sum && is_integer(elements) && extent_of(type) <= 2;
}

bool keeps_order() { return settings().sums == Sums::rank_order; }

/// Elements that can be cut and copied as bytes, side by side.
bool solid(MPI_Datatype type) {
  if (!committed(type)) return false;
  const Layout layout = layout_of(type);
  return layout.size > 0 && layout.size <= largest_element && layout.true_lower == 0 && layout.runs(2);
}

Reducible of_program(MPI_Op op, MPI_Datatype type) {
  int commutes = 0;
  check(PMPI_Op_commutative(op, &commutes));
  return {.at_all = commutes && !keeps_order() && solid(type)};
}

Reducible of_mpi(const Predefined& predefined, Class elements, MPI_Datatype type) {
  const bool exactly = !follow_order(elements);
  if (!allowed(predefined.allows, elements) || (keeps_order() && !exactly)) return {};
  if (depends_on_place(predefined, elements, type)) return {};
  return {.at_all = true, .later = true, .exactly = exactly};
}

}  // namespace

Reducible reducible(MPI_Op op, MPI_Datatype type) {
  // Predefined types and operations never change, so this thread's last answers can be cached.
  struct Last {
    bool known = false;
    MPI_Op op{};
    MPI_Datatype type{};
    Reducible answer{};
  };
  [[gnu::tls_model("initial-exec")]] static thread_local constinit std::array<Last, 8> lasts;
  const std::size_t both = 3 * std::hash<MPI_Op>{}(op) + std::hash<MPI_Datatype>{}(type);
  Last& last = lasts[(both ^ both >> 5 ^ both >> 9) % lasts.size()];  // handles are numbers, or addresses
  if (last.known && last.op == op && last.type == type) return last.answer;
  if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL) return {};
  const Predefined* const predefined = find_operation(op);
  if (predefined == nullptr) return of_program(op, type);
  const Class* const elements = find_class(type);
  if (elements == nullptr) return {};
  last = {true, op, type, of_mpi(*predefined, *elements, type)};
  return last.answer;
}

Reduction::Reduction(MPI_Op op, MPI_Datatype type) : op_(op), type_(type), element_(extent_of(type)), kernel_(nullptr) {
  const Predefined* const predefined = find_operation(op);
  const Class* const elements = predefined != nullptr ? find_class(type) : nullptr;
  if (elements == nullptr || !predefined->operation) return;
  if (*elements == Class::address) return;  // Open MPI compares offsets as if they had no sign
  kernel_ = find_kernel(*predefined->operation, kind_of(*elements), element_);
}

void Reduction::operator()(const std::byte* in, std::byte* inout, std::size_t bytes) const {
  const std::size_t elements = bytes / element_;
  if (kernel_ != nullptr)
    kernel_(in, inout, elements);
  else if (elements > 0)
    check(PMPI_Reduce_local(in, inout, static_cast<int>(elements), type_, op_));
}

}  // namespace hocket::runtime
