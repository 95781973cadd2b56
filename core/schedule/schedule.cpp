#include "core/schedule/schedule.hpp"

#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/of_thread.hpp"

namespace hocket {

Schedule::Schedule(std::uint32_t ranks, std::uint64_t message_bytes, std::vector<std::uint64_t> begin,
                   std::vector<Hop> hops, PieceLists pieces)
    : ranks_(ranks),
      bytes_(message_bytes),
      begin_(std::move(begin)),
      hops_(std::move(hops)),
      pieces_(std::move(pieces)) {
  bool ordered = !begin_.empty() && begin_.front() == 0 && begin_.back() == hops_.size();
  for (std::size_t p = 1; ordered && p < begin_.size(); ++p) ordered = begin_[p - 1] <= begin_[p];
  if (!ordered) throw InputError("the phases of a schedule do not cover its transfers in order");
  if (hops_.empty()) pieces_ = {};  // lists that nobody carries
  if (direct() && pieces_.pieces.empty() && pieces_.list.empty()) return;
  const std::size_t carried = pieces_.list.empty() ? pieces_.lists() : pieces_.list.size();
  ordered = carried == hops_.size() && std::ranges::is_sorted(pieces_.begin) && pieces_.begin.front() == 0 &&
            pieces_.begin.back() == pieces_.pieces.size() &&
            std::ranges::all_of(pieces_.list, [&](std::uint32_t list) { return list < pieces_.lists(); });
  if (!ordered) throw InputError("a schedule has pieces for some transfers only");
}

std::uint64_t Schedule::length(std::uint64_t transfer) const {
  if (direct()) return bytes_;
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces(transfer)) sum += piece.length;
  return sum;
}

void check_ranks(const Schedule& schedule) {
  for (const Hop& hop : schedule.hops())
    if (hop.src >= schedule.ranks() || hop.dst >= schedule.ranks())
      throw InputError("a transfer names a rank that the schedule does not have");
}

Schedule group_by_phase(std::uint32_t ranks, std::uint64_t message_bytes, std::uint64_t phases,
                        std::span<const std::uint32_t> phase_of, std::span<const Hop> hops) {
  std::vector<std::uint64_t> begin(phases + 1, 0);
  for (const std::uint32_t phase : phase_of) ++begin[phase + 1];
  for (std::uint64_t p = 0; p < phases; ++p) begin[p + 1] += begin[p];
  std::vector<std::uint64_t> fill(begin.begin(), begin.end() - 1);
  std::vector<Hop> sorted(hops.size());
  for (std::size_t i = 0; i < hops.size(); ++i) sorted[fill[phase_of[i]]++] = hops[i];
  return {ranks, message_bytes, std::move(begin), std::move(sorted)};
}

void ClosedForm::append_messages(std::uint64_t phase, std::vector<Hop>& messages) const {
  for (Rank rank = 0; rank < ranks(); ++rank)
    if (const auto dst = target(rank, phase)) messages.push_back({rank, *dst});
}

void find_awaited(const Network& network, const ClosedForm& form, const PhasedMessage& message, Side side,
                  std::vector<PhasedMessage>& kept) {
  struct Scratch {
    std::vector<Channel> route;
    std::vector<std::optional<PhasedMessage>> users;  // per channel of the route
  };
  auto& [route, users] = of_thread<Scratch>();  // looked up once
  route.clear();
  users.clear();
  network.append_route(message.src, message.dst, route);
  const auto apart = [&](const PhasedMessage& user) {
    return side == Side::before ? message.phase - user.phase : user.phase - message.phase;
  };
  for (const Channel channel : route) {
    // A user of the next phase is the nearest one on all of its channels.
    const bool same = !users.empty() && users.back() && apart(*users.back()) == 1 && form.uses(*users.back(), channel);
    users.push_back(same ? users.back() : form.user(channel, message.phase, side));
  }
  kept.clear();
  for (const auto& user : users) {
    if (!user || user->src == message.src || std::ranges::find(kept, *user) != kept.end()) continue;
    // Between neighbouring phases nobody else can have used a channel.
    const auto overtaken = [&](std::size_t i) { return users[i] != user && form.uses(*user, route[i]); };
    bool needed = true;
    for (std::size_t i = 0; apart(*user) > 1 && needed && i < route.size(); ++i) needed = !overtaken(i);
    if (needed) kept.push_back(*user);
  }
  std::ranges::sort(kept, [&](const PhasedMessage& x, const PhasedMessage& y) {
    const auto earlier = [](const PhasedMessage& a, const PhasedMessage& b) {
      return std::tie(a.phase, a.src) < std::tie(b.phase, b.src);
    };
    return side == Side::before ? earlier(y, x) : earlier(x, y);
  });
}

namespace {

/// Phases under construction, as a schedule keeps them. They carry what those of all-gathers do.
struct Phases {
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  PieceLists pieces;

  void add(Hop hop, std::uint32_t list) {
    hops.push_back(hop);
    pieces.list.push_back(list);
  }
  void end_phase() { begin.push_back(hops.size()); }
};

/// Sub-phases of transfers that may go together: a transfer goes into the first one in which its whole route is free,
/// by the number of transfers on a channel or by their speed.
class SubPhases {
 public:
  explicit SubPhases(const Network& network) : network_(network) {}

  std::size_t of(Hop hop) {
    const double speed = own_speed(network_, network_.find_route(hop.src, hop.dst, route_));
    std::size_t place = 0;
    while (place < used_.size() && !fits(place, speed)) ++place;
    if (place == used_.size()) used_.emplace_back(network_.channels());
    for (const Channel channel : route_) {
      ++used_[place][channel].transfers;
      used_[place][channel].speed += speed;
    }
    return place;
  }
  void end_phase() {
    for (auto& used : used_) std::ranges::fill(used, Use{});
  }

 private:
  struct Use {
    std::uint32_t transfers = 0;
    double speed = 0;  ///< bytes/s of all together
  };

  [[nodiscard]] bool fits(std::size_t place, double speed) const {
    return std::ranges::all_of(route_, [&](Channel channel) {
      const Use& use = used_[place][channel];
      return use.transfers < network_.capacity(channel) || use.speed + speed <= network_.rate(channel) * (1 + 1e-10);
    });
  }

  const Network& network_;
  std::vector<std::vector<Use>> used_;  ///< per place and channel
  std::vector<Channel> route_;
};

/// Turns the all-gather round; phases stay whole if there is no network.
Phases reduce_scatter_of(const Network* network, const Schedule& gather) {
  Phases turned;
  turned.pieces = {gather.piece_lists().begin, gather.piece_lists().pieces, {}};
  std::optional<SubPhases> sub_phases;
  if (network != nullptr && network->tree() == nullptr)
    sub_phases.emplace(*network);  // in a tree ways back are the same
  std::vector<std::vector<std::uint64_t>> together;
  for (std::uint64_t phase = gather.phases(); phase-- > 0;) {
    together.assign(1, {});
    for (std::uint64_t i = gather.phase_begin()[phase]; i < gather.phase_begin()[phase + 1]; ++i) {
      const Hop hop = gather.hops()[i];
      const std::size_t place = sub_phases ? sub_phases->of({hop.dst, hop.src}) : 0;
      if (place >= together.size()) together.resize(place + 1);
      together[place].push_back(i);
    }
    if (sub_phases) sub_phases->end_phase();
    for (const auto& transfers : together) {
      for (const std::uint64_t i : transfers) {
        const Hop hop = gather.hops()[i];
        turned.add({hop.dst, hop.src}, gather.piece_lists().list_of(i));
      }
      turned.end_phase();
    }
  }
  return turned;
}

/// Appends all phases once more, backwards, with senders and receivers exchanged.
void mirror(Phases& phases) {
  const std::vector<std::uint64_t> begin = phases.begin;
  for (std::size_t phase = begin.size() - 1; phase-- > 0;) {
    for (std::uint64_t i = begin[phase]; i < begin[phase + 1]; ++i) {
      const Hop hop = phases.hops[i];
      phases.add({hop.dst, hop.src}, phases.pieces.list[i]);
    }
    phases.end_phase();
  }
}

Schedule finish(Pattern reduction, const Schedule& gather, Phases phases) {
  if (reduction == Pattern::all_reduce) mirror(phases);
  return {gather.ranks(), gather.message_bytes(), std::move(phases.begin), std::move(phases.hops),
          std::move(phases.pieces)};
}

}  // namespace

Schedule turned(const Network& network, Pattern reduction, const Schedule& gather) {
  return finish(reduction, gather, reduce_scatter_of(&network, gather));
}

Schedule joined(const Schedule& reduce_scatter, const Schedule& gather) {
  const std::uint64_t phases = std::max(reduce_scatter.phases(), gather.phases());
  Phases both;
  both.begin.clear();
  for (const Schedule* half : {&reduce_scatter, &gather}) {
    both.begin.insert(both.begin.end(), phases - half->phases(), both.hops.size());
    const std::uint64_t before = both.hops.size();
    const PieceLists& lists = half->piece_lists();
    const std::uint32_t first_list = both.pieces.lists();
    for (std::uint32_t k = 0; k < lists.lists(); ++k) {
      both.pieces.pieces.insert(both.pieces.pieces.end(), lists.in(k).begin(), lists.in(k).end());
      both.pieces.end_list();
    }
    for (std::uint64_t i = 0; i < half->size(); ++i) both.add(half->hops()[i], first_list + lists.list_of(i));
    for (std::uint64_t phase = 0; phase < half->phases(); ++phase)
      both.begin.push_back(before + half->phase_begin()[phase]);
  }
  both.begin.push_back(both.hops.size());
  return {gather.ranks(), gather.message_bytes(), std::move(both.begin), std::move(both.hops), std::move(both.pieces)};
}

Schedule turned_in_steps(Pattern reduction, const Schedule& gather) {
  return finish(reduction, gather, reduce_scatter_of(nullptr, gather));
}

}  // namespace hocket
