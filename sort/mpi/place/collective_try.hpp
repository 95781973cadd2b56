#pragma once
/// Steps of element operations that succeed on all ranks or on none.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/c_api/api.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {

using runtime::collective_try;

/// Collective. Does something on every rank; if it throws on any, it throws on all.
template <class Step>
void collective_try(HostSharedContext& place, Step step) {
  collective_try(place.comm(), HOCKET_ERR_ARGUMENT, step);
}

/// An argument that is the same on all ranks.
struct Common {
  const char* name;  ///< used in messages: "rank 1 gives width 4, rank 0 width 8"
  std::uint64_t value;
};

/// Collective. Throws, on all ranks alike, where ranks differ.
void same_everywhere(HostSharedContext& place, const std::vector<Common>& arguments);

/// Throws unless it is a count of elements of `width` bytes, and there is memory with them.
void check_elements(const char* name, std::size_t width, std::int64_t count, const void* memory);

/// Throws unless the width is between 1 and the largest int.
void check_width(std::size_t width);

/// "destination 17 of element 5 is out of range: the target has 10 elements"
[[noreturn]] void refuse_position(const char* name, std::int64_t position, std::size_t element, const char* array,
                                  std::uint64_t total);

}  // namespace hocket::sort
