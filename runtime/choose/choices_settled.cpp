/// Choices: who serves calls that are not timed, or that one candidate serves for good.
#include <algorithm>
#include <cstdint>

#include "core/limits.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/choose/small_costs.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

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
    const bool is_kept = members_.rank == 0 && settings().choose == Choose::learn && is_anything_kept(members_.size);
    if (slowest(comm, is_planned || is_kept ? 1 : 0) > 0) meet(comm);
  }
  return met_ ? settled(kind, bytes) : settled_[{kind, size_class(bytes)}] = &all_candidates[0];
}

const Candidate* Choices::settled_as_made(CallKind kind, std::size_t bytes) {
  if (!met_) return settled_.try_emplace({kind, size_class(bytes)}, &all_candidates[0]).first->second;
  const Candidate* const candidate = settled(kind, bytes);
  if (members_.made(kind, candidate != nullptr ? *candidate : as_planned) != nullptr) return candidate;
  return settled_[{kind, size_class(bytes)}] = &all_candidates[0];
}

const Candidate* Choices::settled(CallKind kind, std::size_t bytes) {
  const auto [found, is_new] = settled_.try_emplace({kind, size_class(bytes)}, &all_candidates[0]);
  if (!is_new || place_.digest.empty()) return found->second;
  const Candidate* const candidate = proven(kind, bytes);
  const bool as_planned = candidate == nullptr && bytes >= long_message_bytes();
  return found->second = as_planned || candidate != nullptr ? candidate : &all_candidates[0];
}

}  // namespace hocket::runtime
