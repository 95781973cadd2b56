#pragma once
/// Routers on the ways of connections, asked by opening them with a small time to live.
#include <netinet/in.h>
#include <sys/socket.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hocket::runtime {

/// An IP address, those of IPv4 mapped into IPv6.
struct Address {
  in6_addr bytes{};
  /// Nothing for what is none.
  [[nodiscard]] static std::optional<Address> read(const std::string& text);
  [[nodiscard]] static std::optional<Address> of(const sockaddr* name);
  bool operator==(const Address& other) const { return (*this <=> other) == 0; }
  std::strong_ordering operator<=>(const Address& other) const;
};

/// The addresses of this host.
[[nodiscard]] std::vector<Address> own_addresses();

/// A connection that is not made: its SYN ends at the `hops`-th router.
struct Probe {
  Address to;
  std::uint16_t to_port = 0;
  std::vector<std::uint16_t> ports;  ///< to come from: the first that is free
  int hops = 0;
};

/// A probe on its way.
class SentProbe {
 public:
  /// Nothing where all its ports are taken, or this system hands no answers of routers to sockets. Needs no rights.
  [[nodiscard]] static std::optional<SentProbe> send(const Probe& probe);
  SentProbe(SentProbe&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
  SentProbe& operator=(SentProbe&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  SentProbe(const SentProbe&) = delete;
  SentProbe& operator=(const SentProbe&) = delete;
  ~SentProbe();

  [[nodiscard]] int handle() const { return handle_; }
  /// The router that has said that the time to live has ended; nothing yet. Does not wait.
  [[nodiscard]] std::optional<Address> answer() const;

 private:
  explicit SentProbe(int handle) : handle_(handle) {}
  [[nodiscard]] bool set(int level, int option, int value) const;

  int handle_;
};

/// The router at which each probe ended, sent in turn and `a_second` of them; nothing where nobody answered or none
/// could be sent. Source: Augustin et al., "Avoiding traceroute anomalies with Paris traceroute", IMC 2006.
[[nodiscard]] std::vector<std::optional<Address>> ask_routers(std::span<const Probe> probes, double a_second);

}  // namespace hocket::runtime
