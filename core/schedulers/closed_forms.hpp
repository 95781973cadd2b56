#pragma once
/// Which all-to-alls have a closed form, so that a rank need not know the whole schedule.
#include <memory>
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket {

/// The schedule that plan_exchange() would choose, in closed form; `scheduler` is its name in the registry. Null where
/// it has none: then `why_not` says why. Time and memory are linear in the nodes of the network. `scheduler`: where
/// this one has one, too, however far from the bound.
struct FoundForm {
  std::unique_ptr<ClosedForm> form;
  std::string_view scheduler;
  std::string_view why_not;
};

[[nodiscard]] FoundForm closed_form_of(const Network& network, const Demand& demand, std::string_view scheduler = {});

}  // namespace hocket
