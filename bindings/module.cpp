#include "bindings.hpp"
#include "core/progress/progress.hpp"
#include "runtime/environment/variables.hpp"

using hocket::runtime::Variable;

namespace {

nb::object make_exception(nb::module_& m, const char* name, PyObject* base) {
  const std::string qualified = std::string("hocket._core.") + name;
  nb::object type = nb::steal(PyErr_NewException(qualified.c_str(), base, nullptr));
  m.attr(name) = type;
  return type;
}

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
      .def_static("detach", [] { Progress::attach(nullptr); })
      .def_static("check", &Progress::check, "Raises Cancelled if the calling thread's work is to end.");
}

void bind_environment(nb::module_& m) {
  nb::class_<Variable>(m, "Variable", "An environment variable of Hocket.")
      .def_ro("name", &Variable::name)
      .def_ro("meaning", &Variable::meaning)
      .def_ro("must_match", &Variable::must_match, "Must be the same on all ranks.")
      .def_prop_ro(
          "kind",
          [](const Variable& v) {
            return v.kind == Variable::Kind::number ? "number" : v.kind == Variable::Kind::word ? "word" : "text";
          })
      .def_ro("fallback", &Variable::fallback)
      .def_ro("least", &Variable::least)
      .def_ro("most", &Variable::most)
      .def_ro("words", &Variable::words)
      .def_static("all", &hocket::runtime::variables)
      .def_static("complaints", &hocket::runtime::wrong_variables, "environment"_a,
                  "One line for each wrong value or unknown HOCKET_ name among NAME=VALUE texts.");
  nb::module_ limits = nb::borrow<nb::module_>(m.attr("limits"));
  limits.attr("most_outstanding") = hocket::runtime::most_outstanding;
  limits.attr("usual_segment") = hocket::runtime::usual_segment;
  limits.attr("host_memory") = host_memory();
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
  nb::module_ elements = m.def_submodule("elements", "Kernels that sort and move records, timed on arrays of numpy.");
  bind_elements(elements);
  bind_element_moves(elements);
  bind_choose(m);
  bind_order(m);
  bind_two_level(m);
  bind_environment(m);
}
