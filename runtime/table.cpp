#include "table.hpp"

#include <string>
#include <utility>

#include "api.hpp"

namespace hocket::runtime {
namespace {

Planned planned(const PhaseTable& table) {
  Demand demand{Pattern::irregular, table.ranks};
  return {table.program, std::move(demand), table.phases, table.window};
}

/// Throws unless there is a buffer for each message that is not empty.
void check_buffers(const Partners& partners, const void* const* buffers, const char* what) {
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners.bytes[i] == 0) continue;
    need(buffers, what);
    if (buffers[i] == nullptr)
      throw ApiError{HOCKET_ERR_ARGUMENT, std::string(what) + "[" + std::to_string(i) + "], " +
                                              std::to_string(partners.bytes[i]) + " bytes, is NULL"};
  }
}

}  // namespace

OwnComm::OwnComm(MPI_Comm comm) {
  int inter = 0;
  if (comm == MPI_COMM_NULL) throw ApiError{HOCKET_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL"};
  check(PMPI_Comm_test_inter(comm, &inter));
  if (inter) throw ApiError{HOCKET_ERR_ARGUMENT, "the communicator is an intercommunicator"};
  check(PMPI_Comm_rank(comm, &rank_));
  check(PMPI_Comm_size(comm, &size_));
  Requests::instance().let_go();
  check(PMPI_Comm_split(comm, 0, rank_, &comm_));  // not a duplicate: that would copy the program's attributes
  check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

OwnComm::~OwnComm() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && !finalized) PMPI_Comm_free(&comm_);
}

}  // namespace hocket::runtime

using namespace hocket::runtime;

hocket_table::hocket_table(std::unique_ptr<OwnComm> own, PhaseTable made)
    : comm(std::move(own)),
      phases(std::move(made)),
      rows(rows_of(phases)),
      exchange(comm->get(), planned(phases), settings()),
      served(std::make_shared<Served>()) {
  auto operation = std::make_unique<NestedExchange>(exchange, phases);
  operation_ = operation.get();
  served->operation = std::move(operation);
  served->comm = comm->get();
}

void hocket_table::start(const void* const* send, void* const* receive) {
  if (under_way())
    throw ApiError{HOCKET_ERR_BUSY, "an exchange of this table is under way; call hocket_exchange_wait first"};
  check_buffers(phases.targets, send, "send_buffers");
  check_buffers(phases.sources, receive, "receive_buffers");
  operation_->use(send, receive);
  Requests::instance().start(served);
}

bool hocket_table::test() {
  if (!under_way()) return true;
  (void)Requests::instance().progress();
  if (!served->complete()) return false;
  collect();
  return true;
}

void hocket_table::wait() {
  if (!under_way()) return;
  wait_for([&] {
    const bool moved = Requests::instance().progress();
    return served->complete() ? Progress::over : moved ? Progress::some : Progress::none;
  });
  collect();
}

void hocket_table::collect() { check(Requests::collect(*served)); }
