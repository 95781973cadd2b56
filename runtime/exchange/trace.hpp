#pragma once
/// A record of what a rank did, in its order and without times, to hold against the plan.
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

class Trace {
 public:
  /// Null unless HOCKET_TRACE asks for one. The file is HOCKET_TRACE.<rank that the launcher gave>.
  [[nodiscard]] static Trace* instance();

  template <class... Numbers>
  void event(std::string_view what, Numbers... numbers) {
    std::string line(what);
    ((line += " " + std::to_string(numbers)), ...);
    std::fprintf(file_, "%s\n", line.c_str());
  }

  /// Writes the head of a call: pattern, number of ranks and this rank, then each planned send with its pieces.
  void plan(const Planned& planned, int rank);

  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

 private:
  explicit Trace(const std::string& path);
  std::FILE* file_;
};

}  // namespace hocket::runtime
