#include "settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "hocket/schedulers/irregular/worth.hpp"

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

std::size_t number(const char* name, std::size_t fallback, std::size_t least, std::size_t most,
                   std::string& complaint) {
  const std::string value = text(name);
  if (value.empty()) return fallback;
  std::size_t parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error == std::errc{} && end == value.data() + value.size() && parsed >= least && parsed <= most) return parsed;
  if (complaint.empty())
    complaint = std::string(name) + "='" + value + "' is not a whole number from " + std::to_string(least) + " to " +
                std::to_string(most) + "; using " + std::to_string(fallback);
  return fallback;
}

Flow flow_named(std::string& complaint) {
  const std::string value = text("HOCKET_FLOW");
  if (value == "barrier") return Flow::barrier;
  if (value == "free") return Flow::free;
  if (!value.empty() && value != "token" && complaint.empty())
    complaint = "HOCKET_FLOW='" + value + "' is not token, barrier or free; using token";
  return Flow::token;
}

Settings read_environment() {
  Settings s;
  s.plan_paths = list("HOCKET_PLAN");
  s.placement = text("HOCKET_PLACEMENT");
  s.min_bytes = number("HOCKET_MIN_BYTES", 16384, 1, std::size_t{1} << 40, s.complaint);
  s.min_gather_bytes = number("HOCKET_MIN_GATHER_BYTES", 0, 0, std::size_t{1} << 40, s.complaint);
  constexpr WorthLimits limits;
  s.min_vector_bytes = number("HOCKET_MIN_VECTOR_BYTES", limits.message_bytes, 1, std::size_t{1} << 40, s.complaint);
  s.min_flows = number("HOCKET_MIN_FLOWS", limits.flows, 1, std::size_t{1} << 40, s.complaint);
  s.min_senders = number("HOCKET_MIN_SENDERS", limits.senders, 1, std::size_t{1} << 40, s.complaint);
  s.scheduler = text("HOCKET_SCHEDULER");
  s.seed = number("HOCKET_SEED", 1, 0, std::size_t{1} << 40, s.complaint);
  s.segment = number("HOCKET_SEGMENT", 16384, 1024, std::size_t{1} << 30, s.complaint);
  s.early = number("HOCKET_EARLY", 0, 0, std::size_t{1} << 30, s.complaint);
  s.ahead = number("HOCKET_AHEAD", 32, 1, 1024, s.complaint);
  s.spin_us = static_cast<unsigned>(number("HOCKET_SPIN_US", 20, 0, 1000000, s.complaint));
  s.sleep_us = static_cast<unsigned>(number("HOCKET_SLEEP_US", 200, 0, 100000, s.complaint));
  s.shared_ranks = static_cast<int>(number("HOCKET_SHARED_RANKS", 0, 0, 1 << 20, s.complaint));
  s.log = static_cast<int>(number("HOCKET_LOG", 0, 0, 2, s.complaint));
  s.report = text("HOCKET_REPORT");
  s.trace = text("HOCKET_TRACE");
  s.flow = flow_named(s.complaint);
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings instance = read_environment();
  return instance;
}

void say(const std::string& text) { std::fprintf(stderr, "hocket: %s\n", text.c_str()); }

}  // namespace hocket::runtime
