#include <charconv>

#include "core/model/simulate.hpp"

namespace hocket {

FlowControl parse_flow_control(std::string_view text) {
  if (text == "barrier") return {FlowControl::Kind::barrier, 1};
  if (text == "token") return {FlowControl::Kind::window, 1};
  if (text == "free") return {FlowControl::Kind::free, 1};
  if (text == "steps") return {FlowControl::Kind::steps, 1};
  constexpr std::string_view prefix = "window:";
  if (text.starts_with(prefix)) {
    std::uint32_t window = 0;
    const auto [rest, error] = std::from_chars(text.data() + prefix.size(), text.data() + text.size(), window);
    if (error == std::errc{} && rest == text.data() + text.size() && window >= 1 && window <= 1024)
      return {FlowControl::Kind::window, window};
  }
  throw InputError(
      "'" + std::string(text.substr(0, 60)) +
      "' is not a known flow control; known are barrier, token, window:K (K from 1 to 1024), free and steps");
}

std::string to_string(FlowControl flow) {
  if (flow.kind == FlowControl::Kind::barrier) return "barrier";
  if (flow.kind == FlowControl::Kind::free) return "free";
  if (flow.kind == FlowControl::Kind::steps) return "steps";
  return flow.window == 1 ? "token" : "window:" + std::to_string(flow.window);
}

}  // namespace hocket
