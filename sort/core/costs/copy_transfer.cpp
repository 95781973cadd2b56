#include "sort/core/costs/copy_transfer.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr std::string_view omega = "\u03c9";

std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 60)) + "'"; }

/// Takes a word off the front; false if it is not there.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Takes an access off the front; false if there is none.
bool take_access(std::string_view& text, Access& access) {
  if (take(text, omega) || take(text, "w")) {
    access = {Access::Kind::indexed, 0};
  } else if (take(text, "s")) {
    access = {Access::Kind::any_stride, 0};
  } else {
    std::uint32_t stride = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), stride);
    if (problem != std::errc() || text[0] == '0') return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    access = {stride == 1 ? Access::Kind::contiguous : Access::Kind::strided, stride};
  }
  return true;
}

std::string text_of(const Access& access) {
  switch (access.kind) {
    case Access::Kind::indexed:
      return "w";
    case Access::Kind::any_stride:
      return "s";
    default:
      return std::to_string(access.stride);
  }
}

Access any_stride(const Access& access) {
  return access.kind == Access::Kind::strided ? Access{Access::Kind::any_stride, 0} : access;
}

}  // namespace

BasicTransfer BasicTransfer::parse(std::string_view text) {
  for (const Kind kind : {Kind::copy, Kind::send, Kind::receive, Kind::data, Kind::pairs}) {
    BasicTransfer found{kind, {}, {}};
    std::string_view left = text;
    if ((!found.reads() || take_access(left, found.read)) && take(left, found.sign()) &&
        (!found.writes() || take_access(left, found.write)) && left.empty())
      return found;
  }
  throw InputError(quoted(text) +
                   " is not a basic transfer; there are xCy, xS0, 0Ry, Nd and Nadp, x and y being 1, a stride, s or w");
}

std::string BasicTransfer::text() const {
  return (reads() ? text_of(read) : "") + sign() + (writes() ? text_of(write) : "");
}

void TransferTable::set(std::string_view transfer, double megabytes_per_second) {
  const std::string name = BasicTransfer::parse(transfer).text();
  if (!(megabytes_per_second > 0 && megabytes_per_second < std::numeric_limits<double>::infinity()))
    throw InputError("the throughput of " + name + " must be a positive number of MB/s");
  figures_[name] = megabytes_per_second;
}

double TransferTable::at(const BasicTransfer& transfer) const {
  const BasicTransfer general{transfer.kind, any_stride(transfer.read), any_stride(transfer.write)};
  for (const BasicTransfer& asked : {transfer, general})
    if (const auto found = figures_.find(asked.text()); found != figures_.end()) return found->second;
  std::string known;
  for (const auto& [name, figure] : figures_) known += (known.empty() ? "" : ", ") + name;
  throw InputError("there is no figure for " + transfer.text() + "; there are " + known);
}

/// Recursive descent over one line.
class CompositionParser {
 public:
  explicit CompositionParser(std::string_view text) : text_(text) {}

  Composition whole() {
    if (text_.size() > most_characters) throw InputError("a composition of more than 1000 characters");
    Composition result = sequence(0);
    if (skip(); at_ < text_.size()) fail("o, || or the end");
    return result;
  }

 private:
  static constexpr std::size_t most_characters = 1000;
  static constexpr int most_depth = 50;

  [[noreturn]] void fail(const std::string& wanted) const {
    const std::string_view found = at_ < text_.size() ? text_.substr(at_) : "the end";
    throw InputError("at character " + std::to_string(at_ + 1) + " of the composition there should be " + wanted +
                     ", not " + (at_ < text_.size() ? quoted(found.substr(0, 20)) : std::string(found)));
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  /// Letters, digits, ω and points, which are all that names and numbers are made of.
  std::string_view token() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (text_.substr(at_).starts_with(omega))
        at_ += omega.size();
      else if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.')
        ++at_;
      else
        break;
    }
    return text_.substr(begin, at_ - begin);
  }

  template <class Operand>
  Composition joined(Composition::Kind kind, std::string_view sign, Operand operand) {
    Composition first = operand();
    if (!take(sign)) return first;
    Composition result;
    result.kind_ = kind;
    result.parts_.push_back(std::move(first));
    do result.parts_.push_back(operand());
    while (take(sign));
    return result;
  }

  Composition sequence(int depth) {
    return joined(Composition::Kind::sequence, "o", [&] { return parallel(depth); });
  }

  Composition parallel(int depth) {
    return joined(Composition::Kind::parallel, "||", [&] { return bounded(depth); });
  }

  Composition bounded(int depth) {
    Composition operand = group(depth);
    if (!take("within")) return operand;
    skip();
    const std::size_t begin = at_;
    const std::string_view bound = token();
    Composition result;
    result.kind_ = Composition::Kind::within;
    result.parts_.push_back(std::move(operand));
    Composition limit;
    const auto [end, problem] = std::from_chars(bound.data(), bound.data() + bound.size(), limit.number_);
    if (problem == std::errc() && end == bound.data() + bound.size() && limit.number_ > 0 &&
        std::isfinite(limit.number_)) {
      limit.kind_ = Composition::Kind::number;
    } else {
      limit.transfer_ = basic(bound, begin, "a basic transfer or a number of MB/s");
    }
    result.parts_.push_back(std::move(limit));
    return result;
  }

  Composition group(int depth) {
    if (depth > most_depth) fail("fewer parentheses");
    if (take("(")) {
      Composition inner = sequence(depth + 1);
      if (!take(")")) fail("a closing parenthesis");
      return inner;
    }
    skip();
    const std::size_t begin = at_;
    Composition result;
    result.transfer_ = basic(token(), begin, "a basic transfer, such as wC1, 1S0, 0R1 or Nd");
    return result;
  }

  BasicTransfer basic(std::string_view name, std::size_t begin, const char* wanted) {
    try {
      return BasicTransfer::parse(name);
    } catch (const InputError&) {
      at_ = begin;
      fail(wanted);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Composition Composition::parse(std::string_view text) { return CompositionParser(text).whole(); }

double Composition::throughput(const TransferTable& table) const {
  switch (kind_) {
    case Kind::basic:
      return table.at(transfer_);
    case Kind::number:
      return number_;
    case Kind::sequence: {
      double inverse = 0;
      for (const Composition& part : parts_) inverse += 1 / part.throughput(table);
      return 1 / inverse;
    }
    case Kind::parallel: {
      double slowest = std::numeric_limits<double>::infinity();
      for (const Composition& part : parts_) slowest = std::min(slowest, part.throughput(table));
      return slowest;
    }
    case Kind::within:
      break;
  }
  const int users = std::max(parts_[0].memory_users(), 1);
  return std::min(parts_[0].throughput(table), parts_[1].throughput(table) / users);
}

/// The largest number of parts that use memory at the same time.
int Composition::memory_users() const {
  if (kind_ == Kind::basic) return transfer_.uses_memory() ? 1 : 0;
  if (kind_ == Kind::within) return parts_[0].memory_users();
  int users = 0;
  for (const Composition& part : parts_)
    users = kind_ == Kind::parallel ? users + part.memory_users() : std::max(users, part.memory_users());
  return users;
}

std::string Composition::text() const {
  if (kind_ == Kind::basic) return transfer_.text();
  if (kind_ == Kind::number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number_).ptr};
  }
  const char* sign = kind_ == Kind::sequence ? " o " : kind_ == Kind::parallel ? " || " : " within ";
  std::string result;
  for (const Composition& part : parts_) {
    const bool simple = part.kind_ == Kind::basic || part.kind_ == Kind::number;
    result += (result.empty() ? "" : sign) + (simple ? part.text() : "(" + part.text() + ")");
  }
  return result;
}

}  // namespace hocket
