#include "bindings.hpp"

namespace nb = nanobind;

NB_MODULE(_papers, m) {
  m.doc() = "What only the reproductions of papers need; networks, schedules and errors are those of hocket._core.";
  nb::module_::import_("hocket._core");
  nb::set_leak_warnings(false);
  bind_wormhole(m);
  bind_gossip(m);
  bind_gossip_search(m);
}
