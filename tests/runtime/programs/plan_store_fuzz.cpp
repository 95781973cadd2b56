/// Reads damaged copies of a plan as a rank would. Usage: plan_store_fuzz PLAN COPY TIMES
/// Prints how many were refused and how many serve; exits with 1 if one serves that says other than the whole plan.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "hocket/error.hpp"
#include "runtime/plan/plan_store.hpp"

using namespace hocket;
using namespace hocket::runtime;

namespace {

using Text = std::vector<char>;

Text damaged(Text bytes, std::mt19937& draw) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(draw); };
  switch (below(4)) {
    case 0:  // truncated
      bytes.resize(below(bytes.size()));
      return bytes;
    case 1:  // bits
      for (std::size_t i = 0; i <= below(4); ++i) bytes[below(bytes.size())] ^= static_cast<char>(1U << below(8));
      return bytes;
    case 2:  // a block of something else
      for (std::size_t at = below(bytes.size()), i = 0; i < 16 && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<char>(below(256));
      return bytes;
    default:  // the head, where version and sizes stand
      bytes[below(64)] = static_cast<char>(below(256));
      return bytes;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::ifstream file(argv[1], std::ios::binary);
  const Text whole(std::istreambuf_iterator<char>(file), {});
  Settings settings = runtime::settings();
  settings.placement = "order";
  settings.plan_paths = {argv[1]};
  const PlanStore right(settings);
  const std::vector<std::uint32_t> ranks = right.network().spec().ranks;
  settings.plan_paths = {argv[2]};
  std::mt19937 draw(1);
  int refused = 0, serve = 0, wrong = 0;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    const Text bytes = damaged(whole, draw);
    std::ofstream(argv[2], std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const PlanStore store(settings);
    if (store.node() < 0) {
      wrong += store.placement().problem.empty() ? 1 : 0;
      ++refused;
      continue;
    }
    try {
      const CallKind kind{&find_collective("all-to-all")};
      for (Rank rank = 0; rank < right.network().ranks(); ++rank) (void)store.program(kind, ranks, rank);
      wrong += store.digest() == right.digest() ? 0 : 1;
      ++serve;
    } catch (const InputError&) {
      ++refused;
    }
  }
  std::printf("%d %d\n", refused, serve);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
