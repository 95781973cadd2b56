#include "runtime/choose/keeper.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {
namespace {

class Living {
 public:
  static Living& instance() {
    static Living& living = *new Living;  // outlives every thread
    return living;
  }

  void add(Keeper* keeper) {
    const std::lock_guard lock(mutex_);
    living_.insert(keeper);
  }
  void remove(Keeper* keeper) {
    const std::lock_guard lock(mutex_);
    living_.erase(keeper);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    for (Keeper* const keeper : living_) keeper->end();
  }

 private:
  std::mutex mutex_;
  std::set<Keeper*> living_;
};

/// Lives as long as MPI: what MPI_COMM_SELF has attached is deleted when it ends.
struct AtEnd {
  ~AtEnd() { Living::instance().end(); }
};

}  // namespace

Keeper::Keeper() {
  Living::instance().add(this);
  if (in_world() && Attached<AtEnd>::find(MPI_COMM_SELF) == nullptr)
    Attached<AtEnd>::attach(MPI_COMM_SELF, std::make_unique<AtEnd>());
}

Keeper::~Keeper() { Living::instance().remove(this); }

void Keeper::end() noexcept {
  if (std::exchange(ended_, true)) return;
  try {
    keep();
  } catch (const std::exception& problem) {
    say_once(std::string("the timings of this run are lost: ") + problem.what());
  } catch (const MpiFailure&) {
    say_once("the timings of this run are lost: MPI is over");
  }
}

}  // namespace hocket::runtime
