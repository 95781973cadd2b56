#include "core/schedule/verify_sample.hpp"

#include <algorithm>
#include <random>

#include "core/error.hpp"
#include "core/progress/progress.hpp"

namespace hocket {
namespace {

constexpr std::size_t most_findings = 10;

std::string name_of(const PhasedMessage& message) {
  return std::to_string(message.src) + "->" + std::to_string(message.dst);
}

class Sample {
 public:
  Sample(const Network& network, const ClosedForm& form) : network_(network), form_(form) {}

  void check(const PhasedMessage& message) {
    ++certificate.messages;
    route_.clear();
    network_.append_route(message.src, message.dst, route_);
    certificate.channels += route_.size();
    if (const std::string met = meets(message); !met.empty()) {
      ++certificate.collisions;
      tell("phase " + std::to_string(message.phase) + ": " + name_of(message) + " is not alone " + met);
    } else if (const std::string wrong = out_of_order(message); !wrong.empty()) {
      ++certificate.unordered;
      tell("phase " + std::to_string(message.phase) + ": " + name_of(message) + " " + wrong);
    }
  }

  SampleCertificate certificate;

 private:
  void tell(std::string text) {
    if (certificate.findings.size() < most_findings) certificate.findings.push_back(std::move(text));
  }

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
