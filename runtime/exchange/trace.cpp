#include "runtime/exchange/trace.hpp"

#include <memory>

#include "core/error.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/plan/written_file.hpp"

namespace hocket::runtime {

Trace* Trace::instance() {
  static const std::unique_ptr<Trace> trace = []() -> std::unique_ptr<Trace> {
    if (settings().trace.empty()) return nullptr;
    const std::string path = settings().trace + "." + std::to_string(launched_rank().value_or(0));
    std::unique_ptr<Trace> opened(new Trace(path));
    if (opened->file_ != nullptr) return opened;
    say("cannot write " + shown(path) + " (HOCKET_TRACE)");
    return nullptr;
  }();
  return trace.get();
}

Trace::Trace(const std::string& path) : file_(open_emptied(path)) {}

Trace::~Trace() {
  if (file_ != nullptr) std::fclose(file_);
}

void Trace::plan(const Planned& planned, int rank) {
  event(to_string(planned.demand.pattern), planned.demand.ranks, rank);
  for (std::size_t i = 0; i < planned.program.sends.size(); ++i) {
    const RankProgram::Send& send = planned.program.sends[i];
    event("to", i, send.phase, send.dst);
    for (const Piece& piece : send.pieces) event("piece", i, piece.origin, piece.target, piece.offset, piece.length);
  }
}

}  // namespace hocket::runtime
