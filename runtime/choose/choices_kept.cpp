/// Choices: who serves calls that are not timed, or that one candidate serves for good; what is told and kept when the
/// calls are over.
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {
namespace {

class Living {
 public:
  static Living& instance() {
    static Living living;
    return living;
  }

  void add(Choices* choices) {
    const std::lock_guard lock(mutex_);
    living_.insert(choices);
  }
  void remove(Choices* choices) {
    const std::lock_guard lock(mutex_);
    living_.erase(choices);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    for (Choices* const choices : living_) choices->end();
  }

 private:
  std::mutex mutex_;
  std::set<Choices*> living_;
};

/// Lives as long as MPI: what MPI_COMM_SELF has attached is deleted when it ends.
struct AtEnd {
  ~AtEnd() { Living::instance().end(); }
};

}  // namespace

const Candidate* Choices::fastest(CallKind kind, const MessageSizes& sizes) {
  const Choice* const choice = find(kind, sizes);
  if (choice == nullptr) return nullptr;
  const bool is_selected = choice->stage == Choice::Stage::selected;
  return &all_candidates[is_selected ? choice->offered[choice->selection->chooser().best()] : choice->candidate];
}

const Candidate* Choices::fastest(CallKind kind) {
  const Choice* most = nullptr;
  for (const Choice& choice : choices_)
    if (choice.kind == kind && (most == nullptr || choice.calls > most->calls)) most = &choice;
  return most != nullptr ? fastest(kind, most->sizes) : nullptr;
}

/// The candidate that this job, or an earlier one here, has found to be fastest; null: nothing is known.
const Candidate* Choices::proven(CallKind kind, std::size_t bytes) {
  const Choice* const choice = find(kind, {bytes});
  if (choice != nullptr && choice->stage != Choice::Stage::watched) return fastest(kind, {bytes});
  for (const KeptTimings& kept : timings_) {
    if (kept.call != call_name(kind) || kept.size_class != size_class(bytes)) continue;
    const auto winner = std::ranges::find(all_candidates, kept.winner, &Candidate::name);
    return winner != all_candidates.end() ? &*winner : nullptr;
  }
  return nullptr;
}

std::size_t Choices::long_message_bytes() {
  constexpr double times_the_alpha = 10;
  return static_cast<std::size_t>(times_the_alpha * limits::run_alpha * PlanStore::instance().network().host_rate());
}

/// The library's for good if the ranks need not meet for it: its calls are too short for that.
const Candidate* Choices::settled(MPI_Comm comm, CallKind kind, std::size_t bytes) {
  if (const auto known = settled_.find({kind, size_class(bytes)}); known != settled_.end()) return known->second;
  if (!met_ && is_long(bytes)) {
    // Until they have met, ranks may have read different networks.
    const bool is_planned = PlanStore::instance().has_network() && bytes >= long_message_bytes();
    const bool is_kept =
        members_.rank() == 0 && settings().choose == Choose::learn && is_anything_kept(members_.size());
    if (slowest(comm, is_planned || is_kept ? 1 : 0) > 0) meet(comm);
  }
  return met_ ? settled(kind, bytes) : settled_[{kind, size_class(bytes)}] = &all_candidates[0];
}

const Candidate* Choices::settled_as_made(CallKind kind, std::size_t bytes) {
  if (!met_) return settled_.try_emplace({kind, size_class(bytes)}, &all_candidates[0]).first->second;
  const Candidate* const candidate = settled(kind, bytes);
  if (members_.made_exchange(kind, candidate != nullptr ? *candidate : as_planned) != nullptr) return candidate;
  return settled_[{kind, size_class(bytes)}] = &all_candidates[0];
}

const Candidate* Choices::settled(CallKind kind, std::size_t bytes) {
  const auto [found, is_new] = settled_.try_emplace({kind, size_class(bytes)}, &all_candidates[0]);
  if (!is_new || place_.empty()) return found->second;
  const Candidate* const candidate = proven(kind, bytes);
  const bool as_planned = candidate == nullptr && bytes >= long_message_bytes();
  return found->second = as_planned || candidate != nullptr ? candidate : &all_candidates[0];
}

Choices::Choices(Members& members) : members_(members) {
  Living::instance().add(this);
  if (in_world() && Attached<AtEnd>::find(MPI_COMM_SELF) == nullptr)
    Attached<AtEnd>::attach(MPI_COMM_SELF, std::make_unique<AtEnd>());
}

Choices::~Choices() {
  end();
  Living::instance().remove(this);
}

void Choices::end() noexcept {
  if (!std::exchange(ended_, true)) keep_if_possible();
}

void Choices::begin_anew(MPI_Comm comm) {
  keep_if_possible();
  last_ = nullptr;
  choices_.clear();
  timings_.clear();
  if (std::exchange(met_, false)) meet(comm);
}

void Choices::keep_if_possible() const noexcept {
  try {
    keep();
  } catch (const std::exception& problem) {
    say_once(std::string("the timings of this run are lost: ") + problem.what());
  } catch (const MpiFailure&) {
    say_once("the timings of this run are lost: MPI is over");
  }
}

void Choices::keep() const {
  if (members_.rank() != 0) return;
  std::vector<KeptTimings> learned;
  const auto add = [&](const Selection& selection, const Choice& choice) {
    std::optional<KeptTimings> measured = selection.learned();
    if (!measured) return;
    KeptTimings& timings = learned.emplace_back(std::move(*measured));
    timings.place = place_;
    timings.call = call_name(choice.kind);
    timings.size_class = size_class(choice.sizes.bytes);
    timings.layout = layout_of(choice.kind, choice.sizes);
    timings.ranks = static_cast<std::uint32_t>(members_.size());
    timings.hosts = static_cast<std::uint32_t>((place_.empty() ? 0 : members_.hosts()));
    timings.mpi = mpi_;
  };
  for (const Choice& choice : choices_) {
    tell(choice);
    if (choice.selection) add(*choice.selection, choice);
  }
  if (!learned.empty() && !place_.empty()) keep_timings(place_, learned);
}

void Choices::tell(const Choice& choice) const {
  ChoiceRow row{.collective = std::string(choice.kind.collective->name),
                .candidate = std::string(all_candidates[choice.candidate].name),
                .ranks = members_.size(),
                .hosts = (place_.empty() ? 0 : members_.hosts()),
                .bytes = choice.sizes.bytes,
                .calls = choice.calls,
                .native = choice.native_seconds};
  if (choice.selection) {
    const Chooser& chooser = choice.selection->chooser();
    const std::size_t best = chooser.best();
    row.candidate = all_candidates[choice.offered[best]].name;
    row.trials = chooser.trials();
    row.native = chooser.beliefs()[0].timed > 0 ? chooser.beliefs()[0].seconds : choice.native_seconds;
    row.predicted = std::isfinite(choice.predicted[best]) ? choice.predicted[best] : 0;
    row.measured = chooser.beliefs()[best].timed > 0 ? chooser.beliefs()[best].seconds : 0;
  }
  note_choice(std::move(row));
}

}  // namespace hocket::runtime
