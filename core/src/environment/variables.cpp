#include "hocket/environment/variables.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "hocket/schedulers/irregular/worth.hpp"

namespace hocket {
namespace {

using Kind = Variable::Kind;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40, most_segment = std::uint64_t{1} << 30;
constexpr std::string_view prefix = "HOCKET_";
constexpr std::string_view of_tests = "HOCKET_TEST";

const std::vector<Variable>& table() {
  constexpr WorthLimits limits;
  constexpr bool alike = true;
  static const std::vector<Variable> all = {
      {"HOCKET_PLAN", "the plan files, separated by ':'"},
      {"HOCKET_PLACEMENT", "empty: processor names; slurm; order; or a file of host names"},
      {"HOCKET_TRUNKS",
       "where measured widths of uplinks are kept; empty: they are known, nothing is measured",
       Kind::text,
       0,
       0,
       0,
       {},
       alike},
      {"HOCKET_TRUNKS_MS",
       "how long measuring uplinks may take, milliseconds",
       Kind::number,
       3000,
       100,
       600000,
       {},
       alike},
      {"HOCKET_FLOW", "flow control", Kind::word, 0, 0, 0, {"token", "barrier", "free"}, alike},
      {"HOCKET_MIN_BYTES",
       "all-to-alls with smaller messages go to the MPI library",
       Kind::number,
       16384,
       1,
       most_bytes,
       {},
       alike},
      {"HOCKET_MIN_GATHER_BYTES",
       "all-gathers that contribute less, on average, go to the MPI library; 0: by the placement",
       Kind::number,
       0,
       0,
       most_bytes,
       {},
       alike},
      {"HOCKET_MIN_VECTOR_BYTES",
       "irregular exchanges of smaller messages, on average, go to the MPI library",
       Kind::number,
       limits.message_bytes,
       1,
       most_bytes,
       {},
       alike},
      {"HOCKET_MIN_FLOWS",
       "messages that share the most loaded channel, for an irregular exchange to be scheduled",
       Kind::number,
       limits.flows,
       1,
       most_bytes,
       {},
       alike},
      {"HOCKET_MIN_SENDERS", "or that go into one host", Kind::number, limits.senders, 1, most_bytes, {}, alike},
      {"HOCKET_SCHEDULER",
       "the scheduler of irregular exchanges; empty: chosen for each",
       Kind::text,
       0,
       0,
       0,
       {},
       alike},
      {"HOCKET_SEED", "the seed of the first rank", Kind::number, 1, 0, most_bytes, {}, alike},
      {"HOCKET_SEGMENT", "bytes per MPI message", Kind::number, 16384, 1024, most_segment, {}, alike},
      {"HOCKET_EARLY",
       "bytes still missing when the next sender is released",
       Kind::number,
       0,
       0,
       most_segment,
       {},
       alike},
      {"HOCKET_HOST_BUFFERS",
       "1: the program hands MPI no buffers in a GPU's memory, though a GPU runtime is loaded",
       Kind::number,
       0,
       0,
       1,
       {},
       alike},
      {"HOCKET_AHEAD", "segments handed to MPI before one completes", Kind::number, 32, 1, 1024},
      {"HOCKET_SPIN_US", "how long a waiting rank polls before it sleeps, microseconds", Kind::number, 20, 0, 1000000},
      {"HOCKET_SLEEP_US", "longest sleep of a waiting rank, microseconds", Kind::number, 200, 0, 100000},
      {"HOCKET_SHARED_RANKS", "most ranks that share memory to permute and sort; 0: all of a host", Kind::number, 0, 0,
       1 << 20},
      {"HOCKET_LOG", "1: say what each communicator does; 2: and what becomes of each call site", Kind::number, 0, 0,
       2},
      {"HOCKET_TRACE", "what each rank does, for debugging: where it is written"},
      {"HOCKET_REPORT", "the directory in which each rank puts its account of the calls"},
      {"HOCKET_RUNTIME", "the compiled runtime"},
      {"HOCKET_RUNTIME_MPI", "the MPI that it belongs to"},
      {"HOCKET_RECORD", "where 'hocket record' puts what it records"},
      {"HOCKET_RECORD_MPI", "the MPI that its library belongs to"},
      {"HOCKET_MEMORY", "a memory profile, made by 'hocket calibrate'"},
      {"HOCKET_LAB", "the directory of a lab"},
      {"HOCKET_CXXFLAGS", "more flags for the compiler that builds the runtime"},
  };
  return all;
}

/// Letters to insert, remove or exchange to make one of the other (V. I. Levenshtein, 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string wrong_name(std::string_view name) {
  constexpr std::size_t longest = 64;  // no name of ours is near that
  std::string said = "no variable of Hocket is called " + shown(name);
  if (name.size() > longest) return said;
  const auto& all = table();
  const auto closest =
      std::ranges::min_element(all, {}, [&](const Variable& variable) { return distance(name, variable.name); });
  if (distance(name, closest->name) <= name.size() / 3) said += "; did you mean " + std::string(closest->name) + "?";
  return said;
}

/// Empty if it is right.
std::string wrong_value(const Variable& variable, std::string_view value) {
  std::string said = std::string(variable.name) + "='" + shown(value) + "' is not ";
  if (variable.kind == Kind::number && !number_of(variable, value))
    return said + "a whole number from " + std::to_string(variable.least) + " to " + std::to_string(variable.most) +
           "; using " + std::to_string(variable.fallback);
  if (variable.kind == Kind::word && !word_of(variable, value)) {
    for (std::size_t i = 0; i < variable.words.size(); ++i)
      said += std::string(i == 0                           ? ""
                          : i + 1 == variable.words.size() ? " or "
                                                           : ", ") +
              std::string(variable.words[i]);
    return said + "; using " + std::string(variable.words.front());
  }
  return "";
}

}  // namespace

std::span<const Variable> variables() { return table(); }

const Variable* find_variable(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Variable::name);
  return found == table().end() ? nullptr : &*found;
}

std::optional<std::uint64_t> number_of(const Variable& variable, std::string_view value) {
  if (value.empty()) return variable.fallback;
  std::uint64_t parsed = 0;
  const char* const end = value.data() + value.size();
  const auto [read_to, error] = std::from_chars(value.data(), end, parsed);
  if (error != std::errc{} || read_to != end || parsed < variable.least || parsed > variable.most) return std::nullopt;
  return parsed;
}

std::optional<std::size_t> word_of(const Variable& variable, std::string_view value) {
  if (value.empty()) return 0;
  const auto found = std::ranges::find(variable.words, value);
  if (found == variable.words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - variable.words.begin());
}

std::vector<std::string> wrong_variables(std::span<const std::string> environment) {
  std::vector<std::string> complaints;
  for (const std::string_view entry : environment) {
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!name.starts_with(prefix) || name.starts_with(of_tests)) continue;
    const std::string_view value = name.size() < entry.size() ? entry.substr(name.size() + 1) : "";
    const Variable* const variable = find_variable(name);
    std::string complaint = variable != nullptr ? wrong_value(*variable, value) : wrong_name(name);
    if (!complaint.empty()) complaints.push_back(std::move(complaint));
  }
  std::ranges::sort(complaints);
  return complaints;
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 160;
  std::string safe(text.substr(0, longest));
  std::ranges::replace_if(safe, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text.size() > longest ? safe + "..." : safe;
}

}  // namespace hocket
