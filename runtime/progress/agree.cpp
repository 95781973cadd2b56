#include "runtime/progress/agree.hpp"

#include <atomic>
#include <cstdint>

#include "runtime/progress/requests.hpp"

/// For tests, which cannot stand between the runtime and the MPI library: how often this rank agreed with others on a
/// few values, and their bytes.
extern "C" {
__attribute__((visibility("default"))) std::atomic<std::uint64_t> hocket_agreements = 0;
__attribute__((visibility("default"))) std::atomic<std::uint64_t> hocket_agreed_bytes = 0;
}

namespace hocket::runtime {

Agreement::Agreement(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int size = 0;
  check(PMPI_Type_size(type, &size));
  ++hocket_agreements;
  hocket_agreed_bytes += static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
  check(PMPI_Iallreduce(own, all, count, type, op, comm, &request_));
}

/// Where something is thrown meanwhile: the numbers must not be written to when they are gone.
Agreement::~Agreement() {
  if (request_ != MPI_REQUEST_NULL) PMPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void Agreement::wait() { finish_collective(request_); }

void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Agreement(own, all, count, type, op, comm).wait();
}

void wait_for_all(MPI_Comm comm) { run_collective(PMPI_Ibarrier, comm); }

}  // namespace hocket::runtime
