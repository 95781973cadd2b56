#pragma once
/// Forms of a call.
#include <cstdint>

namespace hocket::runtime {

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

}  // namespace hocket::runtime
