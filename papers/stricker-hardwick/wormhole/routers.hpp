#pragma once
/// Packets on their way: links, buffers, arbitration, and the clock that moves them.
#include <cstdint>
#include <vector>

#include "wiring.hpp"

namespace hocket::model {

using Ticks = std::int64_t;

/// Event reported to a message's owner.
struct Happening {
  enum class Kind : std::uint8_t { began, left, arrived } kind;
  std::uint32_t tag;  ///< the owner's number for the message
};

/// All that happens at one instant is taken in before any link is granted, so that who asks at the same
/// time as others has the same chance. Then links are granted in the order of their numbers.
class Routers {
 public:
  Routers(const Network& network, const WormholeParameters& parameters);

  [[nodiscard]] Ticks ticks(double seconds) const;
  [[nodiscard]] double seconds(Ticks ticks) const { return static_cast<double>(ticks) * tick_; }
  [[nodiscard]] Ticks now() const { return now_; }

  /// The sender's next message, which may leave from `at` on; its last one must have left.
  void send(std::uint32_t tag, Rank src, Rank dst, std::uint64_t bytes, Ticks at);
  /// Advances to the next instant and appends what happened; false when nothing is left to happen.
  bool step(std::vector<Happening>& happenings);

  [[nodiscard]] std::uint64_t messages_inside() const { return slots_.size() - free_slots_.size(); }
  /// A channel that somebody waits for in vain; after a standstill.
  [[nodiscard]] std::uint32_t blocked_channel() const;

  /// Bytes on the wire per channel, and the seconds in which it is in use.
  [[nodiscard]] std::vector<double> channel_bytes() const;
  [[nodiscard]] std::vector<double> channel_busy() const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// A message on its way.
  struct Message {
    std::uint32_t tag = 0, units = 0, arrived = 0;
    double full = 0, last = 0;         ///< bytes on the wire of a unit, and of the last one
    std::vector<std::uint32_t> route;  ///< buffers, see Wiring
  };
  /// A packet, or a train of them, in a buffer or at its sender.
  struct Unit {
    std::uint32_t message = none, index = 0;
    std::uint32_t next = 0;    ///< place on the route of the buffer that it goes to
    Ticks born = 0;            ///< could leave the sender
    Ticks head = 0, tail = 0;  ///< its head and its tail are there
  };
  /// Source that can feed a link: a buffer, or (numbered after the buffers) a sender.
  struct Input {
    std::uint32_t first = 0, count = 0;  ///< ring of units, `capacity_` places from `place`
  };
  struct Link {
    double ticks_per_byte = 0, bytes = 0;
    Ticks latency = 0, busy = 0;
    std::uint32_t from = none;  ///< input that it is being fed from
    std::uint32_t last = 0;     ///< input that was fed from last
    bool dirty = false;
    std::vector<std::uint32_t> requests;  ///< inputs whose first unit waits for it
  };
  struct Event {
    Ticks time;
    std::uint64_t key;  ///< kind and number: equal times have an order
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : key > other.key; }
  };
  enum Kind : std::uint64_t { done = 0, ready = std::uint64_t{1} << 32, copied = std::uint64_t{2} << 32 };

  [[nodiscard]] Unit& front(std::uint32_t input) {
    return units_[std::size_t{input} * capacity_ + inputs_[input].first];
  }
  [[nodiscard]] const Unit& front(std::uint32_t input) const {
    return units_[std::size_t{input} * capacity_ + inputs_[input].first];
  }
  [[nodiscard]] double wire_bytes(const Message& message, std::uint32_t index) const {
    return index + 1 == message.units ? message.last : message.full;
  }
  [[nodiscard]] Ticks duration(std::uint32_t link, double bytes) const;
  [[nodiscard]] std::uint32_t next_buffer(const Unit& unit) const { return slots_[unit.message].route[unit.next]; }

  void push(Ticks time, Kind kind, std::uint32_t number);
  void handle(const Event& event, std::vector<Happening>& happenings);
  void finish(std::uint32_t link, std::vector<Happening>& happenings);
  void come_to_front(std::uint32_t input);
  void request(std::uint32_t input);
  void touch(std::uint32_t link);
  void grant(std::uint32_t link, std::vector<Happening>& happenings);
  [[nodiscard]] bool has_room(std::uint32_t input) const;
  [[nodiscard]] std::uint32_t choose(const Link& link) const;
  void release(std::uint32_t message);

  const WormholeParameters& p_;
  Wiring wiring_;
  double tick_ = 1;  ///< s
  std::uint32_t buffers_, inputs_total_, capacity_;
  std::vector<Link> links_;
  std::vector<Input> inputs_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> owner_;  ///< wormhole: per buffer the message that holds its virtual channel
  std::vector<Message> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> dirty_, turn_;
  std::vector<Event> events_;  ///< heap
  Ticks now_ = 0;
};

}  // namespace hocket::model
