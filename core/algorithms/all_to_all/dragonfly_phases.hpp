#pragma once
/// All-to-alls on full dragonflies, in closed form.
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/algorithms/shared/edge_colours.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Every group does the same in every phase, with other groups: each of its links to others carries a message of a
/// sender that is a first difference u of router numbers before the link's router, to a receiver a last difference v
/// behind the router at the link's other end. Links have colours, those of a router different ones in either
/// direction, and u and v follow from phase and colour. A link between routers that are u apart then carries the first
/// hop of one colour or the last hop of one, if no two colours of a phase have the same difference, first or last. So
/// a phase deals the pairs of a perfect matching of all differences out to colours. Messages with u = v come in no
/// matching: the first hop of one meets the last hop of another, in circles, whose messages take turns. Messages within
/// a group go by shifts of routers and hosts. Source: own.
///
/// A step is a stretch of phases with the same differences; in its phases hosts of the routers take turns. In a step a
/// link between routers carries messages of one lane, or none, in all phases; so the nearest user is in the phase next
/// to it, or at the end of a step next to it. A host's turn comes after as many phases as routers have hosts, at most.
class DragonflyPhases final : public ClosedForm {
 public:
  /// The reason why some messages of a phase would share a channel; empty if none do.
  [[nodiscard]] static std::string_view why_not(const Network& network);
  /// Requires that why_not() is empty.
  explicit DragonflyPhases(const Network& network);

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return first_phase(steps()); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override;
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override;
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    const std::uint32_t number = step_of(phase);
    return target(rank, step(number), phase - first_phase(number));
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    const std::uint32_t number = step_of(phase);
    return source(rank, step(number), phase - first_phase(number));
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override;
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override;

 private:
  static constexpr Rank nobody = ~Rank{0};

  enum class Kind : std::uint8_t {
    inside,  ///< within groups
    apart,   ///< between groups, by a matching: first and last difference are not the same
    alike,   ///< between groups, first and last difference are the same
  };
  struct Step {
    Kind kind;
    std::uint32_t shift;  ///< inside: of routers; else which colour comes first
    std::uint32_t batch;  ///< number of the batch of colours
    std::uint32_t round;  ///< apart: number of the round of the matchings
    bool turned;          ///< apart: which end of a pair comes first
    std::uint32_t turn;   ///< alike: of the circles' messages
  };
  [[nodiscard]] std::uint32_t steps() const { return first_step_.back(); }
  [[nodiscard]] std::uint64_t first_phase(std::uint32_t step) const {
    return step <= inside_ ? std::uint64_t{step} * hosts_
                           : inside_ * std::uint64_t{hosts_} + (step - inside_) * block();
  }
  [[nodiscard]] std::uint32_t step_of(std::uint64_t phase) const {
    const std::uint64_t within = std::uint64_t{inside_} * hosts_;
    return static_cast<std::uint32_t>(phase < within ? phase / hosts_ : inside_ + (phase - within) / block());
  }
  [[nodiscard]] Step step(std::uint32_t number) const;
  /// Overloads for a step known to the caller: `offset` counts phases from the step's first.
  [[nodiscard]] std::optional<Rank> target(Rank rank, const Step& step, std::uint64_t offset) const;
  [[nodiscard]] std::optional<Rank> source(Rank rank, const Step& step, std::uint64_t offset) const;
  /// Hosts of the routers that take part: `sender` and `receiver` are added to the colour. Within groups `receiver` is
  /// added to the sender's own number, and `sender` is not used.
  struct Hosts {
    std::uint32_t sender, receiver;
  };
  [[nodiscard]] Hosts hosts(const Step& step, std::uint64_t offset) const {
    const auto at = static_cast<std::uint32_t>(offset);
    return step.kind == Kind::inside ? Hosts{0, at} : Hosts{at / hosts_, at % hosts_};
  }

  /// A colour with its two differences.
  struct Lane {
    std::uint32_t colour, first, last;
  };
  /// The sender's host number for this difference, in a step within groups; a host of this number need not exist.
  [[nodiscard]] std::uint32_t sender_inside(const Step& step, std::uint32_t difference) const {
    return wrapped(difference + inside_ - step.shift, inside_);
  }
  /// The lane of a colour in a step between groups; none if the colour is not in the step's batch.
  [[nodiscard]] std::optional<Lane> lane_of(const Step& step, std::uint32_t colour) const;
  /// The lane with this first (`is_last`: last) difference, in a step between groups.
  [[nodiscard]] std::optional<Lane> lane_with(const Step& step, std::uint32_t difference, bool is_last) const;
  /// The lane, in a step between groups, in which the host with this number takes part, `added` being added to the
  /// colour: Hosts::sender to find where it sends, Hosts::receiver to find where it receives.
  [[nodiscard]] std::optional<Lane> lane_of_host(const Step& step, std::uint32_t host, std::uint32_t added) const;
  /// True if the link carries a message of this lane in this step.
  [[nodiscard]] bool takes_turn(const Step& step, const Lane& lane, Channel link) const {
    return step.kind != Kind::alike || turn_of(link, lane) == step.turn;
  }

  /// The number of a host that is so many behind another number.
  [[nodiscard]] std::uint32_t host_after(std::uint32_t number, std::uint32_t added) const {
    return wrapped((number < hosts_ ? number : number % hosts_) + added, hosts_);
  }
  /// Cyclic distance from a number to a host, modulo the hosts of a router: the inverse of host_after().
  [[nodiscard]] std::uint32_t host_before(std::uint32_t host, std::uint32_t number) const {
    return wrapped(host + hosts_ - (number < hosts_ ? number : number % hosts_), hosts_);
  }
  /// The number of a rank's router, and that of its host on the router.
  [[nodiscard]] std::uint32_t router(Rank rank) const { return place_[rank] / hosts_; }
  [[nodiscard]] std::uint32_t host(Rank rank) const { return place_[rank] % hosts_; }
  [[nodiscard]] Rank rank(std::uint32_t router, std::uint32_t host) const {
    return rank_at_[std::size_t{router} * hosts_ + host];
  }
  /// The link to another group of this colour that leaves a router, or comes to it.
  [[nodiscard]] Channel out(std::uint32_t router, std::uint32_t colour) const {
    return out_[std::size_t{router} * colours_ + colour];
  }
  [[nodiscard]] Channel in(std::uint32_t router, std::uint32_t colour) const {
    return in_[std::size_t{router} * colours_ + colour];
  }
  /// The router where a link begins, or where it leads.
  [[nodiscard]] std::uint32_t tail(Channel link) const { return dragonfly_->router(dragonfly_->tail(link)); }
  [[nodiscard]] std::uint32_t head(Channel link) const { return dragonfly_->router(dragonfly_->head(link)); }
  [[nodiscard]] std::uint32_t colour(std::uint32_t from, std::uint32_t to) const {
    return colour_[std::size_t{from} * groups_ + to];
  }
  /// Another router of the same group.
  [[nodiscard]] std::uint32_t beside(std::uint32_t router, std::uint32_t difference) const {
    const std::uint32_t place = router % routers_;
    return router - place + wrapped(place + difference, routers_);
  }
  /// Cyclic distance from the place of one router within its group to that of another.
  [[nodiscard]] std::uint32_t difference(std::uint32_t from, std::uint32_t to) const {
    return wrapped(to % routers_ + routers_ - from % routers_, routers_);
  }
  [[nodiscard]] std::uint32_t opposite(std::uint32_t difference) const {
    return difference == 0 ? 0 : routers_ - difference;
  }
  /// A sum of two remainders.
  [[nodiscard]] static std::uint32_t wrapped(std::uint32_t sum, std::uint32_t modulus) {
    return sum < modulus ? sum : sum - modulus;
  }
  [[nodiscard]] std::uint64_t block() const { return std::uint64_t{hosts_} * hosts_; }
  [[nodiscard]] std::uint32_t first_colour(std::uint32_t batch) const { return batch * at_once_; }
  [[nodiscard]] std::uint32_t colours_of(std::uint32_t batch) const;
  [[nodiscard]] std::uint32_t apart_steps() const { return 2 * matchings_.rounds() * matchings_.pairs(); }
  [[nodiscard]] std::uint8_t turn_of(Channel link, const Lane& lane) const {
    return turn_[(std::size_t{lane.first} * colours_ + lane.colour) * groups_ * routers_ + tail(link)];
  }
  [[nodiscard]] Lane lane(const Step& step, std::uint32_t number) const;
  /// The nearest user in a step, from an offset on (before: of those below it).
  [[nodiscard]] std::optional<PhasedMessage> in_step(Channel channel, std::uint32_t number, std::uint64_t offset,
                                                     Side side) const;
  /// The message that a channel between routers carries.
  [[nodiscard]] std::optional<PhasedMessage> over_link(Channel channel, const Step& step, std::uint64_t phase,
                                                       std::uint64_t offset) const;
  void colour_links();
  void deal_turns();

  std::shared_ptr<const Dragonfly> dragonfly_;
  std::uint32_t groups_, routers_, hosts_ = 0, colours_ = 0;
  Tournament matchings_;                                  ///< matchings of the differences
  std::uint32_t at_once_ = 0;                             ///< colours of a batch
  std::uint32_t inside_ = 0;                              ///< steps within groups
  std::vector<std::uint32_t> first_step_;                 ///< per batch, and the end
  std::vector<std::vector<std::uint32_t>> turns_before_;  ///< per batch and shift: steps of the kind alike; and all
  std::vector<std::uint32_t> place_;                      ///< per rank: router and host
  std::vector<Rank> rank_at_;                             ///< per place
  std::vector<Rank> rank_of_;                             ///< per node, or `nobody`
  std::vector<Channel> out_, in_;                         ///< per router and colour
  std::vector<std::uint16_t> colour_;                     ///< per two groups
  std::vector<std::uint8_t> turn_;                        ///< per difference, colour and router where the link begins
};

}  // namespace hocket
