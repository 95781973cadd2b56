#include "settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>

#include "hocket/environment/variables.hpp"
#include "hocket/plan/binary.hpp"

namespace hocket::runtime {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> list(const char* name) {
  std::vector<std::string> parts;
  std::istringstream in(text(name));
  for (std::string part; std::getline(in, part, ':');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::size_t number(const char* name) {
  const Variable& variable = *find_variable(name);
  return number_of(variable, text(name)).value_or(variable.fallback);
}

Flow flow() {
  constexpr Flow in_order[] = {Flow::token, Flow::barrier, Flow::free};  // as the variable's words
  return in_order[word_of(*find_variable("HOCKET_FLOW"), text("HOCKET_FLOW")).value_or(0)];
}

/// Of the value that is used, however it is written.
std::uint64_t digest_of(const Variable& variable) {
  const std::string value = text(std::string(variable.name).c_str());
  ByteWriter out;
  if (variable.kind == Variable::Kind::number)
    out.fixed(number_of(variable, value).value_or(variable.fallback));
  else if (variable.kind == Variable::Kind::word)
    out.fixed(std::uint64_t{word_of(variable, value).value_or(0)});
  else
    out.text(value);
  return checksum(out.bytes());
}

std::uint64_t digest_of(const std::vector<std::string>& complaints) {
  if (complaints.empty()) return 0;
  ByteWriter out;
  for (const std::string& complaint : complaints) out.text(complaint);
  return checksum(out.bytes());
}

Settings read_environment() {
  Settings s;
  s.plan_paths = list("HOCKET_PLAN");
  s.placement = text("HOCKET_PLACEMENT");
  s.min_bytes = number("HOCKET_MIN_BYTES");
  s.min_gather_bytes = number("HOCKET_MIN_GATHER_BYTES");
  s.min_vector_bytes = number("HOCKET_MIN_VECTOR_BYTES");
  s.min_flows = number("HOCKET_MIN_FLOWS");
  s.min_senders = number("HOCKET_MIN_SENDERS");
  s.trunks = text("HOCKET_TRUNKS");
  s.trunks_ms = number("HOCKET_TRUNKS_MS");
  s.scheduler = text("HOCKET_SCHEDULER");
  s.seed = number("HOCKET_SEED");
  s.segment = number("HOCKET_SEGMENT");
  s.early = number("HOCKET_EARLY");
  s.ahead = number("HOCKET_AHEAD");
  s.host_buffers = number("HOCKET_HOST_BUFFERS") != 0;
  s.spin_us = static_cast<unsigned>(number("HOCKET_SPIN_US"));
  s.sleep_us = static_cast<unsigned>(number("HOCKET_SLEEP_US"));
  s.shared_ranks = static_cast<int>(number("HOCKET_SHARED_RANKS"));
  s.log = static_cast<int>(number("HOCKET_LOG"));
  s.report = text("HOCKET_REPORT");
  s.trace = text("HOCKET_TRACE");
  s.flow = flow();
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  s.complaints = wrong_variables(environment);
  s.complaints_digest = digest_of(s.complaints);
  for (const Variable& variable : variables())
    if (variable.alike) s.alike.push_back(digest_of(variable));
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings instance = read_environment();
  return instance;
}

std::vector<std::string_view> alike_variables() {
  std::vector<std::string_view> names;
  for (const Variable& variable : variables())
    if (variable.alike) names.push_back(variable.name);
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

}  // namespace hocket::runtime
