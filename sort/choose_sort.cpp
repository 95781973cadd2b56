#include "choose_sort.hpp"

#include <string>

#include "api.hpp"
#include "digits.hpp"
#include "requests.hpp"
#include "sample_sort.hpp"

namespace hocket::runtime {

SortChoice choose_sort(Workplace& place, const hocket_sort_options& options, const SortShape& shape,
                       std::uint64_t varying) {
  unsigned bits = options.digit_bits > 0 ? static_cast<unsigned>(options.digit_bits) : 11;
  if (options.digit_bits == 0 && shape.elements / static_cast<std::uint64_t>(shape.ranks) < 1 << 14) bits = 8;
  SortChoice choice{options.method, digits_over(varying, bits), {}};
  if (choice.method == HOCKET_SORT_AUTO) choice.method = HOCKET_SORT_RADIX;
  return choice;
}

}  // namespace hocket::runtime
