#pragma once
/// Routers that forward packets: how they switch, buffer and arbitrate.
///
/// Sources: Kermani and Kleinrock 1979 (virtual cut-through); Dally and Seitz 1987 (wormhole
/// routing, virtual channels that open the cycle of a ring); the Cray T3D for the defaults.
#include <cstdint>
#include <limits>
#include <string_view>

namespace hocket {

enum class Switching : std::uint8_t {
  cut_through,  ///< packets of different messages may alternate on a virtual channel
  wormhole,     ///< a message holds a virtual channel from its first packet to its last
};

/// Division of a ring channel's buffers into classes. Without a ring there is one class only.
enum class VirtualChannels : std::uint8_t {
  none,      ///< one class; rings can deadlock, which is detected
  dateline,  ///< two: the second one after the wrap-around link of the dimension
  balanced,  ///< two; messages that stay clear of the wrap-around link use either, by where they enter the ring
};

enum class Arbitration : std::uint8_t {
  round_robin,   ///< among the inputs of a router that want the channel
  oldest_first,  ///< the packet that has been in the network longest
};

/// The defaults are an ideal machine with T3D packets: only the wires take time.
struct WormholeParameters {
  std::uint32_t payload = 32;  ///< bytes of payload in a packet
  double header = 0;           ///< bytes on the wire that each packet has besides
  /// Packets of one message that move as one unit. More is faster to simulate and approximates:
  /// packets of different messages alternate `train` at a time, and no buffer is smaller than a train.
  std::uint32_t train = 1;
  /// Packets that fit behind a channel, per virtual channel, besides those that fill the longest channel's
  /// latency: credits come back at once, so that latency alone throttles nobody.
  std::uint32_t buffer = 4;
  VirtualChannels virtual_channels = VirtualChannels::dateline;
  std::uint32_t lanes = 1;  ///< virtual channels per class; a message keeps to that of its source, source mod lanes
  Switching switching = Switching::cut_through;
  Arbitration arbitration = Arbitration::round_robin;
  double alpha = 0;            ///< s that the sender spends on a message before it leaves
  double barrier = 0;          ///< s between two phases under `barrier`
  double hop = 0;              ///< s a router takes for a packet, on top of the latency of each channel
  double injection_rate = 0;   ///< bytes/s on the wire from a host into its router; 0: host speed
  double ejection_rate = 0;    ///< bytes/s on the wire from a router into its host; 0: host speed
  bool port_per_rank = false;  ///< every rank has its own injection and ejection port, not every host
  bool blocking = false;       ///< a sender goes on when its message has arrived, not when it has left
  double memory_rate = std::numeric_limits<double>::infinity();  ///< bytes/s between ranks of one host
};

/// Each throws InputError for an unknown name.
[[nodiscard]] Switching parse_switching(std::string_view name);               ///< cut-through, wormhole
[[nodiscard]] VirtualChannels parse_virtual_channels(std::string_view name);  ///< none, dateline, balanced
[[nodiscard]] Arbitration parse_arbitration(std::string_view name);           ///< round-robin, oldest-first

}  // namespace hocket
