#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "core/error.hpp"
#include "core/progress/progress.hpp"

namespace nb = nanobind;

namespace {

nb::object make_exception(nb::module_& m, const char* name, PyObject* base) {
  const std::string qualified = std::string("hocket._core.") + name;
  nb::object type = nb::steal(PyErr_NewException(qualified.c_str(), base, nullptr));
  m.attr(name) = type;
  return type;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of Hocket: networks, schedules, verifier, model, plans.";

  // Kept alive by the module; the translator needs plain pointers.
  static PyObject* input_error = make_exception(m, "InputError", PyExc_ValueError).ptr();
  static PyObject* network_problem = make_exception(m, "NetworkProblem", input_error).ptr();
  m.attr("__version__") = HOCKET_VERSION;
  static PyObject* route_problem = make_exception(m, "RouteProblem", network_problem).ptr();
  static PyObject* plan_problem = make_exception(m, "PlanProblem", input_error).ptr();
  static PyObject* cancelled = make_exception(m, "Cancelled", PyExc_RuntimeError).ptr();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const hocket::RouteProblem& e) {
      PyErr_SetObject(route_problem, nb::make_tuple(e.what(), e.node, e.link, e.entry).ptr());
    } catch (const hocket::NetworkProblem& e) {
      PyErr_SetObject(network_problem, nb::make_tuple(e.what(), e.node, e.link).ptr());
    } catch (const hocket::PlanProblem& e) {
      PyErr_SetString(plan_problem, e.what());
    } catch (const hocket::Cancelled& e) {
      PyErr_SetString(cancelled, e.what());
    } catch (const hocket::InputError& e) {
      PyErr_SetString(input_error, e.what());
    }
  });

  // Objects that outlive the module at exit (in a test's parameters, say) are no leak worth a message.
  nb::set_leak_warnings(false);

  bind_progress(m);
  bind_network(m);
  bind_tree_probe(m);
  bind_schedule(m);
  bind_planning(m);
  bind_model(m);
  bind_plan(m);
  bind_memory(m);
  bind_elements(m);
  bind_element_moves(m);
  bind_choose(m);
  bind_order(m);
  bind_two_level(m);
  bind_environment(m);
}
