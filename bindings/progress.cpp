#include "core/progress/progress.hpp"

#include <nanobind/nanobind.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

void bind_progress(nb::module_& m) {
  nb::class_<Progress>(m, "Progress", "How far another thread's work has come, and a request to cancel it.")
      .def(nb::init<>())
      .def_prop_ro("step", &Progress::step, "what is under way, such as \"deriving waits\"; None while nothing counts")
      .def_prop_ro("fraction", &Progress::fraction, "of the step, from 0 to 1")
      .def("cancel", &Progress::cancel, "The work ends with Cancelled before long.")
      .def_prop_ro("cancelled", &Progress::cancelled)
      .def(
          "attach", [](Progress& progress) { Progress::attach(&progress); },
          "The calling thread's work reports here. Detach before the thread goes on to something else.")
      .def_static("detach", [] { Progress::attach(nullptr); });
  m.def("check_cancelled", &Progress::check, "Raises Cancelled if the calling thread's work is to end.");
}
