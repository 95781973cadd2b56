/// The plan store as a rank uses it.
///
/// plan_store damaged PLAN COPY TIMES: reads damaged copies of a plan. Prints how many were refused and how many serve;
/// exits with 1 if one serves that says other than the whole plan.
///
/// plan_store asked FILE: what ranks would run. For each line PLAN[:PLAN...] COLLECTIVE ROOT RANK[,RANK...] of the file
/// one line with algorithm, phases, window and the checksums of the ranks' rows, or "! " and what speaks against it.
#include "runtime/plan/plan_store.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "core/plan/program.hpp"

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

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

Settings with_plans(std::vector<std::string> paths) {
  Settings settings = runtime::settings();
  settings.placement = "order";
  settings.plan_paths = std::move(paths);
  return settings;
}

bool read_damaged(const char* plan, const char* copy, int times) {
  std::ifstream file(plan, std::ios::binary);
  const Text whole(std::istreambuf_iterator<char>(file), {});
  const PlanStore right(with_plans({plan}));
  const std::vector<std::uint32_t> ranks = right.network().spec().ranks;
  const Settings settings = with_plans({copy});
  std::mt19937 draw(1);
  int refused = 0, serve = 0, wrong = 0;
  for (int i = 0; i < times; ++i) {
    const Text bytes = damaged(whole, draw);
    std::ofstream(copy, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
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
  return wrong == 0;
}

void answer(const std::string& plans, const std::string& collective, Rank root, const std::string& ranks) {
  const PlanStore store(with_plans(parts_of(plans, ':')));
  std::vector<Planned> planned;
  bool direct = true;
  for (const std::string& rank : parts_of(ranks, ',')) {
    planned.push_back(store.program({&find_collective(collective), root}, store.network().spec().ranks,
                                    static_cast<Rank>(std::stoul(rank))));
    for (const auto& send : planned.back().program.sends) direct = direct && send.pieces.empty();
    for (const auto& receive : planned.back().program.receives) direct = direct && receive.pieces.empty();
  }
  std::printf("%s %llu %u", planned[0].algorithm.c_str(), static_cast<unsigned long long>(planned[0].phases),
              planned[0].window);
  for (const Planned& of_rank : planned)
    std::printf(" %016llx", static_cast<unsigned long long>(checksum(encode_program(of_rank.program, direct))));
  std::printf("\n");
}

void answer_all(const char* path) {
  std::ifstream asked(path);
  std::string plans, collective, ranks;
  for (Rank root = 0; asked >> plans >> collective >> root >> ranks;) {
    try {
      answer(plans, collective, root, ranks);
    } catch (const std::exception& problem) {
      std::printf("! %s\n", problem.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = true;
  if (std::strcmp(argv[1], "damaged") == 0)
    right = read_damaged(argv[2], argv[3], std::atoi(argv[4]));
  else
    answer_all(argv[2]);
  MPI_Finalize();
  return right ? 0 : 1;
}
