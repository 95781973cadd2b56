#include "runtime/progress/operation.hpp"

#include <string>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

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
