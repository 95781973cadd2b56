#pragma once
/// Writing JSON.
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/plan/binary.hpp"

namespace hocket::runtime {

/// One object on one line.
class JsonLine {
 public:
  JsonLine& field(std::string_view name, std::string_view value) {
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
  JsonLine& field(std::string_view name, const char* value) { return field(name, std::string_view(value)); }
  JsonLine& field(std::string_view name, double value) {
    begin(name);
    std::array<char, 32> digits{};  // printf would follow the program's locale
    const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9);
    text_.append(digits.data(), done.ptr);
    return *this;
  }
  JsonLine& field(std::string_view name, bool value) {
    begin(name);
    text_ += value ? "true" : "false";
    return *this;
  }
  template <std::integral Number>
  JsonLine& field(std::string_view name, Number value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
  }
  /// A value that is JSON already.
  JsonLine& json(std::string_view name, std::string_view value) {
    begin(name);
    text_ += value;
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

}  // namespace hocket::runtime
