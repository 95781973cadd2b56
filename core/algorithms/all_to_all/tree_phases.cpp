#include "core/algorithms/all_to_all/tree_phases.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hocket {
namespace {

/// The root of the schedule: the node none of whose branches holds more than half of the ranks.
/// Its largest branch hangs on a bottleneck link (paper, section 4.1 and lemma 1).
Node find_root(const Network& network, const Tree& tree, const std::vector<std::uint64_t>& below) {
  const std::uint64_t all = network.ranks();
  Node root = tree.order.front();
  for (const Node node : tree.order)
    if (tree.parent[node] == root && 2 * below[node] > all) root = node;

  // Where a link parts the ranks in halves, both its ends will do. The paper's example takes the
  // one with fewer branches.
  Node other = root;
  for (const Node node : tree.order)
    if (tree.parent[node] == other && 2 * below[node] == all) other = node;
  const auto branches = [&](Node at) {
    std::uint64_t count = network.spec().ranks[at] + (below[at] < all ? 1 : 0);
    for (const Node node : tree.order) count += tree.parent[node] == at && below[node] > 0 ? 1 : 0;
    return count;
  };
  return other != root && branches(other) < branches(root) ? other : root;
}

std::uint64_t inverse_modulo(std::uint64_t value, std::uint64_t modulus) {
  std::int64_t t = 0, next_t = 1;
  auto r = static_cast<std::int64_t>(modulus), next_r = static_cast<std::int64_t>(value % modulus);
  while (next_r != 0) {
    const std::int64_t quotient = r / next_r;
    t = std::exchange(next_t, t - quotient * next_t);
    r = std::exchange(next_r, r - quotient * next_r);
  }
  return static_cast<std::uint64_t>(t < 0 ? t + static_cast<std::int64_t>(modulus) : t);
}

}  // namespace

TreePhases::TreePhases(const Network& network) {
  const Tree* tree = network.tree();
  if (tree == nullptr) throw InputError("the tree algorithm needs a tree of switches");
  std::vector<std::uint64_t> below(network.nodes(), 0);
  for (const Node host : network.hosts()) below[host] = network.spec().ranks[host];
  for (std::size_t i = tree->order.size(); i-- > 1;) below[tree->parent[tree->order[i]]] += below[tree->order[i]];
  root_ = find_root(network, *tree, below);
  const Node root = root_;

  // Top of every node: the neighbour of the root through which it is reached. Ranks on the root
  // itself are branches of their own.
  std::vector<Node> top(network.nodes(), root);
  for (Node node = root; tree->parent[node] != Tree::none; node = tree->parent[node])
    top[tree->parent[node]] = tree->parent[root];
  for (const Node node : tree->order) {
    const Node parent = tree->parent[node];
    if (parent == Tree::none || node == root || top[node] != root) continue;
    top[node] = parent == root ? node : top[parent];
  }

  // Number the branches by first rank, then sort by size, largest first; ties keep their order.
  constexpr auto unnumbered = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(network.nodes(), unnumbered);
  std::vector<std::uint64_t> size;
  branch_.resize(network.ranks());
  place_.resize(network.ranks());
  for (Rank rank = 0; rank < network.ranks(); ++rank) {
    const Node node = top[network.host_of(rank)];
    std::uint32_t branch = number[node];
    if (node == root || branch == unnumbered) {
      branch = static_cast<std::uint32_t>(size.size());
      number[node] = branch;
      size.push_back(0);
    }
    branch_[rank] = branch;
    place_[rank] = static_cast<std::uint32_t>(size[branch]++);
  }
  std::vector<std::uint32_t> order(size.size()), position(size.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return size[x] > size[y]; });
  before_.push_back(0);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    size_.push_back(size[order[i]]);
    before_.push_back(before_.back() + size_.back());
  }
  for (std::uint32_t& branch : branch_) branch = position[branch];

  phases_ = size_[0] * (network.ranks() - size_[0]);
  for (const std::uint64_t m : size_) {
    const std::uint64_t d = std::gcd(size_[0], m);
    rotation_.push_back({size_[0] / d * m, d, m == d ? 0 : inverse_modulo(size_[0] / d, m / d)});
  }
}

std::uint64_t TreePhases::phase(Rank src, Rank dst) const {
  const std::uint32_t i = branch_[src], j = branch_[dst];
  const std::uint32_t sender = place_[src], receiver = place_[dst];
  if (i == j) return local(i, sender, receiver);
  if (i == 0) return from_largest(sender, j, receiver);
  if (j == 0) return to_largest(i, sender, receiver);
  return start(i, j) + sender * size_[j] + receiver;  // broadcast pattern (steps 4 and 6)
}

/// Step 1, rotate pattern. With q counted from the first phase of the group and rotation r:
/// q ≡ sender − r (mod |M0|), q ≡ receiver + P − start (mod |Mj|), r·block <= q < (r+1)·block.
/// Exactly one r makes the two congruences agree modulo the gcd; the remainder theorem gives q.
std::uint64_t TreePhases::from_largest(std::uint32_t sender, std::uint32_t to, std::uint32_t receiver) const {
  const std::uint64_t m0 = size_[0], mj = size_[to], first = start(0, to);
  const auto [block, d, inverse] = rotation_[to];
  const std::uint64_t want = (receiver + phases_ - first % mj) % mj;
  const std::uint64_t r = (sender + d - want % d) % d;
  const std::uint64_t s = (sender + m0 - r) % m0;
  const std::uint64_t steps = ((want + mj - s % mj) % mj) / d * inverse % (mj / d);
  return first + r * block + s + m0 * steps;
}

std::uint32_t TreePhases::target_of_round(std::uint64_t round) const {
  // Group j of the largest branch spans rounds before_[j]-|M0| .. ; one round per machine of it.
  const auto it = std::upper_bound(before_.begin() + 1, before_.end(), round + size_[0]) - 1;
  return static_cast<std::uint32_t>(it - before_.begin());
}

std::uint64_t TreePhases::in_round(std::uint64_t round, std::uint32_t sender) const {
  const std::uint64_t m0 = size_[0];
  return round * m0 + (sender + m0 - rotation(round)) % m0;
}

/// Step 2: in round r the receiver in the largest branch is the sender's place + r + 1 (table 3),
/// and each sender of branch `from` has one whole round.
std::uint64_t TreePhases::to_largest(std::uint32_t from, std::uint32_t sender, std::uint32_t receiver) const {
  const std::uint64_t m0 = size_[0], round = start(from, 0) / m0 + sender;
  return in_round(round, static_cast<std::uint32_t>((receiver + 2 * m0 - 1 - round % m0) % m0));
}

/// Steps 3 and 5: a local message u -> v goes where v sends and u is the (designated) receiver of
/// messages that cross the root.
std::uint64_t TreePhases::local(std::uint32_t branch, std::uint32_t sender, std::uint32_t receiver) const {
  const std::uint64_t m = size_[branch];
  if (branch == 0) return in_round((sender + m - receiver - 1) % m, receiver);
  const std::uint64_t next = size_[branch - 1];
  const std::uint64_t first = phases_ - m * next + receiver * next;
  return first + (sender + phases_ - first) % m;
}

}  // namespace hocket
