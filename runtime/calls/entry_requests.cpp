/// Starting, testing, waiting for and freeing requests, as the preloaded shim hands these calls over
/// while some of the runtime's requests exist. They may stand among the program's own.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

int failed(const ManagedRequest& served, int code) {
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(served.comm, code);
  return code;
}

int start(MPI_Request* request) {
  const auto served = request == nullptr ? nullptr : Requests::instance().find(*request);
  if (!served) return PMPI_Start(request);
  return guarded(served->comm, [&]() -> int {
    Requests::instance().start(served);
    return MPI_SUCCESS;
  });
}

/// The effect of a call on requests that it finds complete: `take` completes them as MPI_Wait does, `keep` only
/// inspects them.
enum class Look : std::uint8_t { take, keep };

/// Sets an empty status, the only one that the MPI standard gives a collective.
void set_empty(MPI_Status* status) {
  MPI_Request none = MPI_REQUEST_NULL;
  int flag = 0;
  PMPI_Test(&none, &flag, status);
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// The requests of one call, ours and the program's own.
class Mixed {
 public:
  Mixed(int count, const MPI_Request* requests, Look look) : count_(count), look_(look) { find(requests); }

  /// Nobody is waiting for the runtime.
  [[nodiscard]] bool without_us() const { return ours_.empty() && !Requests::instance().any_active(); }

  /// Sets `flag` if all are complete. It tests one after the other: MPI_Testall of MPICH 5.0.2 fails when a persistent
  /// collective of its own is.
  int look(const MPI_Request* requests, int* flag) {
    find_failed(requests);
    *flag = 0;
    for (const auto& [index, served] : ours_)
      if (served->pending()) return MPI_SUCCESS;
    for (; looked_at_ < count_; ++looked_at_) {
      if (is_ours(looked_at_)) continue;
      int over = 0;
      MPI_Status status;
      const int code = PMPI_Request_get_status(requests[looked_at_], &over, &status);
      if (code != MPI_SUCCESS || !over) return code;
      seen_.emplace_back(looked_at_, status);
    }
    *flag = 1;
    return MPI_SUCCESS;
  }

  /// The statuses that `look` has seen: in MPICH 5.0.2 who looks at a persistent receive that is complete makes it
  /// inactive, with the empty status. No error has been found, so these fields stay as they are.
  void tell(MPI_Status* statuses) const {
    if (statuses == MPI_STATUSES_IGNORE) return;
    for (const auto& [index, status] : seen_) {
      const int error = statuses[index].MPI_ERROR;
      statuses[index] = status;
      statuses[index].MPI_ERROR = error;
    }
  }

  /// `test` is MPI_Testall, or what looks without taking. Where ours are it sees null requests, which
  /// have the empty status.
  template <class Test, class Handles>
  int all(Test test, Handles requests, int* flag, MPI_Status* statuses) {
    find_failed(requests);
    *flag = 0;
    for (const auto& [index, served] : ours_)
      if (served->pending()) return MPI_SUCCESS;
    int code = of_the_program(test, requests, flag, statuses);
    if (code == MPI_SUCCESS && !*flag) return code;
    const ManagedRequest* culprit = nullptr;
    for (const auto& [index, served] : ours_) {
      if (!served->complete()) continue;
      const int ended = taken(*served, requests + index);
      if (ended == MPI_SUCCESS) continue;
      if (statuses != MPI_STATUSES_IGNORE) {
        if (code == MPI_SUCCESS)
          for (int i = 0; i < count_; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
        statuses[index].MPI_ERROR = ended;
      }
      code = MPI_ERR_IN_STATUS;
      culprit = served.get();
    }
    return culprit == nullptr ? code : failed(*culprit, code);
  }

  /// `test` is MPI_Testany, or what looks without taking.
  template <class Test, class Handles>
  int any(Test test, Handles requests, int* index, int* flag, MPI_Status* status) {
    find_failed(requests);
    bool pending = false;
    for (const auto& [i, served] : ours_) {
      pending |= served->pending();
      if (!served->complete()) continue;
      *index = i;
      *flag = 1;
      set_empty(status);
      return failed(*served, taken(*served, requests + i));
    }
    const int code = of_the_program(test, requests, index, flag, status);
    if (code == MPI_SUCCESS && *flag && *index == MPI_UNDEFINED && pending) *flag = 0;
    return code;
  }

  /// `test` is MPI_Testsome, or what looks without taking.
  template <class Test, class Handles>
  int some(Test test, Handles requests, int* outcount, int* indices, MPI_Status* statuses) {
    find_failed(requests);
    const int code = of_the_program(test, requests, outcount, indices, statuses);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
    const ManagedRequest* culprit = nullptr;
    for (const auto& [index, served] : ours_) {
      if (*outcount == MPI_UNDEFINED && served->state != ManagedRequest::State::inactive) *outcount = 0;
      if (!served->complete()) continue;
      MPI_Status* const status = at(statuses, *outcount);
      set_empty(status);
      const int ended = taken(*served, requests + index);
      if (statuses != MPI_STATUSES_IGNORE) status->MPI_ERROR = ended;
      if (ended != MPI_SUCCESS) culprit = served.get();
      indices[(*outcount)++] = index;
    }
    return culprit == nullptr ? code : failed(*culprit, MPI_ERR_IN_STATUS);
  }

 private:
  template <class Handle>
  int taken(ManagedRequest& served, Handle request) const {
    if constexpr (!std::is_const_v<std::remove_pointer_t<Handle>>)
      if (look_ == Look::take) return Requests::instance().collect(served, request);
    return served.code;
  }

  void find(const MPI_Request* requests) {
    ours_.clear();
    for (int i = 0; i < count_; ++i)
      if (auto served = Requests::instance().find(requests[i])) ours_.emplace_back(i, std::move(served));
  }
  /// Nonblocking operations are the MPI library's until they fail.
  void find_failed(const MPI_Request* requests) {
    if (Requests::instance().any_failed()) find(requests);
  }

  [[nodiscard]] bool is_ours(int index) const {
    return std::any_of(ours_.begin(), ours_.end(), [&](const auto& one) { return one.first == index; });
  }

  /// Calls `test` with the program's own requests only. It may free some.
  template <class Test, class Handles, class... Results>
  int of_the_program(Test test, Handles requests, Results... results) const {
    if (ours_.empty()) return test(count_, requests, results...);
    std::vector<MPI_Request> others(requests, requests + count_);
    for (const auto& [index, served] : ours_) others[static_cast<std::size_t>(index)] = MPI_REQUEST_NULL;
    const int code = test(count_, others.data(), results...);
    if constexpr (!std::is_const_v<std::remove_pointer_t<Handles>>) {
      for (const auto& [index, served] : ours_) others[static_cast<std::size_t>(index)] = requests[index];
      std::copy(others.begin(), others.end(), requests);
    }
    return code;
  }

  int count_;
  int looked_at_ = 0;  ///< all requests before this index are complete
  Look look_;
  std::vector<std::pair<int, MPI_Status>> seen_;
  std::vector<std::pair<int, std::shared_ptr<ManagedRequest>>> ours_;
};

bool absent(int count, const MPI_Request* requests) { return count <= 0 || requests == nullptr; }

int test_one(MPI_Request* request, int* flag, MPI_Status* status) {
  const auto served = Requests::instance().find(*request);
  if (served == nullptr) return PMPI_Test(request, flag, status);
  *flag = served->pending() ? 0 : 1;
  if (!*flag) return MPI_SUCCESS;
  set_empty(status);
  return served->complete() ? failed(*served, Requests::instance().collect(*served, request)) : MPI_SUCCESS;
}

}  // namespace
}  // namespace hocket::runtime

using namespace hocket::runtime;

HOCKET_CALL hocket_start(MPI_Request* request) { return start(request); }

HOCKET_CALL hocket_startall(int count, MPI_Request* requests) {
  if (absent(count, requests)) return PMPI_Startall(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start(requests + i); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

HOCKET_CALL hocket_request_free(MPI_Request* request) {
  if (request != nullptr && Requests::instance().free_later(*request)) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  if (request != nullptr && Requests::instance().find(*request)) Requests::instance().forget(*request);
  return PMPI_Request_free(request);
}

HOCKET_CALL hocket_test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (request == nullptr) return PMPI_Test(request, flag, status);
  Requests::instance().progress();
  return test_one(request, flag, status);
}

HOCKET_CALL hocket_wait(MPI_Request* request, MPI_Status* status) {
  if (request == nullptr) return PMPI_Wait(request, status);
  if (!Requests::instance().find(*request) && !Requests::instance().any_active()) return PMPI_Wait(request, status);
  int done = 0;
  return until(done, [&] { return test_one(request, &done, status); });
}

HOCKET_CALL hocket_request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Requests::instance().progress();
  return Mixed(1, &request, Look::keep)
      .all([](int, const MPI_Request* one, int* is_over,
              MPI_Status* its) { return PMPI_Request_get_status(*one, is_over, its); },
           &request, flag, status);
}

HOCKET_CALL hocket_testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (absent(count, requests)) return PMPI_Testall(count, requests, flag, statuses);
  Requests::instance().progress();
  return Mixed(count, requests, Look::take).all(PMPI_Testall, requests, flag, statuses);
}

HOCKET_CALL hocket_waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (absent(count, requests)) return PMPI_Waitall(count, requests, statuses);
  Mixed mixed(count, requests, Look::take);
  if (mixed.without_us()) return PMPI_Waitall(count, requests, statuses);
  int done = 0;
  if (const int code = until(done, [&] { return mixed.look(requests, &done); }); code != MPI_SUCCESS) return code;
  const int code = mixed.all(
      [](int of, MPI_Request* over, int* flag, MPI_Status* their) {
        *flag = 1;
        return PMPI_Waitall(of, over, their);
      },
      requests, &done, statuses);
  if (code == MPI_SUCCESS) mixed.tell(statuses);
  return code;
}

HOCKET_CALL hocket_request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (absent(count, requests)) return PMPI_Request_get_status_all(count, requests, flag, statuses);
  Requests::instance().progress();
  return Mixed(count, requests, Look::keep).all(PMPI_Request_get_status_all, requests, flag, statuses);
}

HOCKET_CALL hocket_testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (absent(count, requests)) return PMPI_Testany(count, requests, index, flag, status);
  Requests::instance().progress();
  return Mixed(count, requests, Look::take).any(PMPI_Testany, requests, index, flag, status);
}

HOCKET_CALL hocket_waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (absent(count, requests)) return PMPI_Waitany(count, requests, index, status);
  Mixed mixed(count, requests, Look::take);
  if (mixed.without_us()) return PMPI_Waitany(count, requests, index, status);
  int done = 0;
  return until(done, [&] { return mixed.any(PMPI_Testany, requests, index, &done, status); });
}

HOCKET_CALL hocket_request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                                          MPI_Status* status) {
  if (absent(count, requests)) return PMPI_Request_get_status_any(count, requests, index, flag, status);
  Requests::instance().progress();
  return Mixed(count, requests, Look::keep).any(PMPI_Request_get_status_any, requests, index, flag, status);
}

HOCKET_CALL hocket_testsome(int count, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  if (absent(count, requests)) return PMPI_Testsome(count, requests, outcount, indices, statuses);
  Requests::instance().progress();
  return Mixed(count, requests, Look::take).some(PMPI_Testsome, requests, outcount, indices, statuses);
}

HOCKET_CALL hocket_waitsome(int count, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  if (absent(count, requests)) return PMPI_Waitsome(count, requests, outcount, indices, statuses);
  Mixed mixed(count, requests, Look::take);
  if (mixed.without_us()) return PMPI_Waitsome(count, requests, outcount, indices, statuses);
  *outcount = 0;
  return until(*outcount, [&] { return mixed.some(PMPI_Testsome, requests, outcount, indices, statuses); });
}

HOCKET_CALL hocket_request_get_status_some(int count, const MPI_Request* requests, int* outcount, int* indices,
                                           MPI_Status* statuses) {
  if (absent(count, requests)) return PMPI_Request_get_status_some(count, requests, outcount, indices, statuses);
  Requests::instance().progress();
  return Mixed(count, requests, Look::keep).some(PMPI_Request_get_status_some, requests, outcount, indices, statuses);
}
