#pragma once
/// The network within a plan file: docs/formats.md, "Network".
#include "core/network/spec.hpp"
#include "core/plan/binary.hpp"

namespace hocket {

constexpr std::uint64_t max_plan_ranks = 1u << 22;

[[nodiscard]] Bytes encode_network(const NetworkSpec& spec);
/// Throws PlanProblem for what is no network section; whether the network can exist is Network's to say.
[[nodiscard]] NetworkSpec decode_network(ByteView bytes);

}  // namespace hocket
