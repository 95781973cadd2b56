#pragma once
/// The place in the program at which a call was made.
#include <cstdint>
#include <string>

namespace hocket::runtime {

struct CallSite {
  std::string object;        ///< path of the program or library; empty if unknown
  std::uint64_t offset = 0;  ///< the call's offset in the object, as addr2line expects it
  std::string function;      ///< empty if the object does not name it
  std::uint64_t into = 0;    ///< bytes from the beginning of the function

  /// "solver+0x11d8" or "exchange+0x1f (libsolver.so)".
  [[nodiscard]] std::string text() const;
};

/// `returns_to`: the address behind the call.
[[nodiscard]] CallSite call_site(const void* returns_to);

}  // namespace hocket::runtime
