#pragma once
/// Forms of a call.
#include <cstdint>

namespace hocket::runtime {

enum class Form : std::uint8_t {
  blocking,
  lasting,  ///< nonblocking or persistent: it goes on after the call has returned
};

}  // namespace hocket::runtime
