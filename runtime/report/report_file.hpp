#pragma once
/// JSON lines that a rank writes for `hocket run --report` (docs/formats.md).
#include <span>
#include <string>

#include "runtime/report/report_table.hpp"

namespace hocket::runtime {

/// The identity of this process.
struct Reporter {
  std::string host;
  long pid = 0;
  int rank = -1;         ///< rank in the launcher's job; -1: unknown
  bool in_world = true;  ///< MPI_Finalize will end its calls
  bool spawned = false;  ///< started by MPI_Comm_spawn, in an MPI_COMM_WORLD of its own
};

/// `finished`: there will be no more calls.
[[nodiscard]] std::string report_text(const Reporter& reporter, const CallTable& table,
                                      std::span<const ChoiceRow> choices, bool finished);

}  // namespace hocket::runtime
