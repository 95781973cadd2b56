#include "core/model/memory_profile.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <tuple>
#include <utility>

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

const MemoryProfile& MemoryProfile::built_in() {
  static const MemoryProfile profile = parse(R"(hocket memory profile 1
origin rough figures for a virtual server with two cores of an Intel Xeon, two ranks; estimated, not calibrated
cores 2
wire 125000000 5e-05
copy 2 1 1 1048576 5e-11
copy 2 1 1 268435456 2e-10
strided-read 2 8 1 268435456 8e-09
strided-write 2 8 1 268435456 1e-08
gather 2 8 1 1048576 1e-09
gather 2 8 1 268435456 6e-09
scatter 2 8 1 1048576 1.5e-09
scatter 2 8 1 268435456 1.2e-08
shared-gather 2 8 1 268435456 1.5e-08
shared-scatter 2 8 1 268435456 2e-08
pull 2 1 64 268435456 1e-09
pull 2 1 65536 268435456 2e-10
count 2 4 2048 268435456 9e-10
partition 2 4 2048 268435456 2.5e-09
partition 2 8 2048 268435456 3e-09
divide 2 8 2 268435456 2.5e-09
classify 2 8 1 268435456 2e-09
classify 2 8 64 268435456 8e-09
scan 2 8 1 1048576 1e-09
route 2 8 2 67108864 1e-09
route 2 8 2048 67108864 2e-09
split 2 8 2 67108864 4e-09
sort 2 4 1 1048576 8e-09
sort 2 4 1 268435456 1.2e-08
sort 2 16 1 1048576 1.2e-08
sort 2 16 1 268435456 2.5e-08
library-sort 2 4 1 262144 4e-09
library-sort 2 4 1 268435456 7e-09
pack 2 8 1 268435456 2e-09
touch 2 1 1 268435456 1.5e-10
shared-touch 2 1 1 268435456 4e-10
message 2 1 1 8 5e-07
message 2 1 1 4194304 2e-10
meet 2 1 1 1 5e-06
collective 2 1 1 1 1e-05
)");
  return profile;
}

/// The text form of memory profiles: docs/formats.md.

namespace {

constexpr std::array<const char*, works> work_names = {
    "copy",           "strided-read", "strided-write", "gather",    "scatter",      "shared-gather",
    "shared-scatter", "pull",         "count",         "partition", "divide",       "classify",
    "scan",           "route",        "split",         "sort",      "library-sort", "pack",
    "touch",          "shared-touch", "message",       "meet",      "collective"};
constexpr std::string_view header = "hocket memory profile 1";
constexpr std::size_t most_text = std::size_t{1} << 20;

/// One line, word by word.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : left_(text), number_(number) {}

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError("line " + std::to_string(number_) + " of the memory profile: " + problem);
  }

  std::string_view word(const char* what) {
    skip();
    const std::size_t length = std::min(left_.find_first_of(" \t"), left_.size());
    if (length == 0) fail(std::string(what) + " is missing");
    const std::string_view found = left_.substr(0, length);
    left_.remove_prefix(length);
    return found;
  }

  template <class Number>
  Number number(const char* what) {
    const std::string_view text = word(what);
    Number value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size())
      fail("'" + std::string(text.substr(0, 40)) + "' cannot be " + what);
    return value;
  }

  std::string_view rest() {
    skip();
    return std::exchange(left_, {});
  }

  void end() {
    skip();
    if (!left_.empty()) fail("'" + std::string(left_.substr(0, 40)) + "' is one word too many");
  }

 private:
  void skip() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t"), left_.size())); }

  std::string_view left_;
  std::size_t number_;
};

Work work_of(std::string_view word, const Line& line) {
  const auto known = std::ranges::find(work_names, word);
  if (known == work_names.end())
    line.fail("there is no work '" + std::string(word.substr(0, 40)) +
              "'; calibrate again if an earlier Hocket wrote it");
  return static_cast<Work>(known - work_names.begin());
}

std::string shortest(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

}  // namespace

const char* name(Work work) { return work_names[static_cast<std::size_t>(work)]; }

MemoryProfile MemoryProfile::parse(std::string_view text) {
  if (text.size() > most_text) throw InputError("a memory profile of more than 1 MiB");
  std::string origin;
  std::uint32_t cores = 0;
  Wire wire;
  std::vector<WorkFigure> figures;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t length = text.find('\n');
    std::string_view content = text.substr(0, length);
    text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
    content.remove_prefix(std::min(content.find_first_not_of(" \t"), content.size()));
    Line line(content, number);
    if (number == 1) {
      if (content != header) line.fail("a memory profile of this version begins with '" + std::string(header) + "'");
      continue;
    }
    if (content.empty() || content.starts_with('#')) continue;
    const std::string_view word = line.word("a name");
    if (word == "origin") {
      origin = line.rest();
    } else if (word == "cores") {
      cores = line.number<std::uint32_t>("a number of cores");
    } else if (word == "wire") {
      wire.rate = line.number<double>("a rate in bytes/s");
      wire.latency = line.number<double>("a latency in seconds");
    } else {
      WorkFigure figure{work_of(word, line), {}, 0};
      figure.shape.ranks = line.number<std::uint32_t>("a number of ranks");
      figure.shape.width = line.number<std::uint32_t>("a width in bytes");
      figure.shape.parts = line.number<std::uint64_t>("a number of parts");
      figure.shape.bytes = line.number<std::uint64_t>("a number of bytes");
      figure.seconds = line.number<double>("a number of seconds");
      figures.push_back(figure);
    }
    line.end();
  }
  return {std::move(origin), cores, wire, std::move(figures)};
}

std::string MemoryProfile::text() const {
  std::string out = std::string(header) + "\norigin " + origin_ + "\ncores " + std::to_string(cores_) + "\nwire " +
                    shortest(wire_.rate) + " " + shortest(wire_.latency) + "\n# work ranks width parts bytes seconds\n";
  for (const WorkFigure& figure : figures_) {
    out += name(figure.work);
    for (const std::uint64_t value :
         {std::uint64_t{figure.shape.ranks}, std::uint64_t{figure.shape.width}, figure.shape.parts, figure.shape.bytes})
      out += " " + std::to_string(value);
    out += " " + shortest(figure.seconds) + "\n";
  }
  return out;
}

}  // namespace hocket
