#include "testing.hpp"

namespace nb = nanobind;

NB_MODULE(_testing, m) {
  m.doc() = "Adds to hocket._core what only tests ask of it. The product is built without it.";
  nb::module_ core = nb::module_::import_("hocket._core");
  add_to_core(core);
  add_to_sort(core);
  add_element_cuts(core);
  nb::set_leak_warnings(false);
}
