#include "core/order/units.hpp"

#include <algorithm>
#include <tuple>

namespace hocket::order {

UnitGraph graph_of(const Units& units, std::span<const Call> calls) {
  std::vector<Unit> unit_of;
  for (Unit unit = 0; unit < units.size(); ++unit)
    for (const Rank rank : units.ranks[unit]) {
      if (rank >= unit_of.size()) unit_of.resize(rank + 1);
      unit_of[rank] = unit;
    }
  std::vector<std::tuple<Unit, Unit, double>> pairs;
  for (const Call& call : calls)
    for (const Step& step : call.steps)
      for (const Message& one : step.messages) {
        const Unit a = unit_of[one.src], b = unit_of[one.dst];
        if (a == b) continue;
        const double bytes = static_cast<double>(one.bytes) * call.weight;
        pairs.emplace_back(a, b, bytes);
        pairs.emplace_back(b, a, bytes);
      }
  std::ranges::sort(pairs);
  UnitGraph graph;
  std::size_t i = 0;
  for (Unit unit = 0; unit < units.size(); ++unit) {
    while (i < pairs.size() && std::get<0>(pairs[i]) == unit) {
      const auto [from, to, bytes] = pairs[i++];
      if (graph.edges.size() > graph.begin.back() && graph.edges.back().to == to)
        graph.edges.back().bytes += bytes;
      else
        graph.edges.push_back({to, bytes});
    }
    graph.begin.push_back(graph.edges.size());
  }
  return graph;
}

}  // namespace hocket::order
