#include "runtime/paths/pacing.hpp"

#include <dirent.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "runtime/paths/ask_routers.hpp"

namespace hocket::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using End = std::pair<Address, std::uint16_t>;  // of a connection

constexpr unsigned long unlimited = ~0UL;

/// `ask`: getsockname or getpeername.
template <class Ask>
std::optional<End> end_of(int handle, Ask ask) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  auto* const plain = reinterpret_cast<sockaddr*>(&name);
  if (ask(handle, plain, &length) != 0) return std::nullopt;
  const std::optional<Address> address = Address::of(plain);
  if (!address) return std::nullopt;
  return End{*address, ntohs(reinterpret_cast<sockaddr_in*>(&name)->sin_port)};  // sin6_port is at the same place
}

/// Connections of this process to hosts of the plan, for calls of several threads.
class Connections {
 public:
  static Connections& instance(const std::string& table) {
    static Connections connections(table);
    return connections;
  }

  [[nodiscard]] bool paces() const { return rate_ > 0; }

  void begin(double faster) {
    const std::lock_guard lock(mutex_);
    if (callers_ == 0) {
      look();
      set(static_cast<unsigned long>(faster * rate_));
    }
    ++callers_;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    if (--callers_ == 0) set(unlimited);
  }

 private:
  explicit Connections(const std::string& table) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string from, to;
      std::uint16_t port = 0;
      if (!(words >> from)) continue;
      if (from == "pace") words >> rate_;
      if (!(words >> to >> port)) continue;
      if (const auto address = Address::read(to); address && Address::read(from)) listeners_[*address] = port;
    }
  }

  /// Opened by this process to a listener of the plan, or by another to this process's listener.
  [[nodiscard]] bool is_of_plan(int handle) const {
    const auto own = end_of(handle, getsockname), peer = end_of(handle, getpeername);
    if (!own || !peer) return false;
    const auto there = listeners_.find(peer->first), here = listeners_.find(own->first);
    if (there == listeners_.end()) return false;
    return there->second == peer->second || (here != listeners_.end() && here->second == own->second);
  }

  /// Takes at most 1 % of the time: programs may have thousands of files open.
  void look() {
    const Clock::time_point began = Clock::now();
    if (began < next_look_) return;
    handles_.clear();
    DIR* const open = opendir("/proc/self/fd");
    if (open == nullptr) return;
    while (const dirent* entry = readdir(open))
      if (const auto handle = static_cast<int>(std::strtol(entry->d_name, nullptr, 10)); is_of_plan(handle))
        handles_.push_back(handle);
    closedir(open);
    const Clock::time_point now = Clock::now();
    next_look_ = now + 100 * (now - began);
  }

  /// A handle may stand for another file by now.
  void set(unsigned long rate) const {
    for (const int handle : handles_)
      if (is_of_plan(handle)) setsockopt(handle, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
  }

  std::mutex mutex_;
  std::map<Address, std::uint16_t> listeners_;  ///< ports
  double rate_ = 0;                             ///< bytes a second; 0: as fast as they can
  std::vector<int> handles_;
  int callers_ = 0;
  Clock::time_point next_look_;
};

}  // namespace

Paced::Paced(const std::string& table, double faster) : paces_(!table.empty() && Connections::instance(table).paces()) {
  if (paces_) Connections::instance(table).begin(faster);
}

Paced::~Paced() {
  if (paces_) Connections::instance({}).end();
}

}  // namespace hocket::runtime
