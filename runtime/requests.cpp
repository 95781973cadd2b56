#include "requests.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "mpi_call.hpp"
#include "world.hpp"

__attribute__((visibility("default"))) std::atomic<int> hocket_live_requests = 0;

namespace hocket::runtime {
namespace {

int close_requests(MPI_Comm, int, void*, void*) {
  Requests::instance().close();
  return MPI_SUCCESS;
}

/// MPI_Finalize first of all deletes the attributes of MPI_COMM_SELF.
void close_at_finalize() {
  int keyval = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_requests, &keyval, nullptr));
  check(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr));
}

/// Keeps what `call` throws as the way in which the operation ends.
template <class Call>
bool failed(Served& served, Call call) {
  try {
    call();
    return false;
  } catch (const MpiFailure& failure) {
    served.code = failure.code;
  } catch (const std::bad_alloc&) {
    served.code = MPI_ERR_NO_MEM;
  }
  return true;
}

}  // namespace

Requests& Requests::instance() {
  static Requests& requests = *new Requests;  // outlives every call of a program that does not finalize
  return requests;
}

void Requests::serve(MPI_Request request, std::unique_ptr<Operation> operation, MPI_Comm comm) {
  static std::once_flag once;
  if (in_world()) std::call_once(once, close_at_finalize);
  auto served = std::make_shared<Served>();
  served->operation = std::move(operation);
  served->comm = comm;
  const std::lock_guard lock(mutex_);
  served_.emplace(request, std::move(served));
  ++hocket_live_requests;
}

std::shared_ptr<Served> Requests::find(MPI_Request request) const {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(request);
  return found == served_.end() ? nullptr : found->second;
}

void Requests::start(const std::shared_ptr<Served>& served) {
  if (served->state != Served::State::inactive) throw MpiFailure{MPI_ERR_REQUEST};
  const std::lock_guard lock(mutex_);
  served->code = MPI_SUCCESS;
  served->operation->begin();
  active_.push_back(served);
  served->state = Served::State::active;
  active_count_ = active_.size();
}

template <class Call>
void Requests::for_each_active(Call over) {
  if (!any_active()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(active_, [&](const std::shared_ptr<Served>& served) {
    if (!over(*served)) return false;
    if (served->freed) --hocket_live_requests;
    served->state = Served::State::complete;
    return true;
  });
  active_count_ = active_.size();
}

bool Requests::progress() {
  bool moved = false;
  for_each_active([&](Served& served) {
    Progress progress = Progress::none;
    if (failed(served, [&] { progress = step(*served.operation); })) progress = Progress::over;
    moved |= progress != Progress::none;
    return progress == Progress::over;
  });
  return moved;
}

void Requests::let_go() {
  for_each_active([](Served& served) { return failed(served, [&] { served.operation->let_go(); }); });
}

void Requests::forget(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(request);
  found->second->freed = true;
  if (!found->second->pending()) --hocket_live_requests;
  served_.erase(found);
}

bool Requests::any_freed() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(active_.begin(), active_.end(), [](const auto& served) { return served->freed; });
}

void Requests::close() {
  wait_for([&] {
    const bool moved = progress();
    if (!any_freed()) return Progress::over;
    return moved ? Progress::some : Progress::none;
  });
  const std::lock_guard lock(mutex_);
  active_.clear();
  served_.clear();
  active_count_ = 0;
  hocket_live_requests = 0;
}

}  // namespace hocket::runtime
