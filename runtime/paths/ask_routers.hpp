#pragma once
/// Routers on the ways of connections, asked by opening them with a small time to live.
#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hocket::runtime {

/// An IP address, those of IPv4 mapped into IPv6.
struct Address {
  in6_addr bytes{};
  /// Nothing for what is none.
  [[nodiscard]] static std::optional<Address> read(const std::string& text);
  bool operator==(const Address& other) const;
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

/// The router at which each probe ended, sent in turn and `a_second` of them; nothing where nobody answered, all ports
/// were taken, or this system hands no answers of routers to sockets. Needs no rights. Source: Augustin et al.,
/// "Avoiding traceroute anomalies with Paris traceroute", IMC 2006.
[[nodiscard]] std::vector<std::optional<Address>> ask_routers(std::span<const Probe> probes, double a_second);

}  // namespace hocket::runtime
