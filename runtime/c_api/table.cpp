#include "runtime/c_api/table.hpp"

#include <string>
#include <utility>

#include "runtime/c_api/api.hpp"

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

}  // namespace hocket::runtime

using namespace hocket::runtime;

hocket_table::hocket_table(PrivateComm own, PhaseTable made)
    : comm(std::move(own)),
      phases(std::move(made)),
      rows(rows_of(phases)),
      exchange(comm.get(), planned(phases), settings()),
      served(std::make_shared<ManagedRequest>()) {
  auto operation = std::make_unique<NestedExchange>(exchange, phases);
  operation_ = operation.get();
  served->operation = std::move(operation);
  served->comm = comm.get();
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

void hocket_table::collect() { check(Requests::instance().collect(*served, nullptr)); }
