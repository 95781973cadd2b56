#pragma once
/// Calls of MPI. Error codes are exceptions inside the runtime; they become codes again at its border.
#include <mpi.h>

#include <new>
#include <span>
#include <string>
#include <utility>

/// A function that the shim finds by its name.
#define HOCKET_CALL extern "C" __attribute__((visibility("default"))) int

namespace hocket::runtime {

struct MpiFailure {
  int code;
};

inline void check(int code) {
  if (code != MPI_SUCCESS) throw MpiFailure{code};
}

[[nodiscard]] inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank));
  return rank;
}

[[nodiscard]] inline int size_of(MPI_Comm comm) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  return size;
}

[[nodiscard]] inline bool all_done(std::span<MPI_Request> requests) {
  int done = 0;
  check(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
  return done != 0;
}

/// Not from the stack, of which MPI_MAX_LIBRARY_VERSION_STRING is much.
[[nodiscard]] inline std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, 0);
  int length = 0;
  check(PMPI_Get_library_version(text.data(), &length));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// A datatype that is freed with it.
class MadeType {
 public:
  explicit MadeType(MPI_Datatype type) : type_(type) {}
  MadeType(MadeType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  MadeType& operator=(MadeType&&) = delete;
  ~MadeType() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// Runs of elements as elements. Of bytes, so that there may be 2³¹ of the runs and not of the bytes.
[[nodiscard]] inline MadeType run_of(std::size_t count, MPI_Datatype of = MPI_BYTE, bool commits = true) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(PMPI_Type_contiguous(static_cast<int>(count), of, &type));
  if (commits) check(PMPI_Type_commit(&type));
  return MadeType(type);
}

/// The MPI call that this thread is in, by its name, while this lives.
class Called {
 public:
  explicit Called(const char* name) { now_ = name; }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;
  ~Called() { now_ = nullptr; }

  [[nodiscard]] static const char* now() { return now_ != nullptr ? now_ : "an exchange"; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit const char* now_ = nullptr;
};

inline bool plain_intracommunicator(MPI_Comm comm) {
  int inter = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

/// The MPI library's own call, with the very arguments that the program gave to one of its many names: what serves them
/// is compiled once for each kind of call. Lives as long as the function that it is made of.
class Native {
 public:
  template <class Call>
  Native(const Call& call)
      : call_(&call), make_([](const void* made) { return (*static_cast<const Call*>(made))(); }) {}
  int operator()() const { return make_(call_); }

 private:
  const void* call_;
  int (*make_)(const void*);
};

/// Runs a call that returns an MPI code; what it throws goes to the communicator's error handler.
template <class Call>
int guarded(MPI_Comm comm, Call call) {
  int code = MPI_SUCCESS;
  try {
    return call();
  } catch (const MpiFailure& failure) {
    code = failure.code;
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace hocket::runtime
