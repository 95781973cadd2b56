#include "runtime/team/setup.hpp"

#include <algorithm>
#include <mutex>

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/world.hpp"

namespace hocket::runtime {
namespace {

/// MPI has few communicators, of which each holds some.
constexpr std::size_t most_kept = 8;

/// Lives as long as MPI: what MPI_COMM_SELF has attached is deleted when it ends.
struct Kept {
  std::vector<std::unique_ptr<Setup>> setups;  ///< the oldest first
  ~Kept();
};

constinit std::mutex kept_mutex;
constinit Kept* all_kept = nullptr;

Kept::~Kept() {
  const std::lock_guard lock(kept_mutex);
  all_kept = nullptr;
}

}  // namespace

void keep(std::unique_ptr<Setup> setup) {
  std::unique_ptr<Setup> oldest;  // goes when others may keep again
  const std::lock_guard lock(kept_mutex);
  if (all_kept == nullptr) return;
  if (all_kept->setups.size() >= most_kept) {
    oldest = std::move(all_kept->setups.front());
    all_kept->setups.erase(all_kept->setups.begin());
  }
  all_kept->setups.push_back(std::move(setup));
}

std::unique_ptr<Setup> take_kept(const std::vector<int>& world_ranks) {
  const std::lock_guard lock(kept_mutex);
  if (all_kept == nullptr) all_kept = &Attached<Kept>::attach(MPI_COMM_SELF, std::make_unique<Kept>());
  auto& setups = all_kept->setups;
  const auto found = std::find_if(setups.rbegin(), setups.rend(),
                                  [&](const auto& setup) { return setup->world_ranks == world_ranks; });
  if (found == setups.rend()) return nullptr;
  std::unique_ptr<Setup> setup = std::move(*found);
  setups.erase(std::next(found).base());
  return setup;
}

}  // namespace hocket::runtime
