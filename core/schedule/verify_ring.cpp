#include <random>

#include "core/error.hpp"
#include "core/progress/progress.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

void tell(std::vector<std::string>& findings, std::string text) {
  constexpr std::size_t most = 10;
  if (findings.size() < most) findings.push_back(std::move(text));
}

class RingCheck {
 public:
  RingCheck(const Network& network, std::span<const Rank> order) : network_(network), order_(order) {}

  /// Every edge in one direction; by channel, the place where its edge begins, or ends if it goes backwards.
  std::vector<std::uint32_t> half(bool gathers) {
    std::vector<std::uint32_t> user(network_.channels(), nobody);
    for (std::uint32_t place = 0; place < order_.size(); ++place) {
      const Rank here = order_[place], next = order_[(place + 1) % order_.size()];
      edge(gathers ? here : next, gathers ? next : here, place, user);
    }
    return user;
  }

  void visits() {
    std::vector<std::uint32_t> visits(network_.ranks(), 0);
    for (const Rank rank : order_) ++visits[rank];
    for (Rank rank = 0; rank < visits.size(); ++rank) {
      if (visits[rank] == 1) continue;
      ++certificate.missing;
      tell(certificate.findings,
           "rank " + std::to_string(rank) + " is visited " + std::to_string(visits[rank]) + " times");
    }
  }

  /// A rank sends in order; any other must be told that what went before on its channel is over.
  void turn(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after,
            std::span<const TurnWait> waits) {
    for (Channel channel = 0; channel < network_.channels(); ++channel) {
      if (before[channel] == nobody || after[channel] == nobody) continue;
      if ((before[channel] + 1) % order_.size() == after[channel]) continue;
      const auto found = std::ranges::lower_bound(waits, std::pair(after[channel], before[channel]), {},
                                                  [](const TurnWait& w) { return std::pair(w.waiting, w.releasing); });
      if (found != waits.end() && found->waiting == after[channel] && found->releasing == before[channel] &&
          found->capacity <= network_.capacity(channel))
        continue;
      ++certificate.unordered;
      tell(certificate.findings, "rank " + std::to_string(order_[after[channel]]) + " does not wait for rank " +
                                     std::to_string(order_[before[channel]]) + " to have received, on " +
                                     network_.channel_name(channel));
    }
  }

  RingCertificate certificate;

 private:
  void edge(Rank from, Rank to, std::uint32_t place, std::vector<std::uint32_t>& user) {
    ++certificate.edges;
    network_.find_route(from, to, route_);
    certificate.channels += route_.size();
    for (const Channel channel : route_) {
      if (user[channel] != nobody) {
        ++certificate.collisions;
        tell(certificate.findings,
             std::to_string(from) + "->" + std::to_string(to) + " is not alone on " + network_.channel_name(channel));
      }
      user[channel] = place;
    }
  }

  const Network& network_;
  std::span<const Rank> order_;
  std::vector<Channel> route_;
};

}  // namespace

RingCertificate verify_ring(const Network& network, std::span<const Rank> order, Pattern pattern,
                            std::span<const TurnWait> waits) {
  if (pattern != Pattern::all_gather && pattern != Pattern::reduce_scatter && pattern != Pattern::all_reduce)
    throw InputError("a ring is for all-gathers, reduce-scatters and all-reduces");
  if (std::ranges::any_of(order, [&](Rank rank) { return rank >= network.ranks(); }))
    throw InputError("the ring visits a rank that the network does not have");
  RingCheck check(network, order);
  std::vector<std::uint32_t> before, after;
  if (pattern != Pattern::all_gather) before = check.half(false);
  if (pattern != Pattern::reduce_scatter) after = check.half(true);
  if (pattern == Pattern::all_reduce) check.turn(before, after, waits);
  check.visits();
  return std::move(check.certificate);
}

namespace {

std::string name_of(const PhasedMessage& message) {
  return std::to_string(message.src) + "->" + std::to_string(message.dst);
}

class Sample {
 public:
  Sample(const Network& network, const ClosedForm& form) : network_(network), form_(form) {}

  void check(const PhasedMessage& message) {
    ++certificate.messages;
    network_.find_route(message.src, message.dst, route_);
    certificate.channels += route_.size();
    if (const std::string met = meets(message); !met.empty()) {
      ++certificate.collisions;
      tell(certificate.findings,
           "phase " + std::to_string(message.phase) + ": " + name_of(message) + " is not alone " + met);
    } else if (const std::string wrong = out_of_order(message); !wrong.empty()) {
      ++certificate.unordered;
      tell(certificate.findings, "phase " + std::to_string(message.phase) + ": " + name_of(message) + " " + wrong);
    }
  }

  SampleCertificate certificate;

 private:
  /// Description of where another message is named in the message's place; empty: nowhere.
  [[nodiscard]] std::string meets(const PhasedMessage& message) const {
    if (message.phase >= form_.phases()) return "in a phase that there is not";
    if (form_.target(message.src, message.phase) != message.dst) return "at its sender";
    if (form_.source(message.dst, message.phase) != message.src) return "at its receiver";
    for (const Channel channel : route_) {
      const auto before = form_.user(channel, message.phase, Side::before);
      const std::uint64_t from = before ? before->phase : ClosedForm::before_all;
      if (form_.user(channel, from, Side::after) != message) return "on " + network_.channel_name(channel);
    }
    return {};
  }

  /// The fault in a message's tokens; empty if there is none.
  [[nodiscard]] std::string out_of_order(const PhasedMessage& message) {
    find_awaited(network_, form_, message, Side::before, awaited_);
    for (const PhasedMessage& earlier : awaited_) {
      if (earlier.phase >= message.phase || form_.phase(earlier.src, earlier.dst) != earlier.phase)
        return "waits for " + name_of(earlier) + ", which is not earlier";
      find_awaited(network_, form_, earlier, Side::after, released_);
      if (std::ranges::find(released_, message) == released_.end())
        return "waits for a token that the receiver of " + name_of(earlier) + " does not send";
    }
    return {};
  }

  const Network& network_;
  const ClosedForm& form_;
  std::vector<Channel> route_;
  std::vector<PhasedMessage> awaited_, released_;
};

}  // namespace

SampleCertificate verify_sample(const Network& network, const ClosedForm& form, std::uint64_t messages,
                                std::uint64_t seed) {
  const std::uint64_t ranks = network.ranks();
  if (ranks < 2) throw InputError("a sample needs at least two ranks");
  Sample sample(network, form);
  std::mt19937_64 random(seed);
  Steps steps("verifying a sample", messages);
  for (std::uint64_t i = 0; i < messages; ++i) {
    steps.tick();
    const auto src = static_cast<Rank>(random() % ranks);
    const auto dst = static_cast<Rank>((src + 1 + random() % (ranks - 1)) % ranks);
    sample.check({src, dst, form.phase(src, dst)});
  }
  return std::move(sample.certificate);
}

}  // namespace hocket
