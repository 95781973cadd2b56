#pragma once
/// MPI_Allreduce with one vector for each host: the sum of its ranks'.
#include <cstddef>
#include <vector>

#include "runtime/calls/reduce.hpp"
#include "runtime/two_level/two_level_operation.hpp"

namespace hocket::runtime {

/// The ranks of a host add up a part of the vector each, in the order of the ranks: the result does not depend on who
/// comes first.
class TwoLevelReduce : public TwoLevelOperation {
 public:
  TwoLevelReduce(const Exchange& exchange, const AllReduceCall& call);

 private:
  void put() final;
  [[nodiscard]] bool works() const final { return true; }
  void work() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  void take() final;

  /// The vector of rank `local` of this host; the one after the last holds the sum.
  [[nodiscard]] std::byte* vector_of(std::size_t local) const { return area() + local * stride_; }

  AllReduceCall call_;
  Reduction reduction_;
  ReductionBuffers buffers_;
  std::size_t count_ = 0, stride_ = 0;  ///< elements of the vector; bytes from one to the next
};

}  // namespace hocket::runtime
