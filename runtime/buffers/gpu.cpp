#include "runtime/buffers/gpu.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace hocket::runtime {

bool gpu_runtime_loaded() {
  constexpr std::array functions{"cuPointerGetAttribute", "hipPointerGetAttributes"};
  // Programs linked statically with the CUDA runtime load the driver library locally, so its symbols are not global.
  constexpr std::array libraries{"libcuda.so.1", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"};
  return std::ranges::any_of(functions, [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }) ||
         std::ranges::any_of(libraries, [](const char* name) {
           void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
           if (library != nullptr) dlclose(library);  // counted once more by dlopen()
           return library != nullptr;
         });
}

}  // namespace hocket::runtime
