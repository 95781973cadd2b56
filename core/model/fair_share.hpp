#pragma once
/// Flows that share channels max-min fairly: how fast each goes, and which one ends next.
///
/// Source: progressive filling, Bertsekas and Gallager, "Data Networks", section 6.5.2. Rates are
/// recomputed only where something changed: for the flows that are linked, through channels that
/// can be full, to a flow that came or went. In a contention-free schedule that is the flow alone.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

/// Fractions of a channel's rate that 1, 2, 4, 8 flows carry together, if each could fill it alone; for one kind of
/// channel.
using SharedRate = std::array<double, 4>;

struct Contention {
  SharedRate host{1, 1, 1, 1};         ///< channels from or to a host
  SharedRate switch_link{1, 1, 1, 1};  ///< channels between switches
  bool operator==(const Contention&) const = default;
};

/// The fraction for any number of flows: linear between the given ones; beyond eight that of eight.
[[nodiscard]] double shared_rate(const SharedRate& part, double flows);

/// Throws InputError for parts that are not above 0 and at most 1.
void check_contention(const Contention& contention);

/// Seconds, and bytes per second.
struct CostProfile {
  std::string_view name;
  double rate;          ///< rate of a host's link
  double latency;       ///< between two hosts
  double send;          ///< the sender's processor, for each message
  double receive;       ///< the receiver's
  double token;         ///< on top of the latency
  std::uint64_t eager;  ///< bytes: longer messages wait for their receiver
  double wire;          ///< bytes on the wire for each of a message
  Contention contention;
};

[[nodiscard]] std::span<const CostProfile> cost_profiles();

/// The profile nearest to the rate of a host's link first of all, then to its latency; of a single host that of shared
/// memory.
[[nodiscard]] const CostProfile& profile_of(const Network& network);

/// One flow, as its owner describes it.
struct FlowSpec {
  std::uint32_t tag = 0;                                   ///< the owner's number for it
  double bytes = 0;                                        ///< on the wire
  double weight = 1;                                       ///< share of a full channel, relative to the other flows
  double limit = std::numeric_limits<double>::infinity();  ///< own top speed (bytes/s)
};

class FairShare {
 public:
  explicit FairShare(const Network& network, const Contention& contention = {});

  void start(double now, const FlowSpec& flow, std::span<const Channel> route);
  /// The time at which the next flow ends; infinity if none is under way. Settles the rates.
  [[nodiscard]] double next(double now);
  /// Ends one flow that is due by `horizon` at `now`, and tells its tag. False if there is none.
  bool take(double now, double horizon, std::uint32_t& tag);

  /// Work done so far: each new computation of a flow's rate counts one step and one for each channel of its route.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Per channel: bytes carried, and seconds in which it carried at least one flow, so far.
  [[nodiscard]] const std::vector<double>& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<double>& busy() const { return busy_; }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct Flow {
    std::vector<Channel> route;
    std::vector<std::uint32_t> place;  ///< per hop: its index among the channel's flows
    double left = 0, moved = 0, weight = 1, limit = infinity;
    double rate = 0, since = 0;  ///< `left` was right at `since`
    std::uint32_t tag = 0, generation = 0;
    std::uint32_t seen = 0;  ///< last settling that looked at it
    bool active = false, fixed = false;
  };
  struct Use {
    std::uint32_t flow, hop;
  };
  struct Line {  ///< a channel and the flows on it
    std::vector<Use> flows;
    double rate = 0;
    const SharedRate* shared = nullptr;  ///< fractions of the rate that several flows carry together; null: all of it
    double wanted = 0;                   ///< rate that its flows would use together without other limits
    double free = 0, weight = 0;         ///< while filling
    double busy_since = 0;
    std::uint32_t seen = 0;
    bool changed = false;
  };
  struct Due {
    double time;
    std::uint32_t flow, generation;
    bool operator<(const Due& other) const {
      return time != other.time ? time > other.time : flow > other.flow;  // heap: earliest on top
    }
  };
  struct Level {
    double level;
    std::uint32_t id;
    bool channel;
    bool operator<(const Level& other) const { return level > other.level; }
  };

  [[nodiscard]] static double capacity(const Line& line) {
    return line.shared == nullptr ? line.rate : line.rate * shared_rate(*line.shared, line.wanted / line.rate);
  }
  [[nodiscard]] static bool can_fill(const Line& line) { return line.wanted > capacity(line) * (1 + 1e-9); }
  void end(double now, std::uint32_t id);
  void touch(std::uint32_t id);
  void settle(double now);
  void collect();
  void fill();
  void fix(std::uint32_t id, double rate);
  void set_rate(double now, std::uint32_t id, double rate);
  void schedule(std::uint32_t id);

  const Contention contention_;
  std::vector<Line> lines_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> idle_;       ///< slots of flows that ended
  std::vector<Due> due_;                  ///< heap; entries of an older generation are void
  std::vector<Channel> changed_;          ///< channels that lost a flow while they could be full
  std::vector<std::uint32_t> started_;    ///< flows without a rate yet
  std::vector<std::uint32_t> component_;  ///< flows to settle
  std::vector<Channel> full_;             ///< channels that bind them
  std::vector<double> rate_;              ///< new rate per entry of component_ (indexed by flow)
  std::vector<Level> levels_;             ///< heap while filling
  std::vector<double> bytes_, busy_;
  std::uint32_t round_ = 0;
  std::uint64_t steps_ = 0;
  std::size_t active_ = 0;
};

}  // namespace hocket
