/// "proposals": the phases that the ranks of an exchange would agree on by themselves, all of them simulated here.
#include "hocket/schedulers/irregular/proposals.hpp"

#include <algorithm>
#include <bit>

#include "hocket/schedulers/entries.hpp"
#include "hocket/schedulers/irregular/whole_messages.hpp"

namespace hocket {
namespace {

/// Clocks of ranks that send each other small messages, step by step.
class Clocks {
 public:
  Clocks(std::uint32_t ranks, SmallMessage costs) : costs_(costs), now_(ranks, 0), came_(ranks, 0), sent_(ranks, 0) {}

  void send(Rank from, Rank to) {
    now_[from] += costs_.overhead;
    ++sent_[from];
    came_[to] = std::max(came_[to], now_[from] + costs_.latency);
    ++waiting_[to];
  }
  /// Everybody takes what was sent to it.
  void receive() {
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      if (waiting_[rank] > 0) now_[rank] = std::max(now_[rank], came_[rank]) + waiting_[rank] * costs_.overhead;
      waiting_[rank] = 0;
    }
  }
  void reduce_and_broadcast() {
    const auto steps = static_cast<double>(2 * std::bit_width(now_.size() - 1));
    const double done = latest() + steps * (2 * costs_.overhead + costs_.latency);
    std::ranges::fill(now_, done);
  }
  [[nodiscard]] double latest() const { return *std::ranges::max_element(now_); }
  [[nodiscard]] const std::vector<std::uint64_t>& sent() const { return sent_; }

 private:
  SmallMessage costs_;
  std::vector<double> now_, came_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint32_t> waiting_ = std::vector<std::uint32_t>(now_.size(), 0);
};

class Proposals {
 public:
  Proposals(const Demand& demand, std::uint64_t seed, SmallMessage costs)
      : matrix_(demand.matrix), clocks_(demand.ranks, costs) {
    in_begin_.assign(demand.ranks + 1, 0);
    matrix_.each([&](Rank, Rank dst, std::uint64_t) { ++in_begin_[dst + 1]; });
    for (Rank rank = 0; rank < demand.ranks; ++rank) {
      degree_ = std::max({degree_, static_cast<std::uint32_t>(in_begin_[rank + 1]), sends(rank)});
      in_begin_[rank + 1] += in_begin_[rank];
    }
    source_.resize(matrix_.messages());
    message_of_.resize(matrix_.messages());
    std::vector<std::uint64_t> next(in_begin_.begin(), in_begin_.end() - 1);
    std::uint64_t message = 0;
    matrix_.each([&](Rank src, Rank dst, std::uint64_t) {
      source_[next[dst]] = src;
      message_of_[next[dst]++] = message++;
      clocks_.send(src, dst);
    });
    clocks_.receive();
    clocks_.reduce_and_broadcast();
    proposals_.resize(message);
    replies_.resize(message);
    if (degree_ == 0) return;
    pace_ = ProposalPace(degree_);
    for (Rank rank = 0; rank < demand.ranks; ++rank)
      ranks_.emplace_back(sends(rank), receives(rank), pace_.phases(), proposal_seed(seed, rank));
  }

  ProposalRun run() {
    for (std::uint64_t left = matrix_.messages(); left > 0;) {
      for (std::uint32_t i = 0; i < pace_.rounds(); ++i) round();
      left = 0;
      for (const ProposingRank& rank : ranks_) left += rank.left();
      clocks_.reduce_and_broadcast();
      ++result_.counts;
      pace_.count(left);
      for (ProposingRank& rank : ranks_) rank.allow(pace_.phases());
    }
    for (Rank rank = 0; rank < ranks_.size(); ++rank) {
      for (std::uint32_t i = 0; i < sends(rank); ++i) result_.phase_of.push_back(ranks_[rank].send_phase(i));
      result_.bytes = std::max(result_.bytes, ranks_[rank].bytes());
    }
    for (const std::uint32_t phase : result_.phase_of) result_.phases = std::max(result_.phases, phase + 1);
    for (const std::uint64_t sent : clocks_.sent()) {
      result_.messages += sent;
      result_.most_messages = std::max(result_.most_messages, sent);
    }
    result_.seconds = clocks_.latest();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t sends(Rank rank) const {
    return static_cast<std::uint32_t>(matrix_.targets(rank).size());
  }
  [[nodiscard]] std::uint32_t receives(Rank rank) const {
    return static_cast<std::uint32_t>(in_begin_[rank + 1] - in_begin_[rank]);
  }

  void round() {
    const bool taking = pace_.taking();
    ++result_.rounds;
    for (Rank src = 0; src < ranks_.size(); ++src) {
      ranks_[src].propose(taking, std::span(proposals_).subspan(matrix_.first(src), sends(src)));
      const auto targets = matrix_.targets(src);
      for (std::uint32_t i = 0; i < targets.size(); ++i)
        if (ranks_[src].send_phase(i) == no_phase) clocks_.send(src, targets[i]);
    }
    clocks_.receive();
    std::vector<PhaseProposal> heard;
    std::vector<PhaseReply> said;
    for (Rank dst = 0; dst < ranks_.size(); ++dst) {
      heard.clear();
      for (std::uint64_t i = in_begin_[dst]; i < in_begin_[dst + 1]; ++i) heard.push_back(proposals_[message_of_[i]]);
      said.resize(heard.size());
      std::vector<bool> answers;
      for (std::uint32_t i = 0; i < heard.size(); ++i)
        answers.push_back(taking || ranks_[dst].receive_phase(i) == no_phase);
      ranks_[dst].reply(heard, said);
      for (std::uint32_t i = 0; i < heard.size(); ++i) {
        const std::uint64_t place = in_begin_[dst] + i;
        replies_[message_of_[place]] = said[i];
        if (answers[i]) clocks_.send(dst, source_[place]);
      }
    }
    clocks_.receive();
    for (Rank src = 0; src < ranks_.size(); ++src)
      ranks_[src].learn(taking, std::span(proposals_).subspan(matrix_.first(src), sends(src)),
                        std::span(replies_).subspan(matrix_.first(src), sends(src)));
  }

  const TrafficMatrix& matrix_;
  Clocks clocks_;
  std::uint32_t degree_ = 0;
  std::vector<std::uint64_t> in_begin_;    ///< per rank: the first of its receives
  std::vector<Rank> source_;               ///< per receive
  std::vector<std::uint64_t> message_of_;  ///< per receive: its number in the matrix
  ProposalPace pace_{1};
  std::vector<ProposingRank> ranks_;
  std::vector<PhaseProposal> proposals_;  ///< per message
  std::vector<PhaseReply> replies_;
  ProposalRun result_;
};

}  // namespace

ProposalRun run_proposals(const Demand& demand, std::uint64_t seed, SmallMessage costs) {
  return Proposals(demand, seed, costs).run();
}

Schedule algorithms::proposals(const Network&, const Demand& demand, const SchedulerOptions& options) {
  const ProposalRun run = run_proposals(demand, options.seed);
  return whole_messages(demand, run.phase_of, run.phases);
}

}  // namespace hocket
