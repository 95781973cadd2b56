#include "report.hpp"

namespace hocket::runtime {

const bool reporting = false;
void note_native(Why, std::uint64_t) {}
void note_scheduled(const Exchange&, std::uint64_t) {}

}  // namespace hocket::runtime
