#pragma once
/// The messages of an all-to-all or irregular demand as link-aware algorithms see them: what each needs, and how long.
#include <cstdint>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket::algorithms {

/// Resources are the send and receive ports of the ranks and the channels, numbered from 0 as they
/// are met. A channel of capacity 1 that has one sender or one receiver, with one port, is left out: that port is busy
/// whenever the channel is.
class Workload {
 public:
  /// Linear in messages × route length. Demand and network must have the same ranks.
  Workload(const Network& network, const Demand& demand);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(messages_.size()); }
  [[nodiscard]] const Message& message(std::uint32_t i) const { return messages_[i]; }
  /// Seconds of a message alone on its route: bytes / slowest rate; 0 between ranks of one host.
  [[nodiscard]] double seconds(std::uint32_t i) const { return seconds_[i]; }
  [[nodiscard]] std::span<const std::uint32_t> needs(std::uint32_t i) const { return needs_.of(i); }

  [[nodiscard]] std::uint32_t resources() const { return static_cast<std::uint32_t>(capacity_.size()); }
  /// Messages that the resource carries at once.
  [[nodiscard]] std::uint32_t capacity(std::uint32_t resource) const { return capacity_[resource]; }
  /// Seconds that its messages take, over its capacity.
  [[nodiscard]] const std::vector<double>& load() const { return load_; }
  /// The largest load. Where all channels are equally fast that is the bound of the demand.
  [[nodiscard]] double bound() const;

 private:
  std::vector<Message> messages_;
  std::vector<double> seconds_;
  Grouped needs_;
  std::vector<std::uint32_t> capacity_;
  std::vector<double> load_;
};

struct Part {
  std::uint32_t message = 0;
  std::uint64_t bytes = 0;
};

/// No resource is overfull in a phase. The parts of a message follow each other in the order of its bytes.
struct CutPhases {
  double seconds = 0;  ///< all phases, one after the other
  Lists<Part> phases;
};

/// `alpha`: seconds that a phase is taken to cost besides its transfers; more makes longer phases and
/// fewer cuts. At least one message ends in every phase.
[[nodiscard]] CutPhases critical_phases(const Workload& work, double alpha);

/// Where all links are equally fast a message claims what it needs of the workload. Elsewhere it claims its sender's
/// port and its share (network/share.hpp) of every channel that several ranks send on: what a slow message leaves of a
/// channel goes to others. A claim of so much of one resource is a kind; messages refer to kinds.
class Claims {
 public:
  /// Linear in messages × route length. The workload must outlive it; `shared`, for its messages, need not.
  Claims(const Network& network, const Workload& work, const SharedChannels& shared);
  /// Claims alike.
  Claims(const Network& network, const Workload& work);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(seconds_.size()); }
  /// Duration of a message at the speed that its shares give it.
  [[nodiscard]] double seconds(std::uint32_t message) const { return seconds_[message]; }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t message) const { return kinds_.of(message); }

  [[nodiscard]] std::uint32_t kinds() const { return static_cast<std::uint32_t>(kind_.size()); }
  [[nodiscard]] std::uint32_t resource(std::uint32_t kind) const { return kind_[kind].resource; }
  [[nodiscard]] std::uint32_t amount(std::uint32_t kind) const { return kind_[kind].amount; }

  [[nodiscard]] std::uint32_t resources() const { return static_cast<std::uint32_t>(whole_.size()); }
  /// The whole of a resource, in the units of claims.
  [[nodiscard]] std::uint32_t whole(std::uint32_t resource) const { return whole_[resource]; }
  [[nodiscard]] std::span<const std::uint32_t> kinds_of(std::uint32_t resource) const { return kinds_of_[resource]; }
  /// Per resource: seconds until it is through with its messages, if it is never idle.
  [[nodiscard]] const std::vector<double>& load() const { return load_; }
  /// Waiting messages of a kind to look at when there is room: where shares of many sizes pass each other, all would
  /// take minutes.
  [[nodiscard]] std::uint32_t most_looks() const { return most_looks_; }
  /// The largest of those.
  [[nodiscard]] double bound() const;

 private:
  struct Kind {
    std::uint32_t resource, amount;
  };

  void as_needed(const Workload& work);
  void by_shares(const Network& network, const Workload& work, const SharedChannels& shared);
  std::uint32_t add_resource(std::uint32_t whole);
  std::uint32_t kind(std::uint32_t resource, std::uint32_t amount);
  void end_message(double seconds);

  std::vector<double> seconds_;
  Grouped kinds_;  ///< per message
  std::vector<Kind> kind_;
  std::vector<std::uint32_t> whole_;
  std::vector<std::vector<std::uint32_t>> kinds_of_;
  std::vector<double> load_;
  std::uint32_t most_looks_ = ~std::uint32_t{0};
};

/// Measure of a message's urgency, from the seconds of work that its resources have left.
enum class Urgency : std::uint8_t {
  largest,  ///< that of its most loaded resource
  sum,      ///< sum over its resources, steeply weighted
};

struct Starts {
  double seconds = 0;                ///< until the last message is over
  std::vector<std::uint32_t> order;  ///< the messages as they start
  std::vector<double> end;           ///< per message
};

/// Never leaves a message waiting whose claims are free. `factor`: per message, multiplies its urgency. Near-linear in
/// messages × route length where few resources are scarce.
[[nodiscard]] Starts list_starts(const Claims& work, Urgency urgency, std::span<const double> factor);

}  // namespace hocket::algorithms
