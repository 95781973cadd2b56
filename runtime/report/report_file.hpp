#pragma once
/// What a rank hands to `hocket run --report`: lines of JSON (docs/running.md).
#include <span>
#include <string>

#include "runtime/report/report_table.hpp"

namespace hocket::runtime {

/// Which process this is.
struct Reporter {
  std::string host;
  long pid = 0;
  int rank = -1;         ///< of those that the launcher started; -1: unknown
  bool in_world = true;  ///< MPI_Finalize will end its calls
  bool spawned = false;  ///< by other ranks of the job; they have ranks of their own
};

/// `finished`: there will be no more calls.
[[nodiscard]] std::string report_text(const Reporter& reporter, const CallTable& table,
                                      std::span<const ChoiceRow> choices, bool finished);

}  // namespace hocket::runtime
