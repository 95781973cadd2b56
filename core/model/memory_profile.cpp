#include "core/model/memory_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/error.hpp"

namespace hocket {
namespace {

using Figures = std::span<const WorkFigure>;

constexpr int levels = 4;
constexpr int width_level = 1;

double coordinate(const WorkShape& shape, int level) {
  const std::array<double, levels> all{static_cast<double>(shape.ranks), static_cast<double>(shape.width),
                                       static_cast<double>(shape.parts), static_cast<double>(shape.bytes)};
  return all[static_cast<std::size_t>(level)];
}

/// Figures are sorted by shape, and equal in what comes before `level`.
double interpolate(Figures figures, int level, const WorkShape& shape) {
  if (level == levels) return figures[0].seconds;
  const double wanted = coordinate(shape, level);
  const auto not_below_of = [&](double value) {
    return std::partition_point(figures.begin(), figures.end(),
                                [=](const WorkFigure& f) { return coordinate(f.shape, level) < value; });
  };
  const auto group = [&](double value) {
    const auto begin = not_below_of(value);
    const auto end = std::partition_point(begin, figures.end(),
                                          [=](const WorkFigure& f) { return coordinate(f.shape, level) == value; });
    return interpolate({begin, end}, level + 1, shape);
  };
  const auto not_below = not_below_of(wanted);
  if (not_below == figures.end()) {
    const double last = coordinate(figures.back().shape, level);
    return group(last) * (level == width_level ? wanted / last : 1);
  }
  const double above = coordinate(not_below->shape, level);
  if (above == wanted || not_below == figures.begin()) return group(above);
  const double below = coordinate(std::prev(not_below)->shape, level);
  const double part = std::log(wanted / below) / std::log(above / below);
  return std::exp(std::lerp(std::log(group(below)), std::log(group(above)), part));
}

double turns(double ranks, double cores) { return std::max(1.0, ranks / cores); }

bool before(const WorkFigure& a, const WorkFigure& b) { return std::tie(a.work, a.shape) < std::tie(b.work, b.shape); }

}  // namespace

MemoryProfile::MemoryProfile(std::string origin, std::uint32_t cores, Wire wire, std::vector<WorkFigure> figures)
    : origin_(std::move(origin)), cores_(cores), wire_(wire), figures_(std::move(figures)) {
  for (const char c : origin_)
    if (static_cast<unsigned char>(c) < ' ') throw InputError("the origin of a memory profile is one line of text");
  if (cores_ == 0) throw InputError("a memory profile of a host without cores");
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(wire_.rate) || !positive(wire_.latency))
    throw InputError("the rate and the latency of the wire must be positive");
  std::sort(figures_.begin(), figures_.end(), before);
  std::size_t next = 0;
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const WorkFigure& f = figures_[i];
    if (f.shape.ranks == 0 || f.shape.width == 0 || f.shape.parts == 0 || f.shape.bytes == 0)
      throw InputError(std::string("a figure for ") + name(f.work) + " of 0 ranks, width, parts or bytes");
    if (!positive(f.seconds)) throw InputError(std::string("a figure for ") + name(f.work) + " that is not positive");
    if (i > 0 && !before(figures_[i - 1], f))
      throw InputError(std::string("two figures for ") + name(f.work) + " of the same shape");
    if (static_cast<std::size_t>(f.work) > next) break;
    next = static_cast<std::size_t>(f.work) + 1;
  }
  if (next < works)
    throw InputError(std::string("the memory profile has no figure for ") + name(static_cast<Work>(next)) +
                     "; calibrate again");
}

double MemoryProfile::seconds(Work work, const WorkShape& shape) const {
  const auto [begin, end] = std::equal_range(figures_.begin(), figures_.end(), WorkFigure{work, {}, 0},
                                             [](const WorkFigure& a, const WorkFigure& b) { return a.work < b.work; });
  const double measured = std::clamp<double>(shape.ranks, begin->shape.ranks, std::prev(end)->shape.ranks);
  return interpolate({begin, end}, 0, shape) * turns(shape.ranks, cores_) / turns(measured, cores_);
}

}  // namespace hocket
