#pragma once
/// Ranks agree on a few numbers.
#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace hocket::runtime {

/// MPI_Allreduce of a few values, without taking the processor from ranks that have work: MPICH's blocking reductions
/// and barriers, from the fifth on, wait in the memory of a host without giving processors up. Eight ranks on two cores
/// then take 27 ms for what their nonblocking forms do in 6 (docs/decisions/0053).
void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/// `bytes` bytes of every rank, in their order, on all: a few. By a reduction, whose connections are open: Open MPI's
/// nonblocking all-gather sends from everybody to everybody, and the first one takes 40 to 150 ms among 8 hosts on TCP.
void gather_all(const void* own, void* all, int bytes, MPI_Comm comm);
/// MPI_Barrier in the same way.
void wait_for_all(MPI_Comm comm);

}  // namespace hocket::runtime

/// For tests, which cannot stand between the runtime and the MPI library: how often this rank agreed with others on a
/// few values, and their bytes.
extern "C" {
extern std::atomic<std::uint64_t> hocket_agreements, hocket_agreed_bytes;
}
