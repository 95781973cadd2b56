#include "core/gossip/cost.hpp"

#include "core/error.hpp"

namespace hocket::gossip {
namespace {

void append(Volumes& to, const Volumes& more) { to.insert(to.end(), more.begin(), more.end()); }

Volumes ins_volumes(std::uint32_t f, std::uint32_t b, double message, Ports ports) {
  if (f < 2) return {};
  const std::uint32_t chunks = ins_chunks(f, b, ports);
  if (ports == Ports::half_duplex && f > 2) b = 2 * (chunks - 1) + ceil_div(f, 2);
  return Volumes(b, message / chunks);
}

/// Enough rounds to go from gaps of `gap` to gaps of 1.
Volumes rounds_volumes(std::uint32_t gap, double message, const std::vector<Round>& rounds, Ports ports) {
  Volumes volumes;
  for (const Round& round : rounds) {
    if (round.factor < 2) throw InputError("a round must multiply the bridgeheads by at least 2");
    const std::uint32_t f = std::min(round.factor, gap);
    append(volumes, ins_volumes(f, round.steps, message, ports));
    gap = ceil_div(gap, f);
  }
  if (gap > 1) throw InputError("the rounds leave gaps of " + std::to_string(gap) + " between bridgeheads");
  return volumes;
}

/// Half duplex: every message goes around one way. A shift by one place takes a step for every class of
/// links that share no processor: two, three for odd c.
Volumes circ_half_duplex(std::span<const double> sizes, bool wraparound) {
  const std::size_t c = sizes.size();
  std::vector<double> messages(sizes.begin(), sizes.end());
  // An array is a ring folded flat: up over every second place, down over the others.
  for (std::size_t i = 0; i < c && !wraparound; ++i) messages[i % 2 == 0 ? i / 2 : c - 1 - i / 2] = sizes[i];
  Volumes volumes;
  for (std::size_t shift = 0; shift + 1 < c; ++shift) {
    const std::size_t first = volumes.size();
    volumes.resize(first + (c % 2 == 0 ? 2 : 3), 0);
    for (std::size_t i = 0; i < c; ++i) {
      double& volume = volumes[first + (c % 2 == 1 && i == c - 1 ? 2 : i % 2)];
      volume = std::max(volume, messages[(i + c - shift) % c]);
    }
  }
  return volumes;
}

}  // namespace

Cost sum(const Volumes& volumes) {
  Cost cost{volumes.size(), 0};
  for (const double volume : volumes) cost.volume += volume;
  return cost;
}

Volumes side_by_side(Volumes a, const Volumes& b) {
  if (a.size() < b.size()) a.resize(b.size(), 0);
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

Volumes conc_volumes(std::uint32_t g, double message, Ports ports) {
  // From the last step, which sends the outer parts to the head of the centre, back to the first. The
  // centre is never smaller than another part, so that its steps have the largest messages.
  Volumes volumes;
  while (g > 1) {
    std::uint32_t sent = g / 2, centre = g - g / 2;
    if (ports == Ports::all) {
      const std::uint32_t j = g / 3;
      const bool rounded_up = g % 3 == 2 && j % 2 == 0;  // (j+1, j+1, j); else (j, g − 2j, j)
      sent = rounded_up ? j + 1 : j;
      centre = g - j - sent;
    }
    volumes.push_back(sent * message);
    g = centre;
  }
  std::reverse(volumes.begin(), volumes.end());
  return volumes;
}

Volumes circ_volumes(std::span<const double> messages, Model model) {
  if (model.ports == Ports::half_duplex) return circ_half_duplex(messages, model.wraparound);
  const std::size_t c = messages.size();
  const auto largest = [&](std::size_t first, std::size_t last) {
    return *std::max_element(messages.begin() + first, messages.begin() + last);
  };
  Volumes volumes;
  if (model.wraparound) {
    if (c > 1) volumes.assign(c / 2, largest(0, c));
    if (c > 1 && c % 2 == 0) volumes.back() /= 2;
  } else {
    for (std::size_t step = 1; step < c; ++step) volumes.push_back(std::max(largest(0, c - step), largest(step, c)));
  }
  return volumes;
}

Cost conc_cost(std::uint32_t g, double message, Ports ports) {
  if (ports == Ports::half_duplex) return {ceil_log(2, g), (g - 1) * message};
  return {ceil_log(3, g), g / 2 * message};
}

Cost circ_cost(std::uint32_t c, double message) { return {c / 2, c > 0 ? (c - 1) * message / 2 : 0}; }

std::uint32_t ins_chunks(std::uint32_t f, std::uint32_t b, Ports ports) {
  const std::uint32_t least = ports == Ports::half_duplex ? ceil_div(f, 2) : f / 2;
  if (b < least || b == 0)
    throw InputError("a round of factor " + std::to_string(f) + " needs at least " + std::to_string(least) + " steps");
  if (ports == Ports::all) return 2 * b - f + 2;
  return f == 2 ? b : (b - least) / 2 + 1;
}

Cost ins_cost(std::uint32_t f, std::uint32_t b, double message, Ports ports) {
  return sum(ins_volumes(f, b, message, ports));
}

std::vector<Cell> bridgehead_cells(std::uint32_t n, std::uint32_t a, bool wraparound) {
  if (a == 0 || a > n || (!wraparound && a < 2 && n > 1))
    throw InputError((wraparound ? "a ring of " : "a linear array of ") + std::to_string(n) + " cannot have " +
                     std::to_string(a) + " bridgeheads");
  std::vector<Cell> cells(a);
  const auto share = [&](std::uint32_t i, std::uint32_t of, std::uint32_t parts) {
    return static_cast<std::uint32_t>(std::uint64_t{i} * of / parts);
  };
  for (std::uint32_t i = 0; i < a; ++i) {
    Cell& cell = cells[i];
    if (wraparound) {
      cell.first = share(i, n, a);
      cell.size = share(i + 1, n, a) - cell.first;
      cell.head = cell.first + cell.size / 2;
    } else {
      cell.head = a == 1 ? 0 : share(i, n - 1, a - 1);
      cell.first = i == 0 ? 0 : cells[i - 1].first + cells[i - 1].size;
      const std::uint32_t next = i + 1 == a ? n : share(i + 1, n - 1, a - 1);
      cell.size = i + 1 == a ? n - cell.first : cell.head + (next - cell.head) / 2 + 1 - cell.first;
    }
  }
  return cells;
}

Volumes ring_volumes(std::uint32_t n, double message, const RingPlan& plan, Model model) {
  if (n == 0) throw InputError("a ring has at least one processor");
  if (plan.kind == RingPlan::approach1) return circ_volumes(std::vector<double>(n, message), model);
  if (plan.kind == RingPlan::approach2) {
    Volumes volumes = conc_volumes(n, message, model.ports);
    volumes.resize(2 * volumes.size(), n * message);
    return volumes;
  }
  const std::vector<Cell> cells = bridgehead_cells(n, plan.a, model.wraparound);
  const std::uint32_t gap = largest_gap(n, plan.a, model.wraparound);
  // All-port, a head takes half of the gap on each side; the cells at the ends of an array are smaller.
  std::uint32_t largest = model.ports == Ports::all ? gap : 0;
  std::vector<double> messages;
  for (const Cell& cell : cells) {
    messages.push_back(cell.size * message);
    largest = std::max(largest, model.ports == Ports::all ? 0 : cell.size);
  }
  Volumes volumes = conc_volumes(largest, message, model.ports);
  append(volumes, circ_volumes(messages, model));
  append(volumes, rounds_volumes(gap, n * message, plan.rounds, model.ports));
  return volumes;
}

Cost ring_cost(std::uint32_t n, double message, const RingPlan& plan, Model model) {
  return sum(ring_volumes(n, message, plan, model));
}

Cost high_dim_cost(std::span<const std::uint32_t> sides, const std::vector<std::vector<RingPlan>>& plans, bool coloured,
                   Model model) {
  const std::size_t d = sides.size();
  if (coloured && d > 1 && model.ports == Ports::half_duplex)
    throw InputError("colours need several messages at once; half duplex allows one");
  if (plans.size() != d) throw InputError("one plan, or one for every axis, is needed for each of the phases");
  const std::size_t colours = coloured ? d : 1;
  std::vector<double> held(colours, 1.0 / static_cast<double>(colours));
  Cost cost;
  for (std::size_t phase = 0; phase < d; ++phase) {
    if (plans[phase].size() != 1 && plans[phase].size() != d)
      throw InputError("a phase has one plan, or one for every axis");
    Volumes volumes;
    for (std::size_t colour = 0; colour < colours; ++colour) {
      const std::size_t axis = (colour + phase) % d;
      const RingPlan& plan = plans[phase][plans[phase].size() == 1 ? 0 : axis];
      volumes = side_by_side(std::move(volumes), ring_volumes(sides[axis], held[colour], plan, model));
      held[colour] *= sides[axis];
    }
    cost += sum(volumes);
  }
  return cost;
}

Cost cubgos_cost(std::span<const std::uint32_t> sides, std::uint32_t spacing, const std::vector<Round>& rounds,
                 bool coloured) {
  const std::size_t d = sides.size(), colours = coloured ? d : 1;
  if (d == 0 || spacing == 0) throw InputError("bridgeheads need a torus and a distance between them");
  for (const std::uint32_t side : sides)
    if (side % spacing != 0) throw InputError("the distance between bridgeheads must divide every side");
  std::vector<double> held(colours, spacing / static_cast<double>(colours));
  Cost cost = sum(conc_volumes(spacing, 1.0 / static_cast<double>(colours)));
  const auto circulate = [&](std::size_t i, auto&& holders) {
    Volumes volumes;
    for (std::size_t colour = 0; colour < colours; ++colour) {
      const std::uint32_t c = holders(sides[(colour + i) % d]);
      volumes = side_by_side(std::move(volumes), circ_volumes(std::vector<double>(c, held[colour])));
      held[colour] *= c;
    }
    cost += sum(volumes);
  };
  for (std::size_t i = 0; i < d; ++i) circulate(i, [&](std::uint32_t side) { return side / spacing; });
  for (const Round& round : rounds) {
    if (round.factor < 2 || spacing % round.factor != 0)
      throw InputError("a round's factor must divide the distance between bridgeheads");
    cost += ins_cost(round.factor, round.steps, *std::max_element(held.begin(), held.end()));
    for (std::size_t i = 1; i < d; ++i) circulate(i, [&](std::uint32_t) { return round.factor; });
    spacing /= round.factor;
  }
  if (spacing != 1) throw InputError("the rounds leave processors that are no bridgeheads");
  return cost;
}

Cost cubgos_cost(std::uint32_t n, std::uint32_t d, std::uint32_t a, const std::vector<Round>& rounds, bool coloured) {
  if (a == 0 || n % a != 0) throw InputError("the bridgeheads must divide the side");
  return cubgos_cost(std::vector<std::uint32_t>(d, n), n / a, rounds, coloured);
}

Cost black_white_cost(std::uint32_t rows, std::uint32_t columns) {
  if (rows % 2 != 0 || columns % 2 != 0 || rows == 0 || columns == 0)
    throw InputError("black and white processors need even sides");
  constexpr Model model{true, Ports::half_duplex};
  // Rows of a block, then its columns.
  Cost cost = Cost{2, 2} + Cost{2, 4};
  const auto phase = [&](double white, double black, std::uint32_t whites, std::uint32_t blacks) {
    cost += sum(side_by_side(circ_volumes(std::vector<double>(whites, white), model),
                             circ_volumes(std::vector<double>(blacks, black), model)));
  };
  phase(4, 4, columns / 2, rows / 2);
  phase(2 * columns, 2 * rows, rows / 2, columns / 2);
  return cost;
}

}  // namespace hocket::gossip
