/// Choices: what is told and kept when the calls are over.
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/choose/choices.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/report/report.hpp"
#include "runtime/report/report_table.hpp"

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

Choices::Choices(Members members) : members_(std::move(members)) {
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
  if (members_.rank != 0) return;
  std::vector<KeptTimings> learned;
  const auto add = [&](const Selection& selection, const Choice& choice) {
    std::optional<KeptTimings> measured = selection.learned();
    if (!measured) return;
    KeptTimings& timings = learned.emplace_back(std::move(*measured));
    timings.place = place_.digest;
    timings.call = call_name(choice.kind);
    timings.size_class = size_class(choice.sizes.bytes);
    timings.layout = layout_of(choice.kind, choice.sizes);
    timings.ranks = static_cast<std::uint32_t>(members_.size);
    timings.hosts = static_cast<std::uint32_t>(place_.hosts);
    timings.mpi = mpi_;
  };
  for (const Choice& choice : choices_) {
    tell(choice);
    if (choice.selection) add(*choice.selection, choice);
  }
  if (!learned.empty() && !place_.digest.empty()) keep_timings(place_.digest, learned);
}

void Choices::tell(const Choice& choice) const {
  ChoiceRow row{.collective = std::string(choice.kind.collective->name),
                .candidate = std::string(all_candidates[choice.candidate].name),
                .ranks = members_.size,
                .hosts = place_.hosts,
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
