#include "runtime/progress/requests.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/world.hpp"

__attribute__((visibility("default"))) std::atomic<int> hocket_live_requests = 0;
__attribute__((visibility("default"))) std::atomic<std::uint64_t> hocket_agreements = 0;
__attribute__((visibility("default"))) std::atomic<std::uint64_t> hocket_agreed_bytes = 0;

namespace hocket::runtime {
namespace {

/// MPI_Finalize first of all deletes what MPI_COMM_SELF has attached.
struct AtFinalize {
  ~AtFinalize() { Requests::instance().close(); }
};

/// While this thread moves what is active. The MPI library may come back to the runtime from there: Open MPI's MPI-IO
/// tests requests of its own, by MPI's names, wherever it makes progress.
thread_local bool inside = false;

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

// Callbacks of generalized requests (MPI_Grequest_start).

int tell_status(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return MPI_SUCCESS;
}

int nothing_to_free(void*) { return MPI_SUCCESS; }

/// The program must not cancel a collective operation.
int refuse_to_cancel(void*, int) { return MPI_SUCCESS; }

std::shared_ptr<ManagedRequest> managed(std::unique_ptr<Operation> operation, MPI_Comm comm) {
  auto served = std::make_shared<ManagedRequest>();
  served->operation = std::move(operation);
  served->comm = comm;
  served->followed = Followed::this_call();
  return served;
}

/// Keeps what `call` throws as the way in which the operation ends.
template <class Call>
bool failed(ManagedRequest& served, Call call) {
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

bool any_active() { return Requests::instance().any_active(); }
bool move_active() { return Requests::instance().progress(); }
void post_remaining() { Requests::instance().post_remaining(); }

Requests& Requests::instance() {
  static Requests requests;
  return requests;
}

void Requests::prepare_close() {
  static std::once_flag once;
  if (in_world())
    std::call_once(once, [] { Attached<AtFinalize>::attach(MPI_COMM_SELF, std::make_unique<AtFinalize>()); });
}

void Requests::serve(MPI_Request request, std::unique_ptr<Operation> operation, MPI_Comm comm) {
  prepare_close();
  auto served = managed(std::move(operation), comm);
  const std::lock_guard lock(mutex_);
  served_.emplace(request, std::move(served));
  ++hocket_live_requests;
}

void Requests::begin(std::unique_ptr<Operation> operation, MPI_Comm comm, MPI_Request* request) {
  prepare_close();
  const auto served = managed(std::move(operation), comm);
  served->freed = true;
  check(PMPI_Grequest_start(tell_status, nothing_to_free, refuse_to_cancel, nullptr, &served->generalized));
  *request = served->generalized;
  const std::lock_guard lock(mutex_);
  ++hocket_live_requests;
  served->followed.started();
  if (failed(*served, [&] { served->operation->begin(); })) {
    finish(served);
    return;
  }
  active_.push_back(served);
  served->state = ManagedRequest::State::active;
  active_count_ = active_.size();
}

/// Takes note that an operation is over.
void Requests::finish(const std::shared_ptr<ManagedRequest>& served) {
  if (served->generalized != MPI_REQUEST_NULL && served->code != MPI_SUCCESS && !served->free_when_over) {
    served->freed = false;
    served_.emplace(served->generalized, served);
    ++failed_count_;
  } else if (served->generalized != MPI_REQUEST_NULL) {
    PMPI_Grequest_complete(served->generalized);
    if (served->free_when_over) PMPI_Request_free(&served->generalized);
  }
  if (served->freed) --hocket_live_requests;
  served->state = ManagedRequest::State::complete;
  served->followed.over();
}

int Requests::collect(ManagedRequest& served, MPI_Request* request) {
  served.state = ManagedRequest::State::inactive;
  if (served.generalized == MPI_REQUEST_NULL) return served.code;
  const int code = served.code;
  forget(served.generalized);
  check(PMPI_Wait(request, MPI_STATUS_IGNORE));
  return code;
}

std::shared_ptr<ManagedRequest> Requests::find(MPI_Request request) const {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(request);
  return found == served_.end() ? nullptr : found->second;
}

void Requests::start(const std::shared_ptr<ManagedRequest>& served) {
  if (served->state != ManagedRequest::State::inactive) throw MpiFailure{MPI_ERR_REQUEST};
  const std::lock_guard lock(mutex_);
  served->code = MPI_SUCCESS;
  served->followed.started();
  served->operation->begin();
  active_.push_back(served);
  served->state = ManagedRequest::State::active;
  active_count_ = active_.size();
}

template <class Call>
void Requests::for_each_active(Call over) {
  if (!any_active() || inside) return;
  const std::lock_guard lock(mutex_);
  const Inside here;
  std::erase_if(active_, [&](const std::shared_ptr<ManagedRequest>& served) {
    if (!over(*served)) return false;
    finish(served);
    return true;
  });
  active_count_ = active_.size();
}

bool Requests::progress() {
  bool moved = false;
  for_each_active([&](ManagedRequest& served) {
    Progress progress = Progress::none;
    if (failed(served, [&] { progress = step(*served.operation); })) progress = Progress::over;
    moved |= progress != Progress::none;
    return progress == Progress::over;
  });
  return moved;
}

void Requests::post_remaining() {
  if (!any_active()) return;
  for_each_active([](ManagedRequest& served) { return failed(served, [&] { served.operation->post_remaining(); }); });
  if (!is_needed()) return;
  ProgressThread::instance().take_over([this] {
    const bool moved = progress();
    if (!is_needed()) return Progress::over;
    return moved ? Progress::some : Progress::none;
  });
}

bool Requests::is_needed() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(active_.begin(), active_.end(),
                     [](const auto& served) { return !served->operation->handed_over(); });
}

bool Requests::free_later(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(active_, request, [](const auto& served) { return served->generalized; });
  if (request == MPI_REQUEST_NULL || found == active_.end()) return false;
  return (*found)->free_when_over = true;
}

void Requests::forget(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(request);
  found->second->freed = true;
  if (!found->second->pending()) --hocket_live_requests;
  if (found->second->generalized != MPI_REQUEST_NULL) {
    PMPI_Grequest_complete(found->second->generalized);
    --failed_count_;
  }
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
  ProgressThread::instance().end();
  const std::lock_guard lock(mutex_);
  active_.clear();
  served_.clear();
  active_count_ = failed_count_ = 0;
  hocket_live_requests = 0;
}

ProgressThread& ProgressThread::instance() {
  static ProgressThread instance;
  return instance;
}

bool ProgressThread::allowed() {
  int provided = MPI_THREAD_SINGLE;
  return PMPI_Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
}

void ProgressThread::take_over(std::function<Progress()> step) {
  const std::lock_guard lock(mutex_);
  step_ = std::move(step);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  wake_.notify_one();
}

void ProgressThread::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  ending_ = false;
}

void ProgressThread::work() {
  for (std::unique_lock lock(mutex_);; lock.lock()) {
    wake_.wait(lock, [&] { return step_ || ending_; });
    if (ending_) return;
    const std::function<Progress()> step = std::exchange(step_, nullptr);
    lock.unlock();
    wait_for([&] { return ending_ ? Progress::over : step(); });
  }
}

void fail(const char* call, std::size_t rank, const LengthMismatch& mismatch) {
  if (mismatch.passed_on) throw MpiFailure{MPI_ERR_TRUNCATE};  // who has found it first says so
  const std::string sent = mismatch.sent == LengthMismatch::unknown ? "another number" : std::to_string(mismatch.sent);
  say_once(std::string(call) + ": rank " + std::to_string(rank) + " expects " + std::to_string(mismatch.expected) +
           " bytes from rank " + std::to_string(mismatch.from) + " and gets " + sent +
           "; counts and types must agree on all ranks");
  throw MpiFailure{MPI_ERR_TRUNCATE};
}

void ScheduledOperation::begin() {
  own_mismatch_.reset();
  traffic_ = pack();
  pass_.emplace(exchange_, traffic_);
  pass_->begin();
  (void)advance();
}

bool ScheduledOperation::advance() {
  if (pass_ && pass_->advance()) {
    const std::optional<LengthMismatch> mismatch = own_mismatch_ ? own_mismatch_ : pass_->mismatch();
    pass_.reset();
    unpack();
    if (mismatch) fail(call_, exchange_.rank(), *mismatch);
  }
  return !pass_;
}

}  // namespace hocket::runtime
