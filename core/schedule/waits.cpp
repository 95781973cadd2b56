#include "core/schedule/waits.hpp"

#include <functional>

#include "core/limits.hpp"
#include "core/progress/progress.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {

namespace {

constexpr std::uint32_t none = OwnOrder::none;

/// True if in no phase a channel carries more messages than its capacity.
bool places_suffice(const Network& network, const Schedule& schedule) {
  std::vector<std::uint32_t> taken(network.channels(), 0);
  std::vector<Channel> route;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    route.clear();
    for (const Hop hop : schedule.phase(phase)) network.append_route(hop.src, hop.dst, route);
    bool enough = true;
    for (const Channel channel : route) enough = ++taken[channel] <= network.capacity(channel) && enough;
    if (!enough) return false;
    for (const Channel channel : route) taken[channel] = 0;
  }
  return true;
}

/// Removes waits that follow from later ones. What has started or is over before a transfer starts
/// is searched backwards along the waits already kept and each sender's own order, latest transfer
/// first, for a bounded number of steps: a redundant wait may survive (it costs a token), a needed
/// one is never removed.
class Reducer {
 public:
  Reducer(std::uint64_t transfers, const Waits& waits, const OwnOrder& own)
      : waits_(waits), own_(own), started_(transfers, none), over_(transfers, none) {}

  /// `before`: candidates of `transfer`, latest first. Keeps the needed ones.
  void reduce(std::uint32_t transfer, std::vector<std::uint32_t>& before) {
    frontier_.clear();
    steps_ = 0;
    const std::uint32_t oldest = before.back();
    visit_own(transfer, transfer, oldest);
    std::size_t kept = 0;
    for (const std::uint32_t candidate : before) {
      while (!frontier_.empty() && frontier_.front() > candidate && steps_ < max_steps) expand(transfer, oldest);
      if (over_[candidate] == transfer) continue;
      before[kept++] = candidate;
      visit_over(transfer, candidate, oldest);
    }
    before.resize(kept);
  }

 private:
  static constexpr int max_steps = 64;

  void visit(std::uint32_t transfer, std::uint32_t node, std::uint32_t oldest) {
    if (node == none || node < oldest || started_[node] == transfer) return;
    started_[node] = transfer;
    frontier_.push_back(node);
    std::push_heap(frontier_.begin(), frontier_.end());
  }

  void visit_over(std::uint32_t transfer, std::uint32_t node, std::uint32_t oldest) {
    if (node != none) over_[node] = transfer;
    visit(transfer, node, oldest);
  }

  void visit_own(std::uint32_t transfer, std::uint32_t node, std::uint32_t oldest) {
    visit_over(transfer, own_.over(node), oldest);
    visit(transfer, own_.started(node), oldest);
  }

  void expand(std::uint32_t transfer, std::uint32_t oldest) {
    std::pop_heap(frontier_.begin(), frontier_.end());
    const std::uint32_t node = frontier_.back();
    frontier_.pop_back();
    ++steps_;
    for (const std::uint32_t earlier : waits_.of(node)) visit_over(transfer, earlier, oldest);
    visit_own(transfer, node, oldest);
  }

  const Waits& waits_;
  const OwnOrder& own_;
  std::vector<std::uint32_t> started_, over_;  ///< last transfer whose search found that
  std::vector<std::uint32_t> frontier_;
  int steps_ = 0;
};

}  // namespace

Waits derive_waits(const Network& network, const Schedule& schedule, std::uint32_t window,
                   const ChannelSharing* sharing) {
  check_ranks(schedule);
  if (schedule.ranks() != network.ranks()) throw InputError("schedule and network differ in the number of ranks");
  if (window <= 1 && schedule.ranks() > limits::most_ranks_searched_for_waits)
    if (std::optional<Waits> local = local_waits(network, schedule)) return *std::move(local);
  Waits waits;
  waits.window = std::max(window, 1u);
  waits.begin.assign(schedule.size() + 1, 0);
  ChannelPlaces<std::uint32_t> places(network, waits.window, none);  // the transfers that took them
  std::optional<ChannelSharing> of_schedule;
  std::optional<SharedChannels> alone;
  std::optional<ChannelShares> shares;
  if (!network.equal_rates()) {
    if (sharing == nullptr) sharing = &of_schedule.emplace(network, each_transfer(network, schedule));
    const std::optional<Claiming> claiming = faster_claiming(network, schedule, *sharing);
    const SharedChannels* claims = claiming ? &sharing->by(*claiming) : nullptr;
    // In some phases more messages go at once than there are places, or than may claim their usual parts.
    if (claims != nullptr ? !claims->suffice(schedule) : !places_suffice(network, schedule))
      if (alone.emplace(network).suffice(schedule)) claims = &*alone;
    if (claims != nullptr) shares.emplace(network, schedule, *claims, waits.window);
  }
  OwnOrder own(schedule, waits.window);
  Reducer reducer(schedule.size(), waits, own);
  std::vector<Channel> route;
  std::vector<std::uint32_t> order;
  std::vector<std::vector<std::uint32_t>> before;  // per transfer of the phase
  Steps steps("deriving waits", schedule.size());
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
    const auto end = static_cast<std::uint32_t>(schedule.phase_begin()[phase + 1]);
    order_by_sender(schedule, phase, order);
    if (before.size() < order.size()) before.resize(order.size());
    for (const std::uint32_t transfer : order) {
      steps.tick();
      const Hop hop = schedule.hops()[transfer];
      auto& mine = before[transfer - first];
      mine.clear();
      network.find_route(hop.src, hop.dst, route);
      own.push(hop.src, transfer, first);
      const std::uint32_t own_over = own.over(transfer);
      const auto wait = [&](std::uint32_t earlier) {
        const bool by_own_order = schedule.hops()[earlier].src == hop.src && own_over != none && earlier <= own_over;
        if (!by_own_order) mine.push_back(earlier);
      };
      if (shares) {
        shares->take(transfer, first, route, own_over, schedule.length(transfer), wait);
        continue;
      }
      for (const Channel channel : route) {
        const std::uint32_t earlier = places.next(channel);  // must be over before this one may use the channel
        places.take(channel, transfer);
        if (earlier != none && earlier < first) wait(earlier);
      }
    }
    for (std::uint32_t transfer = first; transfer < end; ++transfer) {
      auto& mine = before[transfer - first];
      if (!mine.empty()) {
        std::sort(mine.begin(), mine.end(), std::greater<>());
        mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        waits.derived += mine.size();
        reducer.reduce(transfer, mine);
        waits.before.insert(waits.before.end(), mine.begin(), mine.end());
      }
      waits.begin[transfer + 1] = waits.before.size();
    }
  }
  return waits;
}

namespace {

constexpr std::uint32_t no_user = ~std::uint32_t{0};

bool has_local_waits(const Network& network, const Schedule& schedule) {
  const Shape shape = network.shape();
  const bool routes_in_closed_form = (shape != Shape::graph && shape != Shape::routed) ||
                                     network.fat_tree() != nullptr || network.dragonfly() != nullptr;
  return routes_in_closed_form && network.equal_rates() && schedule.direct() &&
         schedule.size() == std::uint64_t{schedule.ranks()} * (schedule.ranks() - 1);
}

/// Per channel: its last user, and the transfer that was last seen to come by, with the user before.
struct Use {
  std::uint32_t last = no_user, before = no_user;
};

}  // namespace

std::optional<Waits> local_waits(const Network& network, const Schedule& schedule) {
  if (!has_local_waits(network, schedule)) return std::nullopt;
  Waits waits;
  waits.begin.reserve(schedule.size() + 1);
  waits.begin.push_back(0);
  std::vector<Use> use(network.channels());
  std::vector<std::uint32_t> last_send(schedule.ranks(), no_user);
  std::vector<Channel> route, other;
  std::vector<std::uint32_t> mine;
  const auto hops = schedule.hops();
  Steps steps("deriving waits", schedule.size());
  std::uint64_t before_last = 0;  // the first transfer of the phase before
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
    for (auto i = first; i < schedule.phase_begin()[phase + 1]; ++i) {
      steps.tick();
      if (last_send[hops[i].src] != no_user && last_send[hops[i].src] >= first) return std::nullopt;
      last_send[hops[i].src] = i;
      route.clear();
      mine.clear();
      network.append_route(hops[i].src, hops[i].dst, route);
      for (const Channel channel : route) {
        Use& of = use[channel];
        of = {i, of.last};
        if (of.before == no_user) continue;
        if (of.before >= first) return std::nullopt;
        if (hops[of.before].src != hops[i].src) mine.push_back(of.before);
      }
      std::ranges::sort(mine, std::greater<>());
      mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
      waits.derived += mine.size();
      for (const std::uint32_t earlier : mine) {
        bool needed = true;
        if (earlier < before_last) {  // between neighbouring phases nobody else can have used a channel
          network.find_route(hops[earlier].src, hops[earlier].dst, other);
          needed = std::ranges::none_of(
              other, [&](Channel channel) { return use[channel].last == i && use[channel].before != earlier; });
        }
        if (needed) waits.before.push_back(earlier);
      }
      waits.begin.push_back(waits.before.size());
    }
    before_last = first;
  }
  return waits;
}

}  // namespace hocket
