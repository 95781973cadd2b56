#pragma once
/// The blocks of an all-to-all as plain bytes, whatever the datatype: dense types are used where
/// they lie, others are packed and unpacked.
#include <mpi.h>

#include <cstddef>
#include <vector>

namespace hocket::runtime {

/// Bytes that `count` elements hold; the same on both sides of every message.
[[nodiscard]] std::size_t bytes_of(MPI_Aint count, MPI_Datatype type);

/// Send side: block i of `n`, `bytes` bytes each, at data() + i·bytes.
class SendBlocks {
 public:
  SendBlocks(const void* buffer, int count, MPI_Datatype type, int n, MPI_Comm comm);
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> copy_;
  const std::byte* data_;
};

/// Receive side; finish() puts what arrived where the datatype wants it.
class ReceiveBlocks {
 public:
  ReceiveBlocks(void* buffer, int count, MPI_Datatype type, int n, MPI_Comm comm);
  [[nodiscard]] std::byte* data() { return data_; }
  void finish();

 private:
  void* buffer_;
  int count_;
  MPI_Datatype type_;
  int n_;
  MPI_Comm comm_;
  std::vector<std::byte> copy_;
  std::byte* data_;
};

}  // namespace hocket::runtime
