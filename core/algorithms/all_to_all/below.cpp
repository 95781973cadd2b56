#include "core/algorithms/all_to_all/below.hpp"

namespace hocket::closed_forms {

Below::Below(const Network& network, const TreePhases& phases) : links_(network.spec().links.size()) {
  const Tree& tree = *network.tree();
  // The link towards the root of the schedule, per node: on the way from there to the root of the tree they turn round.
  std::vector<Channel> to_root(tree.up);
  for (Node node = phases.root(); tree.parent[node] != Tree::none; node = tree.parent[node])
    to_root[tree.parent[node]] = tree.up[node] ^ 1;
  const auto& specs = network.spec().links;
  const auto upper_end = [&](Node node) {
    const LinkSpec& link = specs[to_root[node] / 2];
    return link.a == node ? link.b : link.a;
  };
  const auto each_link = [&](Rank rank, auto visit) {
    for (Node node = network.host_of(rank); node != phases.root(); node = upper_end(node))
      visit(node, to_root[node] / 2);
  };

  // Ranks come in ascending places: below a link they are an interval if last and first are as far apart as there are.
  std::vector<std::uint32_t> last(links_.size(), 0);
  for (Rank rank = 0; rank < network.ranks(); ++rank)
    each_link(rank, [&](Node node, std::uint32_t at) {
      Link& link = links_[at];
      if (link.count++ == 0) {
        link.branch = phases.branch_of(rank);
        link.first = phases.place_of(rank);
        link.a_is_lower = specs[at].a == node;
      }
      last[at] = phases.place_of(rank);
    });
  std::uint64_t listed = 0;
  for (std::size_t at = 0; at < links_.size(); ++at) {
    Link& link = links_[at];
    if (link.count == 0 || last[at] - link.first + 1 == link.count) continue;
    link.listed = true;
    link.list = listed;
    listed += link.count;
  }
  if (listed == 0) return;
  lists_.resize(listed);
  std::vector<std::uint32_t> filled(links_.size(), 0);
  for (Rank rank = 0; rank < network.ranks(); ++rank)
    each_link(rank, [&](Node, std::uint32_t at) {
      if (links_[at].listed) lists_[links_[at].list + filled[at]++] = phases.place_of(rank);
    });
}

}  // namespace hocket::closed_forms
