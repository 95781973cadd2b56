#pragma once
/// Gossip (all-gather) on rings, tori and meshes as synchronous steps of messages along axes, and an
/// executor that counts what they cost.
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", section 2 for the model.
///
/// Times that no gossip can beat, in units of L·t_l; r = t_s / (L·t_l).
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", section 3: Lemma 1, and
/// Theorem 1 in a form with its constants.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket::gossip {

/// Processors of a grid, numbered in row-major order of their coordinates. One side: a ring (or a
/// linear array).
struct Grid {
  std::vector<std::uint32_t> sides;
  bool wraparound = true;

  [[nodiscard]] std::uint32_t axes() const { return static_cast<std::uint32_t>(sides.size()); }
  [[nodiscard]] std::uint32_t nodes() const { return product_from(0); }
  [[nodiscard]] std::uint32_t stride(std::uint32_t axis) const { return product_from(axis + 1); }  ///< of neighbours
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t node, std::uint32_t axis) const {
    return node / stride(axis) % sides[axis];
  }
  /// The node `displacement` places along an axis, around the ring if the grid wraps.
  [[nodiscard]] std::uint32_t moved(std::uint32_t node, std::uint32_t axis, std::int64_t displacement) const {
    const std::int64_t side = sides[axis], from = coordinate(node, axis);
    const std::int64_t to = ((from + displacement) % side + side) % side;
    return static_cast<std::uint32_t>(node + (to - from) * std::int64_t{stride(axis)});
  }
  [[nodiscard]] std::uint32_t product_from(std::uint32_t axis) const {
    std::uint32_t product = 1;
    for (; axis < axes(); ++axis) product *= sides[axis];
    return product;
  }
};

/// The number of nodes of a grid with these sides. Throws InputError where there are no sides, one is 0, or the
/// nodes are more than `most_nodes`; schedules are made for up to 65,536.
std::uint64_t check_sides(const std::vector<std::uint32_t>& sides, std::uint64_t most_nodes = 1u << 16);

/// Units [begin, end) of the item of one processor.
struct Parcel {
  std::uint32_t origin = 0;
  std::uint32_t begin = 0, end = 0;
  bool operator==(const Parcel&) const = default;
};

/// One message of a step, over all links on its way along one axis.
struct Message {
  std::uint32_t src = 0;
  std::uint32_t axis = 0;
  std::int32_t displacement = 0;      ///< places along the axis, negative: backwards
  std::uint64_t first = 0, last = 0;  ///< its parcels, into Steps::parcels
};

/// Steps of messages. All messages of a step leave together; what arrives can be sent on in the next.
struct Steps {
  std::uint32_t units = 1;              ///< parts of an item, so that every parcel is whole
  std::vector<std::uint64_t> begin{0};  ///< step i is messages [begin[i], begin[i+1])
  std::vector<Message> messages;
  std::vector<Parcel> parcels;

  [[nodiscard]] std::uint64_t size() const { return begin.size() - 1; }
  [[nodiscard]] std::span<const Message> step(std::uint64_t i) const {
    return {messages.data() + begin[i], messages.data() + begin[i + 1]};
  }
  [[nodiscard]] std::span<const Parcel> content(const Message& message) const {
    return {parcels.data() + message.first, parcels.data() + message.last};
  }
  void add(std::uint32_t src, std::uint32_t axis, std::int32_t displacement, std::span<const Parcel> content) {
    const std::uint64_t first = parcels.size();
    parcels.insert(parcels.end(), content.begin(), content.end());
    messages.push_back({src, axis, displacement, first, parcels.size()});
  }
  void end_step() { begin.push_back(messages.size()); }
};

/// Messages that a processor may send and receive in one step.
enum class Ports : std::uint8_t {
  all,          ///< one message out and one in per incident channel, full duplex
  half_duplex,  ///< one message, out or in (section 7 of the paper)
};

/// Result of executing the steps. Times are in units of L·t_l (one item over one link); r = t_s / (L·t_l).
struct Execution {
  std::uint64_t steps = 0;      ///< per-message costs that follow each other
  double strict_volume = 0;     ///< sum over steps of the largest message
  double shared_volume = 0;     ///< sum over steps of the largest channel load
  std::uint64_t redundant = 0;  ///< units that reached a processor which had them
  bool link_disjoint = true;    ///< no two messages of a step share a channel
  bool ports_respected = true;
  bool held = true;       ///< nothing was sent before its sender had it
  bool complete = false;  ///< everyone ends with everything
  std::string problem;    ///< the first rule broken

  [[nodiscard]] double strict_time(double r) const { return static_cast<double>(steps) * r + strict_volume; }
  [[nodiscard]] double shared_time(double r) const { return static_cast<double>(steps) * r + shared_volume; }
};

/// Executes the steps on the grid. It trusts no builder; throws InputError for messages that leave
/// the grid or name processors and parcels that do not exist.
[[nodiscard]] Execution execute(const Grid& grid, const Steps& steps, Ports ports = Ports::all);

/// ⌈log_base n⌉, exactly.
[[nodiscard]] std::uint32_t ceil_log(std::uint32_t base, std::uint64_t n);
/// Fewest steps in which one item can reach everyone: holders grow by a factor of ports + 1 at most.
[[nodiscard]] std::uint64_t fewest_steps(std::uint64_t nodes, std::uint32_t ports);

/// Fewest steps of gossip where a processor sends or receives one message at a time: the least t with φ^t ≥ N, φ = (1 +
/// √5)/2. Entry (j, i) of the product of the steps' matrices I + P counts the ways of item i to processor j. P pairs
/// senders with receivers, so that no step stretches a vector by more than the norm of (1 1; 0 1), which is φ; a matrix
/// without a 0 stretches the vector of ones by N.
[[nodiscard]] std::uint64_t fewest_half_duplex_steps(std::uint64_t nodes);
/// N(N − 1) items must be received, in a step at most ⌊N/2⌋ messages of the largest size.
[[nodiscard]] double half_duplex_volume(std::uint64_t nodes);

/// Lemma 1 for synchronous steps, and for any schedule whatever. A mesh is limited by the channels
/// into its corner, half-duplex processors by the two functions above.
[[nodiscard]] double synchronous_bound(const Grid& grid, double r, Ports ports = Ports::all);
[[nodiscard]] double asynchronous_bound(const Grid& grid, double r);

/// Largest possible decrease of an item's potential in a step, per processor. `share`: the largest channel load over
/// n/2. Increasing and concave.
[[nodiscard]] double potential_drop(double share);
[[nodiscard]] double inverse_potential_drop(double drop);

/// Least volume with which `steps` synchronous steps can gossip on a ring of n, given that the
/// potential of every item is still `potential`.
[[nodiscard]] double ring_volume_bound(std::uint64_t n, double potential, std::uint64_t steps);

/// Theorem 1: the best number of steps for that potential. Valid for channels shared by messages too.
[[nodiscard]] double ring_bound(std::uint64_t n, double r);

/// The best of the above for synchronous steps.
[[nodiscard]] double lower_bound(const Grid& grid, double r, Ports ports = Ports::all);

}  // namespace hocket::gossip
