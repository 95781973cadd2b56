#include "trace.hpp"

#include <memory>

#include "hocket/environment/variables.hpp"
#include "settings.hpp"
#include "world.hpp"

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

Trace::Trace(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {}

Trace::~Trace() {
  if (file_ != nullptr) std::fclose(file_);
}

}  // namespace hocket::runtime
