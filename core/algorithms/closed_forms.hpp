#pragma once
/// Closed forms of all-to-alls, with which a rank need not know the whole schedule.
#include <string_view>

#include "core/algorithms/algorithm.hpp"

namespace hocket {

/// The schedule that plan_exchange() would choose, in closed form. Null where it has none: then `why_not` says why.
/// Time and memory are linear in the nodes of the network. `algorithm`: that of this one, however far from the bound.
[[nodiscard]] FoundForm closed_form_of(const Network& network, const Demand& demand, std::string_view algorithm = {});

}  // namespace hocket
