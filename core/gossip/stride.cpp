#include "core/gossip/stride.hpp"

#include <bit>
#include <numeric>

#include "core/error.hpp"

namespace hocket::gossip {

namespace {

enum class Way : std::uint8_t { forwards, backwards, halves };  ///< halves: one half each way

/// An offset that is new to everyone's set after a step.
struct Arrival {
  std::uint32_t colour = 0, offset = 0;
  std::uint32_t axis = 0;
  Way way = Way::forwards;
};

/// Offsets of the torus as numbers, with its axes longer than 1.
class Plane {
 public:
  explicit Plane(const std::vector<std::uint32_t>& sides) : grid_{sides, true} {
    for (std::uint32_t axis = 0; axis < sides.size(); ++axis) {
      stride_.push_back(grid_.stride(axis));
      if (sides[axis] > 1) axes_.push_back(axis);
    }
  }

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const std::vector<std::uint32_t>& axes() const { return axes_; }
  [[nodiscard]] bool cubic() const {
    return std::all_of(axes_.begin(), axes_.end(),
                       [&](std::uint32_t axis) { return grid_.sides[axis] == grid_.sides[axes_[0]]; });
  }

  [[nodiscard]] std::uint32_t difference(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t result = 0;
    for (const std::uint32_t axis : axes_) {
      const std::uint32_t side = grid_.sides[axis], step = stride_[axis];
      result += (a / step % side + side - b / step % side) % side * step;
    }
    return result;
  }
  [[nodiscard]] std::uint32_t opposite(std::uint32_t x) const { return difference(0, x); }
  /// Each coordinate moves on by so many axes. Only in a cube.
  [[nodiscard]] std::uint32_t rotated(std::uint32_t x, std::size_t by) const {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i)
      result += grid_.coordinate(x, axes_[i]) * stride_[axes_[(i + by) % axes_.size()]];
    return result;
  }

 private:
  Grid grid_;
  std::vector<std::uint32_t> axes_, stride_;
};

void check(const StridePlan& plan) {
  check_sides(plan.sides, 1u << 20);
  for (const StrideStep& step : plan.steps) {
    if (step.strides.size() != plan.sides.size()) throw InputError("StrideGos: a step needs a stride for each axis");
    if (step.turn < StrideStep::every_axis) throw InputError("StrideGos: a turn is -1 or more");
    for (std::size_t axis = 0; axis < plan.sides.size(); ++axis)
      if (step.strides[axis] > plan.sides[axis] / 2) throw InputError("StrideGos: a stride is at most half the side");
  }
}

/// Follows the offset sets of all colours through a plan.
class Walk {
 public:
  explicit Walk(const StridePlan& plan)
      : plan_(plan), plane_(plan.sides), space_(plan.sides), held_(plane_.axes().size(), space_.origin()) {
    const std::vector<StrideStep>& steps = plan.steps;
    rotate_ = !plane_.axes().empty() && plane_.cubic() &&
              std::all_of(steps.begin(), steps.end(), [&](const StrideStep& step) {
                const std::vector<std::uint32_t>& axes = plane_.axes();
                return std::all_of(axes.begin(), axes.end(),
                                   [&](std::uint32_t axis) { return step.strides[axis] == step.strides[axes[0]]; });
              });
  }

  [[nodiscard]] const Plane& plane() const { return plane_; }

  /// Executes a step and returns what arrives. Offsets x and -x always arrive from opposite ways, so that both ways of
  /// an axis carry the same.
  [[nodiscard]] std::vector<Arrival> advance(const StrideStep& step) {
    const std::size_t colours = plane_.axes().size();
    load_.assign(plan_.sides.size(), 0);
    std::vector<Arrival> arrivals;
    for (std::size_t colour = 0; colour < (rotate_ ? 1 : colours); ++colour) advance(step, colour, arrivals);
    if (rotate_) {
      // All colours do what the first one does, each along its own axes: so all axes carry the same.
      const std::size_t mine = arrivals.size();
      for (std::size_t colour = 1; colour < colours; ++colour)
        for (std::size_t i = 0; i < mine; ++i) {
          const Arrival a = arrivals[i];
          const auto at = std::find(plane_.axes().begin(), plane_.axes().end(), a.axis) - plane_.axes().begin();
          arrivals.push_back({static_cast<std::uint32_t>(colour), plane_.rotated(a.offset, colour),
                              plane_.axes()[(static_cast<std::size_t>(at) + colour) % colours], a.way});
        }
      const std::uint64_t sum = std::accumulate(load_.begin(), load_.end(), std::uint64_t{0});
      load_.assign(1, sum);
    }
    return arrivals;
  }

  /// The largest channel load of the last step.
  [[nodiscard]] double load() const {
    if (plane_.axes().empty()) return 0;
    return static_cast<double>(*std::max_element(load_.begin(), load_.end())) /
           (2.0 * static_cast<double>(plane_.axes().size()));
  }

  [[nodiscard]] bool complete() const {
    const std::size_t followed = rotate_ ? 1 : held_.size();
    return std::all_of(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(followed),
                       [&](const Bits& bits) { return count(bits) == space_.size(); });
  }

 private:
  void advance(const StrideStep& step, std::size_t colour, std::vector<Arrival>& arrivals) {
    const std::vector<std::uint32_t>& axes = plane_.axes();
    Bits& held = held_[colour];
    std::vector<Bits> forwards(axes.size()), backwards(axes.size());
    Bits next = held;
    std::vector<std::uint32_t> used;
    for (std::uint32_t i = 0; i < axes.size(); ++i) {
      if (step.turn != StrideStep::every_axis && (colour + static_cast<std::uint32_t>(step.turn)) % axes.size() != i)
        continue;
      const std::uint32_t s = step.strides[axes[i]];
      if (s == 0) continue;
      used.push_back(i);
      forwards[i] = backwards[i] = Bits(space_.words());
      space_.add_shifted(forwards[i], held, axes[i], s);
      space_.add_shifted(backwards[i], held, axes[i], plan_.sides[axes[i]] - s);
      for (std::size_t w = 0; w < next.size(); ++w) next[w] |= forwards[i][w] | backwards[i][w];
    }
    const auto has = [](const Bits& bits, std::uint32_t x) { return (bits[x / 64] >> x % 64 & 1) != 0; };

    // Offsets with the fewest axes to come along first; the others then even out the loads.
    std::vector<std::vector<std::uint32_t>> by_choice(axes.size() + 1);
    std::vector<std::uint32_t> choice;
    const auto choices = [&](std::uint32_t x) {
      choice.clear();
      for (const std::uint32_t i : used)
        if (has(forwards[i], x) || has(backwards[i], x)) choice.push_back(i);
    };
    for (std::uint32_t x = 0; x < space_.size(); ++x)
      if (has(next, x) && !has(held, x) && plane_.opposite(x) >= x) {
        choices(x);
        by_choice[choice.size()].push_back(x);
      }
    for (const std::vector<std::uint32_t>& offsets : by_choice)
      for (const std::uint32_t x : offsets) {
        choices(x);
        const std::uint32_t y = plane_.opposite(x), weight = x == y ? 1 : 2;
        const auto after = [&](std::uint32_t i) {
          return load_[axes[i]] + std::uint64_t{weight} * step.strides[axes[i]];
        };
        const std::uint32_t i =
            *std::min_element(choice.begin(), choice.end(), [&](auto a, auto b) { return after(a) < after(b); });
        load_[axes[i]] = after(i);
        const auto c = static_cast<std::uint32_t>(colour);
        if (x == y) {
          arrivals.push_back({c, x, axes[i], Way::halves});
        } else {
          const bool forward = has(forwards[i], x);
          arrivals.push_back({c, x, axes[i], forward ? Way::forwards : Way::backwards});
          arrivals.push_back({c, y, axes[i], forward ? Way::backwards : Way::forwards});
        }
      }
    held = std::move(next);
  }

  const StridePlan& plan_;
  Plane plane_;
  OffsetSpace space_;
  std::vector<Bits> held_;  ///< per colour
  bool rotate_ = false;
  std::vector<std::uint64_t> load_;  ///< per axis, both ways, in colours times places
};

}  // namespace

double stride_volume(const StridePlan& plan) {
  check(plan);
  Walk walk(plan);
  double volume = 0;
  for (const StrideStep& step : plan.steps) {
    (void)walk.advance(step);
    volume += walk.load();
  }
  return walk.complete() ? volume : -1;
}

Steps build_stride(const StridePlan& plan) {
  check(plan);
  Walk walk(plan);
  const Plane& plane = walk.plane();
  const std::uint32_t nodes = plane.grid().nodes();
  const auto colours = static_cast<std::uint32_t>(plane.axes().size());
  if (std::uint64_t{nodes} * nodes * colours > (std::uint64_t{1} << 26))
    throw InputError("StrideGos: the steps of so many processors do not fit into memory");

  Steps steps;
  steps.units = std::max(1u, 2 * colours);  // a colour may have to be halved
  std::vector<Parcel> content;
  for (const StrideStep& step : plan.steps) {
    const std::vector<Arrival> arrivals = walk.advance(step);
    for (const std::uint32_t axis : plane.axes())
      for (const Way way : {Way::forwards, Way::backwards}) {
        const auto s = static_cast<std::int32_t>(step.strides[axis]);
        const std::int32_t displacement = way == Way::forwards ? s : -s;
        std::vector<Arrival> mine;
        std::copy_if(arrivals.begin(), arrivals.end(), std::back_inserter(mine),
                     [&](const Arrival& a) { return a.axis == axis && (a.way == way || a.way == Way::halves); });
        if (mine.empty()) continue;
        for (std::uint32_t src = 0; src < nodes; ++src) {
          const std::uint32_t dst = plane.grid().moved(src, axis, displacement);
          content.clear();
          for (const Arrival& a : mine) {
            const std::uint32_t begin = 2 * a.colour, first = a.way == Way::halves && way == Way::backwards ? 1 : 0;
            const std::uint32_t length = a.way == Way::halves ? 1 : 2;
            content.push_back({plane.difference(dst, a.offset), begin + first, begin + first + length});
          }
          steps.add(src, axis, displacement, content);
        }
      }
    steps.end_step();
  }
  if (!walk.complete()) throw InputError("StrideGos: these strides do not reach everyone");
  return steps;
}

static void or_left(std::uint64_t* out, const std::uint64_t* in, const std::uint64_t* mask, std::uint64_t words,
                    std::uint64_t by) {
  const std::uint64_t whole = by / 64, bits = by % 64;
  if (whole >= words) return;
  if (bits == 0) {
    for (std::uint64_t i = whole; i < words; ++i) out[i] |= in[i - whole] & mask[i];
    return;
  }
  out[whole] |= (in[0] << bits) & mask[whole];
  for (std::uint64_t i = whole + 1; i < words; ++i)
    out[i] |= ((in[i - whole] << bits) | (in[i - whole - 1] >> (64 - bits))) & mask[i];
}

static void or_right(std::uint64_t* out, const std::uint64_t* in, const std::uint64_t* not_mask, std::uint64_t words,
                     std::uint64_t by) {
  const std::uint64_t whole = by / 64, bits = by % 64;
  if (whole >= words) return;
  const std::uint64_t last = words - 1 - whole;
  if (bits == 0) {
    for (std::uint64_t i = 0; i <= last; ++i) out[i] |= in[i + whole] & ~not_mask[i];
    return;
  }
  for (std::uint64_t i = 0; i < last; ++i)
    out[i] |= ((in[i + whole] >> bits) | (in[i + whole + 1] << (64 - bits))) & ~not_mask[i];
  out[last] |= (in[words - 1] >> bits) & ~not_mask[last];
}

OffsetSpace::OffsetSpace(std::vector<std::uint32_t> sides) : sides_(std::move(sides)), strides_(sides_.size()) {
  for (std::size_t axis = sides_.size(); axis-- > 0;) {
    strides_[axis] = size_;
    size_ *= sides_[axis];
  }
  words_ = (size_ + 63) / 64;
  for (const std::uint32_t side : sides_) at_least_.emplace_back(side);
}

Bits OffsetSpace::origin() const {
  Bits bits(words_);
  bits[0] = 1;
  return bits;
}

const Bits& OffsetSpace::at_least(std::uint32_t axis, std::uint32_t s) {
  Bits& bits = at_least_[axis][s];
  if (!bits.empty()) return bits;
  bits.resize(words_);
  const std::uint32_t stride = strides_[axis], period = stride * sides_[axis];
  for (std::uint32_t base = 0; base < size_; base += period)
    for (std::uint32_t x = base + s * stride; x < base + period; ++x) bits[x / 64] |= std::uint64_t{1} << x % 64;
  return bits;
}

void OffsetSpace::add_shifted(Bits& out, const Bits& in, std::uint32_t axis, std::uint32_t s) {
  const Bits& mask = at_least(axis, s);
  const std::uint64_t stride = strides_[axis];
  or_left(out.data(), in.data(), mask.data(), words_, s * stride);
  or_right(out.data(), in.data(), mask.data(), words_, (sides_[axis] - s) * stride);
}

void OffsetSpace::add_both(Bits& out, const Bits& in, std::uint32_t axis, std::uint32_t s) {
  add_shifted(out, in, axis, s);
  if (2 * s != sides_[axis]) add_shifted(out, in, axis, sides_[axis] - s);
}

std::uint32_t count(const Bits& bits) {
  std::uint32_t sum = 0;
  for (const std::uint64_t word : bits) sum += static_cast<std::uint32_t>(std::popcount(word));
  return sum;
}

}  // namespace hocket::gossip
