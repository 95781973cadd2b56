/// The senders: what each rank sends when, on top of the routers.
#include "wormhole.hpp"

#include <string>

#include "core/model/simulate.hpp"
#include "routers.hpp"

namespace hocket {
namespace {

using model::Happening;
using model::Routers;
using model::Ticks;

void check(const Network& network, const Schedule& schedule, FlowControl flow, const WormholeParameters& p) {
  const auto cost = [](double value, const char* what) {
    if (!(value >= 0 && value < std::numeric_limits<double>::infinity()))
      throw InputError(std::string(what) + " must be 0 or more seconds");
  };
  cost(p.alpha, "the per-message cost");
  cost(p.barrier, "the barrier time");
  cost(p.hop, "the time of a hop");
  const auto rate = [](double value, const char* what) {
    if (!(value >= 0 && value < 1e18)) throw InputError(std::string(what) + " must be bytes per second, or 0");
  };
  rate(p.injection_rate, "the injection rate");
  rate(p.ejection_rate, "the ejection rate");
  if (!(p.memory_rate > 0)) throw InputError("the memory rate must be positive");
  if (p.payload < 1 || p.payload > 1u << 30) throw InputError("a packet carries between 1 and 2^30 bytes");
  if (!(p.header >= 0 && p.header <= 1e6)) throw InputError("a packet header has between 0 and 10^6 bytes");
  if (p.train < 1 || p.train > 1u << 20) throw InputError("a train has between 1 and 2^20 packets");
  if (p.buffer < 1 || p.buffer > 1u << 16) throw InputError("a buffer holds between 1 and 65536 packets");
  if (p.lanes < 1 || p.lanes > 16) throw InputError("there are between 1 and 16 lanes");
  if (flow.kind == FlowControl::Kind::window)
    throw InputError("the wormhole model knows the flow controls barrier and free, not " + to_string(flow));
  model::check_fits(network, schedule);
}

class Senders {
 public:
  Senders(const Network& network, const Schedule& schedule, FlowControl flow, const WormholeParameters& parameters)
      : network_(network),
        schedule_(schedule),
        barrier_(flow.kind == FlowControl::Kind::barrier),
        p_(parameters),
        routers_(network, parameters),
        sends_(model::sends_of(schedule)),
        senders_(network.ranks()),
        result_(model::unsent(schedule)) {
    for (Rank rank = 0; rank < network.ranks(); ++rank) senders_[rank].left = sends_.of(rank);
    if (!barrier_) wait_for_pieces();
  }

  Simulation run() {
    if (barrier_)
      open_phase();
    else
      for (Rank rank = 0; rank < network_.ranks(); ++rank) post_next(rank, 0);
    std::vector<Happening> happenings;
    do {
      // The list may grow while it is read: no reference into it is kept.
      for (const Happening happening : happenings) take(happening);
      happenings.clear();
    } while (routers_.step(happenings));
    if (over_ != schedule_.size()) standstill();
    model::sum_up(schedule_, result_);
    result_.channel_bytes = routers_.channel_bytes();
    result_.channel_busy = routers_.channel_busy();
    return std::move(result_);
  }

 private:
  struct Sender {
    std::span<const std::uint32_t> left;  ///< transfers to be posted
    bool busy = false;
  };

  void wait_for_pieces() {
    pieces_ = model::forwarded_after(schedule_);
    pending_.assign(schedule_.size(), 0);
    for (const std::uint32_t transfer : pieces_.items) ++pending_[transfer];
  }

  /// The rank's next message, if it may go.
  void post_next(Rank rank, Ticks at) {
    Sender& sender = senders_[rank];
    if (sender.busy || sender.left.empty()) return;
    const std::uint32_t transfer = sender.left.front();
    if (barrier_ ? result_.phase[transfer] != phase_ : pending_[transfer] > 0) return;
    sender.left = sender.left.subspan(1);
    sender.busy = true;
    const Hop hop = schedule_.hops()[transfer];
    result_.posted[transfer] = routers_.seconds(at);
    routers_.send(transfer, hop.src, hop.dst, schedule_.length(transfer), at + routers_.ticks(p_.alpha));
  }

  void open_phase() {
    while (phase_ < schedule_.phases() && schedule_.phase(phase_).empty()) ++phase_;
    if (phase_ == schedule_.phases()) return;
    left_in_phase_ = schedule_.phase(phase_).size();
    const Ticks at = over_ == 0 ? 0 : routers_.now() + routers_.ticks(p_.barrier);
    for (const Hop& hop : schedule_.phase(phase_)) post_next(hop.src, at);
  }

  void take(Happening happening) {
    const std::uint32_t transfer = happening.tag;
    const Rank src = schedule_.hops()[transfer].src;
    switch (happening.kind) {
      case Happening::Kind::began:
        result_.start[transfer] = routers_.seconds(routers_.now());
        return;
      case Happening::Kind::left:
        if (!p_.blocking) go_on(src);
        return;
      case Happening::Kind::arrived:
        break;
    }
    result_.end[transfer] = routers_.seconds(routers_.now());
    ++over_;
    if (p_.blocking) go_on(src);
    if (barrier_) {
      if (--left_in_phase_ > 0) return;
      ++phase_;
      open_phase();
      return;
    }
    for (const std::uint32_t next : pieces_.of(transfer))
      if (--pending_[next] == 0) post_next(schedule_.hops()[next].src, routers_.now());
  }

  void go_on(Rank rank) {
    senders_[rank].busy = false;
    post_next(rank, routers_.now());
  }

  [[noreturn]] void standstill() const {
    if (routers_.messages_inside() == 0) throw InputError("transfers of the schedule wait for each other for ever");
    const std::uint32_t channel = routers_.blocked_channel();
    throw InputError("deadlock: " + std::to_string(routers_.messages_inside()) + " messages block each other" +
                     (channel < network_.channels() ? ", such as at channel " + network_.channel_name(channel) : "") +
                     "; a ring needs virtual channels (dateline), other networks routes without cycles");
  }

  const Network& network_;
  const Schedule& schedule_;
  const bool barrier_;
  const WormholeParameters p_;
  Routers routers_;
  Grouped pieces_;
  std::vector<std::uint32_t> pending_;  ///< per transfer: arrivals that bring what it forwards
  const Grouped sends_;
  std::vector<Sender> senders_;
  std::uint64_t phase_ = 0, left_in_phase_ = 0, over_ = 0;
  Simulation result_;
};

}  // namespace

Simulation simulate_wormhole(const Network& network, const Schedule& schedule, FlowControl flow,
                             const WormholeParameters& parameters) {
  check(network, schedule, flow, parameters);
  return Senders(network, schedule, flow, parameters).run();
}

}  // namespace hocket
