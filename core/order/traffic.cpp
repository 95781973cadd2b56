#include "core/order/traffic.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace hocket::order {
namespace {

constexpr std::size_t most_steps = 48;  ///< doubling up to 2^22 ranks, there and back, has 44
constexpr std::size_t least_kept = 4, most_kept = 24;
constexpr std::size_t messages_kept = 400'000;  ///< of an algorithm with more steps than most_steps

}  // namespace

std::vector<const LibraryCall*> made_of_steps(Pattern pattern, Rank ranks, std::optional<std::uint64_t> block) {
  std::vector<const LibraryCall*> found;
  for (const LibraryCall& one : library_calls())
    if (one.pattern == pattern && one.steps != nullptr && (ranks < 2 || !one.steps(ranks).empty()) &&
        (!block || one.most_bytes == nullptr || *block <= one.most_bytes(ranks)))
      found.push_back(&one);
  return found;
}

Call native_call(const LibraryCall& algorithm, Rank ranks, double block, double weight) {
  const std::string name(algorithm.name);
  const std::vector<NativeStep> all = algorithm.steps == nullptr ? std::vector<NativeStep>{} : algorithm.steps(ranks);
  if (all.empty() && ranks > 1) throw InputError(name + " does not serve " + std::to_string(ranks) + " ranks");
  Call call{{}, weight};
  const std::size_t some = std::clamp(messages_kept / std::max<std::size_t>(ranks, 1), least_kept, most_kept);
  const std::size_t kept = all.size() <= most_steps ? all.size() : some;
  for (std::size_t i = 0; i < kept; ++i) {
    NativeStep form = all[(2 * i + 1) * all.size() / (2 * kept)];
    form.times *= static_cast<double>(all.size()) / static_cast<double>(kept);
    call.steps.push_back({form, form.blocks * block, {}});
  }
  return call;
}

Call demand_call(const Demand& demand, double weight) {
  if (!demand.by_matrix()) throw InputError("only an irregular demand is a list of messages");
  Step step;
  step.messages = demand.matrix.list();
  Call call{{}, weight};
  if (!step.messages.empty()) call.steps.push_back(std::move(step));
  return call;
}

}  // namespace hocket::order
