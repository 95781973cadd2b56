#pragma once
/// Claims of messages that run with tokens: the parts of channels that they occupy, and for how long.
#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithms/irregular/workload.hpp"
#include "core/network/network.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket::algorithms {

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
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t message) const {
    return {kinds_.data() + begin_[message], kinds_.data() + begin_[message + 1]};
  }

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
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> kinds_;
  std::vector<Kind> kind_;
  std::vector<std::uint32_t> whole_;
  std::vector<std::vector<std::uint32_t>> kinds_of_;
  std::vector<double> load_;
  std::uint32_t most_looks_ = ~std::uint32_t{0};
};

}  // namespace hocket::algorithms
