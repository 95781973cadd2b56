#pragma once
/// What a rank hands to `hocket run --report`: lines of JSON (docs/report.md).
#include <string>

#include "report_table.hpp"

namespace hocket::runtime {

/// Which process this is.
struct Reporter {
  std::string host;
  long pid = 0;
  int rank = -1, ranks = 0;  ///< in MPI_COMM_WORLD; -1 and 0 if there is none
  bool spawned = false;      ///< by other ranks of the job
};

/// `finished`: there will be no more calls.
[[nodiscard]] std::string report_text(const Reporter& reporter, const CallTable& table, bool finished);

/// Replaces the file as a whole; false if that cannot be done.
[[nodiscard]] bool replace_file(const std::string& path, const std::string& text);

}  // namespace hocket::runtime
