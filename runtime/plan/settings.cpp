#include "runtime/plan/settings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>

#include "core/plan/binary.hpp"
#include "runtime/environment/variables.hpp"

namespace hocket::runtime {
namespace {

std::string text(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? "" : value;
}

std::vector<std::string> paths_in(const std::string& listed) {
  std::vector<std::string> paths;
  std::istringstream in(listed);
  for (std::string path; std::getline(in, path, ':');)
    if (!path.empty()) paths.push_back(path);
  return paths;
}

std::uint64_t number(const char* name) {
  const Variable& variable = *find_variable(name);
  return number_of(variable, text(name)).value_or(variable.fallback);
}

std::size_t word_at(const char* name) { return word_of(*find_variable(name), text(name)).value_or(0); }

/// Digest of the effective value, independent of its spelling.
std::uint64_t digest_of(const Variable& variable) {
  const std::string value = text(variable.name);
  ByteWriter out;
  if (variable.kind == Variable::Kind::number)
    out.fixed(number_of(variable, value).value_or(variable.fallback));
  else if (variable.kind == Variable::Kind::word)
    out.fixed(std::uint64_t{word_of(variable, value).value_or(0)});
  else
    out.text(value);
  return checksum(out.bytes());
}

std::uint64_t digest_of(const std::vector<std::string>& config_warnings) {
  if (config_warnings.empty()) return 0;
  ByteWriter out;
  for (const std::string& config_warning : config_warnings) out.text(config_warning);
  return checksum(out.bytes());
}

Settings read_environment() {
  Settings s;
#define TEXT(field, name, ...) s.field = text(name);
#define NUMBER(field, name, ...) s.field = number(name);
#define WORD(field, Type, name, ...) s.field = static_cast<Type>(word_at(name));
#define OTHER(...)
  HOCKET_VARIABLES(TEXT, NUMBER, WORD, OTHER)
#undef TEXT
#undef NUMBER
#undef WORD
#undef OTHER
  constexpr auto named = static_cast<std::size_t>(Choose::off) + 1;
  if (const auto word = static_cast<std::size_t>(s.choose); word >= named) {
    s.candidate = &all_candidates[word - named];
    s.choose = Choose::off;
  }
  s.plan_paths = paths_in(s.plans);
  if (const std::size_t colon = s.paths.find(':'); colon != std::string::npos)
    s.paths_table = s.paths.substr(colon + 1);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  s.config_warnings = wrong_variables(environment);
  s.config_warnings_digest = digest_of(s.config_warnings);
  for (const Variable& variable : variables())
    if (variable.must_match) s.must_match.push_back(digest_of(variable));
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings instance = read_environment();
  return instance;
}

const bool reporting = !settings().report.empty() || settings().log >= 2;
const bool recording = !settings().record.empty();

std::vector<std::string_view> must_match_variables() {
  std::vector<std::string_view> names;
  for (const Variable& variable : variables())
    if (variable.must_match) names.push_back(variable.name);
  return names;
}

void say(const std::string& text) { std::fprintf(stderr, "hocket: %s\n", text.c_str()); }

bool heard(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> known;
  const std::lock_guard lock(mutex);
  return !known.insert(text).second;
}

void say_once(const std::string& text) {
  if (!heard(text)) say(text);
}

std::optional<std::uint64_t> bytes_of_file(const std::string& path) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(file.st_size);
}

std::FILE* open_emptied(const std::string& path) {
  constexpr mode_t for_others_to_read = 0644;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, for_others_to_read);
  return file < 0 ? nullptr : fdopen(file, "w");
}

bool replace_file(const std::string& path, std::string_view content) {
  const std::string fresh = path + "." + std::to_string(getpid()) + ".new";
  std::FILE* const file = open_emptied(fresh);
  if (file == nullptr) return false;
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (std::fclose(file) == 0 && written && std::rename(fresh.c_str(), path.c_str()) == 0) return true;
  std::remove(fresh.c_str());
  return false;
}

void make_folders(const std::string& path) {
  constexpr mode_t for_others_to_read = 0755;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    (void)mkdir(path.substr(0, end).c_str(), for_others_to_read);
  }
}

}  // namespace hocket::runtime
