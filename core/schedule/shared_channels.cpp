#include "core/schedule/shared_channels.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "core/limits.hpp"

namespace hocket {

/// Times the busiest channel's work: rather all than few are filled. What is claimed is more than what it takes, as
/// messages go faster wherever there is room.
constexpr double almost = 1.12;
constexpr double a_little = 1 + 1e-9;             ///< times: more than by rounding
constexpr int most_tried = 24, most_in_vain = 4;  ///< channels; the latter one after the other
constexpr std::size_t most_tabulated = 1024;      ///< rates

static double longest(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
}

SharedChannels::SharedChannels(const Network& network, Claiming claiming, const EachMessage& each_message)
    : network_(network), claiming_(claiming), filled_(network.channels(), 0) {
  tabulate();
  std::vector<double> bytes_over(network.channels(), 0);
  each_message([&](std::span<const Channel> route, std::uint64_t bytes) {
    for (const Channel channel : route) bytes_over[channel] += static_cast<double>(bytes);
  });
  for (Channel channel = 0; channel < network.channels(); ++channel)
    bound_ = std::max(bound_, bytes_over[channel] / network.rate(channel));
  const std::vector<double> apart = work(each_message);
  for (Channel channel = 0; channel < network.channels(); ++channel)
    filled_[channel] = apart[channel] > bound_ * a_little;
  const std::vector<char> all = filled_;
  const double with_all = longest(work(each_message));
  filled_.assign(network.channels(), 0);
  if (with_all <= almost * fill_while_it_helps(each_message, apart)) filled_ = all;
}

SharedChannels::SharedChannels(const Network& network)
    : network_(network), claiming_(Claiming::alike), filled_(network.channels(), 1) {
  tabulate();
}

bool SharedChannels::suffice(const Schedule& schedule) const {
  std::vector<std::uint64_t> claimed(network_.channels(), 0);
  std::vector<Channel> route, used;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    for (const Hop hop : schedule.phase(phase)) {
      network_.find_route(hop.src, hop.dst, route);
      bool enough = true;
      claim(route, [&](Channel channel, std::uint32_t part) {
        enough = (claimed[channel] += part) <= whole_channel && enough;
        used.push_back(channel);
      });
      if (!enough) return false;
    }
    for (const Channel channel : used) claimed[channel] = 0;
    used.clear();
  }
  return true;
}

/// Tabulates claims by the two rates on which they depend: that of the channel, and that of the message.
void SharedChannels::tabulate() {
  speeds_.reserve(network_.channels());
  for (Channel channel = 0; channel < network_.channels(); ++channel) speeds_.push_back(network_.rate(channel));
  std::ranges::sort(speeds_);
  speeds_.erase(std::ranges::unique(speeds_).begin(), speeds_.end());
  std::vector<Channel> of_speed(speeds_.size());
  for (Channel channel = 0; channel < network_.channels(); ++channel) {
    const auto at = std::ranges::lower_bound(speeds_, network_.rate(channel));
    speed_of_.push_back(static_cast<std::uint32_t>(at - speeds_.begin()));
    of_speed[speed_of_.back()] = channel;
  }
  if (speeds_.size() > most_tabulated) return;
  filling_.assign(speeds_.size() * speeds_.size(), 1);
  unfilled_.assign(filling_.size(), whole_channel);
  for (const Channel channel : of_speed)
    for (std::uint32_t own = 0; own <= speed_of_[channel]; ++own) {
      filling_[entry(channel, own)] = filling(network_, channel, speeds_[own]);
      unfilled_[entry(channel, own)] = unfilled(channel, own, speeds_[own]);
    }
}

void SharedChannels::add_work(std::span<const Channel> route, double bytes, std::vector<double>& seconds) const {
  const std::uint32_t own = slowest(route);
  const double speed = left_speed(route, own), per_part = bytes / (speed * whole_channel);
  for (const Channel channel : route) seconds[channel] += per_part * part(channel, own, speed);
}

/// Seconds for which each channel is claimed by its messages.
std::vector<double> SharedChannels::work(const EachMessage& each_message) const {
  std::vector<double> seconds(network_.channels(), 0);
  each_message([&](std::span<const Channel> route, std::uint64_t bytes) {
    add_work(route, static_cast<double>(bytes), seconds);
  });
  return seconds;
}

/// Returns the seconds of the busiest channel. A channel more changes the claims of its own messages only.
double SharedChannels::fill_while_it_helps(const EachMessage& each_message, std::vector<double> seconds) {
  std::vector<char> tried = filled_;
  double least = longest(seconds);
  int in_vain = 0;
  for (int i = 0; i < most_tried && in_vain < most_in_vain && least > bound_ * a_little; ++i) {
    double most = bound_;
    Channel worst = network_.channels();
    for (Channel channel = 0; channel < network_.channels(); ++channel)
      if (!tried[channel] && seconds[channel] > most) most = seconds[channel], worst = channel;
    if (worst == network_.channels()) break;
    tried[worst] = 1;
    std::vector<double> then = seconds;
    each_message([&](std::span<const Channel> route, std::uint64_t bytes) {
      if (std::ranges::find(route, worst) == route.end()) return;
      filled_[worst] = 0;
      add_work(route, -static_cast<double>(bytes), then);
      filled_[worst] = 1;
      add_work(route, static_cast<double>(bytes), then);
    });
    const double time = longest(then);
    filled_[worst] = time * a_little < least;
    in_vain = filled_[worst] ? 0 : in_vain + 1;
    if (in_vain > 0) continue;
    least = time;
    seconds = std::move(then);
  }
  return least;
}

/// The part of a channel that is not filled, at the speed that filled ones leave the message.
std::uint32_t SharedChannels::unfilled(Channel channel, std::uint32_t own, double speed) const {
  const std::uint32_t least = whole_channel / filling_of(channel, own);
  const double like_it = network_.rate(channel) / speed * a_little;  // go beside each other
  if (claiming_ == Claiming::exactly && like_it > 1)
    return std::max(least, static_cast<std::uint32_t>(std::ceil(whole_channel / like_it)));
  return std::max(least, whole_channel / static_cast<std::uint32_t>(std::clamp(std::floor(like_it), 1.0, 7e5)));
}

EachMessage each_pair(const Network& network, std::uint64_t bytes) {
  struct Routes {
    std::vector<Channel> channels;
    std::vector<std::uint64_t> end;
  };
  const auto kept = std::make_shared<Routes>();  // from the first time on
  return [&network, bytes, kept](const auto& visit) {
    auto& [channels, end] = *kept;
    const std::uint64_t messages = std::uint64_t{network.ranks()} * (network.ranks() - 1);
    std::uint64_t begin = 0;
    if (end.size() == messages) {
      for (const std::uint64_t next : end) {
        visit(std::span(channels).subspan(begin, next - begin), bytes);
        begin = next;
      }
      return;
    }
    const bool keep = messages <= limits::most_messages_listed;
    for (Rank src = 0; src < network.ranks(); ++src)
      for (Rank dst = 0; dst < network.ranks(); ++dst) {
        if (src == dst) continue;
        network.append_route(src, dst, channels);
        visit(std::span(channels).subspan(begin), bytes);
        if (keep)
          end.push_back(begin = channels.size());
        else
          channels.clear();
      }
  };
}

EachMessage each_transfer(const Network& network, const Schedule& schedule) {
  return [&network, &schedule](const auto& visit) {
    std::vector<Channel> route;
    for (std::uint64_t i = 0; i < schedule.size(); ++i)
      visit(network.find_route(schedule.hops()[i].src, schedule.hops()[i].dst, route), schedule.length(i));
  };
}

double lockstep_seconds(const Network& network, const Schedule& schedule, double alpha) {
  double seconds = 0;
  std::vector<Channel> route, used;
  std::vector<double> bytes(network.channels(), 0);
  std::vector<std::uint32_t> sends(alpha > 0 ? schedule.ranks() : 0, 0);
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    double longest = 0;
    std::uint32_t most_sends = 0;
    if (alpha > 0) {
      for (const Hop hop : schedule.phase(phase)) most_sends = std::max(most_sends, ++sends[hop.src]);
      for (const Hop hop : schedule.phase(phase)) sends[hop.src] = 0;
    }
    for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i) {
      const auto length = static_cast<double>(schedule.length(i));
      for (const Channel channel : network.find_route(schedule.hops()[i].src, schedule.hops()[i].dst, route)) {
        bytes[channel] += length;
        used.push_back(channel);
        longest = std::max(longest, bytes[channel] / network.rate(channel));
      }
    }
    for (const Channel channel : used) bytes[channel] = 0;
    used.clear();
    seconds += alpha * most_sends + longest;
  }
  return seconds;
}

namespace {

double seconds_by_places(const Network& network, const Schedule& schedule) {
  ChannelPlaces<double> places(network, 1, 0);                                // times at which they are free again
  std::vector<double> free(schedule.ranks(), 0), until(schedule.ranks(), 0);  // before, and with, this phase's sends
  std::vector<Channel> route;
  std::vector<std::uint32_t> order;
  double seconds = 0;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    order_by_sender(schedule, phase, order);
    for (const std::uint32_t i : order) {
      const auto [src, dst] = schedule.hops()[i];
      double start = free[src];
      for (const Channel channel : network.find_route(src, dst, route)) start = std::max(start, places.next(channel));
      const double end = start + static_cast<double>(schedule.length(i)) / own_speed(network, route);
      for (const Channel channel : route) places.take(channel, end);
      until[src] = std::max(until[src], end);
      seconds = std::max(seconds, end);
    }
    for (const auto& [src, dst] : schedule.phase(phase)) free[src] = until[src];
  }
  return seconds;
}

double seconds_by_shares(const Network& network, const Schedule& schedule, const SharedChannels& shared) {
  ChannelShares shares(network, schedule, shared, 1);
  OwnOrder own(schedule, 1);
  std::vector<Channel> route;
  std::vector<std::uint32_t> order;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
    order_by_sender(schedule, phase, order);
    for (const std::uint32_t i : order) {
      const auto [src, dst] = schedule.hops()[i];
      network.find_route(src, dst, route);
      own.push(src, i, first);
      shares.take(i, first, route, own.over(i), schedule.length(i), [](std::uint32_t) {});
    }
  }
  return shares.seconds();
}

/// The shortest of all, and the claiming that takes it; none: places.
struct Fastest {
  double seconds;
  std::optional<Claiming> claiming;
};

Fastest fastest(const Network& network, const Schedule& schedule, const ChannelSharing& sharing) {
  Fastest found{seconds_by_places(network, schedule), std::nullopt};
  for (const Claiming claiming : {Claiming::alike, Claiming::exactly})
    if (const double seconds = seconds_by_shares(network, schedule, sharing.by(claiming)); seconds < found.seconds)
      found = {seconds, claiming};
  return found;
}

}  // namespace

double token_seconds(const Network& network, const Schedule& schedule) {
  if (network.equal_rates()) {
    check_ranks(schedule);
    return seconds_by_places(network, schedule);
  }
  return token_seconds(network, schedule, ChannelSharing(network, each_transfer(network, schedule)));
}

double token_seconds(const Network& network, const Schedule& schedule, const ChannelSharing& sharing) {
  check_ranks(schedule);
  return fastest(network, schedule, sharing).seconds;
}

std::optional<Claiming> faster_claiming(const Network& network, const Schedule& schedule,
                                        const ChannelSharing& sharing) {
  return fastest(network, schedule, sharing).claiming;
}

}  // namespace hocket
