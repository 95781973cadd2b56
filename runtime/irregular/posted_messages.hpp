#pragma once
/// Messages of a few bytes with known partners, all under way at once.
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

class PostedMessages {
 public:
  explicit PostedMessages(MPI_Comm comm) : comm_(comm) {}
  PostedMessages(const PostedMessages&) = delete;
  PostedMessages& operator=(const PostedMessages&) = delete;
  /// After a failure of MPI some may be under way.
  ~PostedMessages() {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      PMPI_Cancel(&request);
      PMPI_Request_free(&request);
    }
  }

  /// The buffers must stay valid until wait().
  void receive(int peer, void* at, std::size_t bytes, int tag) {
    check(
        PMPI_Irecv(at, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL)));
  }
  void send(int peer, const void* from, std::size_t bytes, int tag) {
    check(PMPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_,
                     &requests_.emplace_back(MPI_REQUEST_NULL)));
  }
  /// The program's active requests make progress meanwhile.
  void wait() {
    int done = 0;
    check(until(done, [&] {
      return PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    }));
    requests_.clear();
  }

 private:
  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
};

}  // namespace hocket::runtime
