/* Times the loops of runtime/reduce/kernels.cpp, and MPI_Reduce_local on the same numbers, beside a copy. An ordinary
 * program of one rank. Usage: combine BYTES ROUNDS ; "TYPE OPERATION KERNEL LIBRARY COPY" in seconds per round, for
 * vectors of so many bytes. Checks that both make the same numbers. */
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/reduce/kernels.hpp"

using hocket::runtime::NumberKind;
using hocket::runtime::Operator;

namespace {

struct Type {
  const char* name;
  MPI_Datatype type;
  NumberKind kind;
  std::size_t bytes;
};
struct Operation {
  const char* name;
  MPI_Op op;
  Operator is;
};

template <class Work>
double seconds(Work work) {
  const double start = MPI_Wtime();
  work();
  return MPI_Wtime() - start;
}

/// Small whole numbers, which every type holds.
void fill(std::vector<std::byte>& vector, const Type& type, unsigned times) {
  const std::size_t elements = vector.size() / type.bytes;
  for (std::size_t i = 0; i < elements; ++i) {
    const unsigned number = static_cast<unsigned>(i) * times % 64;
    std::byte* const at = vector.data() + i * type.bytes;
    if (type.kind != NumberKind::floating) {
      const std::uint64_t value = number;
      std::memcpy(at, &value, type.bytes);  // the lowest bytes come first
    } else if (type.bytes == sizeof(float)) {
      const auto value = static_cast<float>(number);
      std::memcpy(at, &value, sizeof value);
    } else {
      const auto value = static_cast<double>(number);
      std::memcpy(at, &value, sizeof value);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::vector<Type> types{{"int8", MPI_INT8_T, NumberKind::signed_integer, 1},
                                {"int16", MPI_INT16_T, NumberKind::signed_integer, 2},
                                {"int32", MPI_INT32_T, NumberKind::signed_integer, 4},
                                {"int64", MPI_INT64_T, NumberKind::signed_integer, 8},
                                {"uint8", MPI_UINT8_T, NumberKind::unsigned_integer, 1},
                                {"uint16", MPI_UINT16_T, NumberKind::unsigned_integer, 2},
                                {"uint32", MPI_UINT32_T, NumberKind::unsigned_integer, 4},
                                {"uint64", MPI_UINT64_T, NumberKind::unsigned_integer, 8},
                                {"float", MPI_FLOAT, NumberKind::floating, 4},
                                {"double", MPI_DOUBLE, NumberKind::floating, 8}};
  const std::vector<Operation> operations{
      {"sum", MPI_SUM, Operator::sum},       {"product", MPI_PROD, Operator::product},
      {"min", MPI_MIN, Operator::minimum},   {"max", MPI_MAX, Operator::maximum},
      {"and", MPI_BAND, Operator::bits_and}, {"or", MPI_BOR, Operator::bits_or},
      {"xor", MPI_BXOR, Operator::bits_xor}};
  const std::size_t bytes = argc > 2 ? std::strtoull(argv[1], nullptr, 10) / 64 * 64 : 0;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
  std::vector<std::byte> in(bytes), ours(bytes), theirs(bytes);
  bool wrong = false;
  for (const Type& type : types)
    for (const Operation& operation : operations) {
      const auto kernel = hocket::runtime::find_kernel(operation.is, type.kind, type.bytes);
      if (kernel == nullptr) continue;
      const std::size_t elements = bytes / type.bytes;
      fill(in, type, 5);
      fill(ours, type, 3);
      theirs = ours;
      for (int round = 0; round < rounds; ++round) {
        const double kernel_seconds = seconds([&] { kernel(in.data(), ours.data(), elements); });
        const double library_seconds = seconds(
            [&] { MPI_Reduce_local(in.data(), theirs.data(), static_cast<int>(elements), type.type, operation.op); });
        wrong = wrong || ours != theirs;
        const double copy_seconds = seconds([&] { std::memcpy(theirs.data(), ours.data(), bytes); });
        std::printf("%s %s %.9f %.9f %.9f\n", type.name, operation.name, kernel_seconds, library_seconds, copy_seconds);
      }
    }
  if (wrong) std::fprintf(stderr, "WRONG NUMBERS\n");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
