#pragma once
/// The runtime's settings from the environment, read once; invalid values are reported and ignored. There is one member
/// for each row of runtime/environment/table.h.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/choose/candidate.hpp"
#include "runtime/environment/table.h"

namespace hocket::runtime {

enum class Flow : std::uint8_t { token, barrier, free };
enum class Choose : std::uint8_t { learn, predict, off };  ///< and then all_candidates, each of which is `off`, too
enum class Sums : std::uint8_t { placement, rank_order, free };

/// The size threshold for all-to-alls: smaller messages are left to the MPI library.
inline constexpr std::size_t least_bytes_scheduled = 16384;

/// Smaller contributions to an all-gather, on average, go to the MPI library, by whether messages from
/// each rank to the next share a link (bench/results/lab-gather.md).
inline constexpr std::size_t least_gather_bytes_colliding = 1024, least_gather_bytes_in_order = 4096;

#define TEXT(field, ...) std::string field;
#define NUMBER(field, ...) std::uint64_t field = 0;
#define WORD(field, Type, ...) Type field{};
#define OTHER(...)
struct Settings {
  HOCKET_VARIABLES(TEXT, NUMBER, WORD, OTHER)
  const Candidate* candidate = nullptr;      ///< serves all calls of known sizes; null: one is selected
  std::vector<std::string> plan_paths;       ///< the paths in `plans`
  std::string paths_table;                   ///< the file in `paths`; empty: connections take ports as they come
  std::vector<std::string> config_warnings;  ///< messages about invalid settings, a line each
  std::uint64_t config_warnings_digest = 0;  ///< 0: there are none
  std::vector<std::uint64_t> must_match;     ///< digests of the values of must_match_variables()
};
#undef TEXT
#undef NUMBER
#undef WORD
#undef OTHER

[[nodiscard]] const Settings& settings();
/// True if the outcome of calls is reported: HOCKET_REPORT or HOCKET_LOG=2.
extern const bool reporting;
/// True if calls are recorded (HOCKET_RECORD).
extern const bool recording;

/// Names of the variables that must be the same on all ranks.
[[nodiscard]] std::vector<std::string_view> must_match_variables();

/// One line on standard error, from the rank that calls it.
void say(const std::string& text);
/// A warning, each text once per process.
void say_once(const std::string& text);
/// Marks a warning as known to this rank; true if it already was.
[[nodiscard]] bool heard(const std::string& text);

/// Bytes of a regular file; nothing of what is none: opening that may never end.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_file(const std::string& path);

/// Files that ranks write: whole, and for nobody but their owner to change, whatever the umask.
/// An empty file to write to; nullptr, and errno, if there can be none. What was in it is lost.
[[nodiscard]] std::FILE* open_emptied(const std::string& path);

/// Replaces the file as a whole; false, and errno, if that cannot be done.
[[nodiscard]] bool replace_file(const std::string& path, std::string_view content);

/// The folder, with those above it that are missing. What goes wrong is seen when something is written there.
void make_folders(const std::string& path);

}  // namespace hocket::runtime
