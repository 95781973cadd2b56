#include "parameters.hpp"

#include <string>

#include "core/error.hpp"

namespace hocket {

[[noreturn]] static void unknown(const char* what, std::string_view name, const char* known) {
  throw InputError("there is no " + std::string(what) + " '" + std::string(name.substr(0, 60)) + "'; there are " +
                   known);
}

Switching parse_switching(std::string_view name) {
  if (name == "cut-through") return Switching::cut_through;
  if (name == "wormhole") return Switching::wormhole;
  unknown("switching", name, "cut-through, wormhole");
}

VirtualChannels parse_virtual_channels(std::string_view name) {
  if (name == "none") return VirtualChannels::none;
  if (name == "dateline") return VirtualChannels::dateline;
  if (name == "balanced") return VirtualChannels::balanced;
  unknown("rule for virtual channels", name, "none, dateline, balanced");
}

Arbitration parse_arbitration(std::string_view name) {
  if (name == "round-robin") return Arbitration::round_robin;
  if (name == "oldest-first") return Arbitration::oldest_first;
  unknown("arbitration", name, "round-robin, oldest-first");
}

}  // namespace hocket
