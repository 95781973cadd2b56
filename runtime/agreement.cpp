#include "agreement.hpp"

#include "exchange.hpp"
#include "hocket/error.hpp"
#include "mpi_call.hpp"
#include "plan_store.hpp"
#include "requests.hpp"

namespace hocket::runtime {

int world_rank() {
  int rank = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
  return rank;
}

void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Iallreduce(own, all, count, type, op, comm, &request));
  wait_until_done(request);
}

void warn(MPI_Comm comm, int source, const std::string& text, const std::string& consequence) {
  char line[512] = "";
  text.copy(line, sizeof line - 1);
  check(PMPI_Bcast(line, sizeof line, MPI_CHAR, source, comm));
  if (world_rank() == 0) say_once(std::string(line) + "; " + consequence);
}

bool all_well(MPI_Comm comm, const std::string& problem, const std::string& consequence) {
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(comm, &rank));
  check(PMPI_Comm_size(comm, &size));
  const int troubled = problem.empty() ? size : rank;
  int first_troubled = size;
  reduce(&troubled, &first_troubled, 1, MPI_INT, MPI_MIN, comm);
  if (first_troubled == size) return true;
  warn(comm, first_troubled, problem, consequence);
  return false;
}

void check_tags(const Planned& planned, MPI_Comm comm) {
  constexpr std::size_t least_promised = 32767;
  int* largest = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, MPI_TAG_UB, &largest, &found));
  const std::size_t tags = found ? static_cast<std::size_t>(*largest) : least_promised;
  if (planned.program.sends.size() + Exchange::first_token_tag > tags)
    throw InputError("this MPI has too few message tags for a plan of so many sends");
}

}  // namespace hocket::runtime
