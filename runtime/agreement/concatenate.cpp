#include "runtime/agreement/concatenate.hpp"

#include <limits>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/mpi/bytes_type.hpp"
#include "runtime/progress/agree.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
TrafficMatrix concatenate(MPI_Comm comm, std::span<const Volume> sends) {
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(comm, &rank));
  check(PMPI_Comm_size(comm, &size));
  std::vector<Message> row;
  for (const Volume& volume : sends) row.push_back({static_cast<Rank>(rank), volume.peer, volume.bytes});
  const int length = static_cast<int>(row.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), places;
  gather_all(&length, lengths.data(), sizeof length, comm);
  std::int64_t total = 0;
  for (const int of_rank : lengths) {
    places.push_back(static_cast<int>(total));
    total += of_rank;
    if (total > std::numeric_limits<int>::max()) throw InputError("an exchange of more than 2^31 - 1 messages");
  }
  std::vector<Message> all;
  std::string problem;
  try_local(problem, [&] { all.resize(static_cast<std::size_t>(total)); });
  const int fits = problem.empty() ? 1 : 0;
  int fits_everywhere = 0;
  reduce(&fits, &fits_everywhere, 1, MPI_INT, MPI_MIN, comm);
  if (!fits_everywhere) throw InputError("no memory to say who sends how much to whom");
  const BytesType type(sizeof(Message));
  run_collective(PMPI_Iallgatherv, row.data(), length, type.get(), all.data(), lengths.data(), places.data(),
                 type.get(), comm);
  return {static_cast<std::uint32_t>(size), std::move(all)};
}

}  // namespace hocket::runtime
