#include "trace.hpp"

#include <mpi.h>

#include <memory>

#include "mpi_call.hpp"
#include "settings.hpp"

namespace hocket::runtime {

Trace* Trace::instance() {
  static const std::unique_ptr<Trace> trace = []() -> std::unique_ptr<Trace> {
    if (settings().trace.empty()) return nullptr;
    int rank = 0;
    check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    std::unique_ptr<Trace> opened(new Trace(settings().trace + "." + std::to_string(rank)));
    if (opened->file_ != nullptr) return opened;
    say("cannot write " + settings().trace + "." + std::to_string(rank) + " (HOCKET_TRACE)");
    return nullptr;
  }();
  return trace.get();
}

Trace::Trace(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {}

Trace::~Trace() {
  if (file_ != nullptr) std::fclose(file_);
}

}  // namespace hocket::runtime
