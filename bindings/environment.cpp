#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "runtime/environment/variables.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket::runtime;

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
      .def_ro("words", &Variable::words);
  m.def(
      "variables",
      [] {
        const auto all = variables();
        return std::vector<Variable>(all.begin(), all.end());
      },
      "The environment variables of Hocket.");
  m.def(
      "wrong_variables", [](const std::vector<std::string>& environment) { return wrong_variables(environment); },
      "environment"_a, "One line for each wrong value or unknown HOCKET_ name among NAME=VALUE texts.");
}
