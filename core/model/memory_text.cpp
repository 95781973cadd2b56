/// The text form of memory profiles: docs/formats.md.
#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/model/memory_profile.hpp"

namespace hocket {
namespace {

constexpr std::array<const char*, works> work_names = {
    "copy",  "strided-read", "strided-write", "gather",    "scatter",      "shared-gather", "shared-scatter",
    "pull",  "transpose",    "count",         "partition", "divide",       "classify",      "scan",
    "route", "split",        "regions",       "settle",    "scatter-once", "sort",          "library-sort",
    "pack",  "touch",        "shared-touch",  "message",   "meet",         "collective"};
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
  for (std::size_t i = 0; i < works; ++i)
    if (word == work_names[i]) return static_cast<Work>(i);
  line.fail("there is no work '" + std::string(word.substr(0, 40)) + "'");
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
