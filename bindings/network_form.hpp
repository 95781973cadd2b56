#pragma once
/// State of `_core.ClosedForm`.
#include <string>

#include "core/algorithms/closed_forms.hpp"
#include "core/error.hpp"

namespace hocket::bindings {

/// A closed form with the network that it asks for routes, which outlives it.
struct NetworkForm {
  const Network& network;
  FoundForm found;

  NetworkForm(const Network& of, const Demand& demand, const std::string& algorithm)
      : network(of), found(closed_form_of(network, demand, algorithm)) {
    if (found.form == nullptr) throw InputError("this all-to-all has no closed form: " + std::string(found.why_not));
  }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const {
    if (src >= network.ranks() || dst >= network.ranks() || src == dst) throw InputError("no such message");
    return found.form->phase(src, dst);
  }
};

}  // namespace hocket::bindings
