#include "report_file.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include "hocket/plan/binary.hpp"

namespace hocket::runtime {
namespace {

/// One object on one line.
class Line {
 public:
  Line& field(std::string_view name, std::string_view value) {
    begin(name);
    text_ += '"';
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(value.data()), value.size());
    const bool readable = is_utf8(bytes);
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) {
        text_ += '?';
        continue;
      }
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
    return *this;
  }
  Line& field(std::string_view name, const char* value) { return field(name, std::string_view(value)); }
  Line& field(std::string_view name, double value) {
    begin(name);
    std::array<char, 32> digits{};  // printf would follow the program's locale
    const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9);
    text_.append(digits.data(), done.ptr);
    return *this;
  }
  Line& field(std::string_view name, bool value) {
    begin(name);
    text_ += value ? "true" : "false";
    return *this;
  }
  template <std::integral Number>
  Line& field(std::string_view name, Number value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
  }
  [[nodiscard]] std::string end() { return std::move(text_ += "}\n"); }

 private:
  void begin(std::string_view name) {
    text_ += text_.empty() ? "{\"" : ", \"";
    text_ += name;
    text_ += "\": ";
  }

  std::string text_;
};

std::string row_text(const CallKind& kind, const CallRow& row) {
  Line line;
  line.field("call", call_name(kind.call))
      .field("object", row.site.object)
      .field("offset", row.site.offset)
      .field("function", row.site.function)
      .field("into", row.site.into)
      .field("communicator", kind.ranks)
      .field("least", row.least)
      .field("most", row.most)
      .field("scheduled", kind.outcome.kind == Outcome::Kind::scheduled)
      .field("why", reason(kind.outcome))
      .field("calls", row.calls)
      .field("exchanges", row.exchanges)
      .field("bytes", row.bytes)
      .field("seconds", row.seconds)
      .field("under_way", row.under_way)
      .field("predicted", row.figures.predicted)
      .field("bound", row.figures.bound);
  return line.end();
}

}  // namespace

std::string report_text(const Reporter& reporter, const CallTable& table, bool finished) {
  Line first;
  std::string text = first.field("hocket_report", 1)
                         .field("rank", reporter.rank)
                         .field("host", reporter.host)
                         .field("pid", reporter.pid)
                         .field("spawned", reporter.spawned)
                         .field("finished", finished)
                         .field("rows", table.size())
                         .end();
  for (const auto& [kind, row] : table) text += row_text(kind, row);
  return text;
}

bool replace_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::FILE* const file = std::fopen(fresh.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written && std::rename(fresh.c_str(), path.c_str()) == 0) return true;
  std::remove(fresh.c_str());
  return false;
}

}  // namespace hocket::runtime
