#include "runtime/report/call_site.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace hocket::runtime {
namespace {

std::string path_of(const link_map& object) {
  if (object.l_name != nullptr && object.l_name[0] != 0) return object.l_name;
  std::string path(4096, 0);  // the program itself has no name
  path.resize(static_cast<std::size_t>(std::max<ssize_t>(0, readlink("/proc/self/exe", path.data(), path.size()))));
  return path;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "+0x%llx", static_cast<unsigned long long>(value));
  return digits.data();
}

}  // namespace

std::string CallSite::text() const {
  if (object.empty()) return "an unknown place";
  const std::string name = object.substr(object.rfind('/') + 1);
  if (function.empty()) return name + hexadecimal(offset);
  return function + hexadecimal(into) + " (" + name + ")";
}

CallSite call_site(const void* returns_to) {
  const auto address = reinterpret_cast<std::uintptr_t>(returns_to) - 1;  // within the call
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(address), &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  const auto& object = *static_cast<const link_map*>(map);
  CallSite site{path_of(object), address - object.l_addr, {}, 0};
  if (info.dli_sname != nullptr) {
    site.function = info.dli_sname;
    site.into = address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  }
  return site;
}

}  // namespace hocket::runtime
