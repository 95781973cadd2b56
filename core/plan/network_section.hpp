#pragma once
/// The network within a plan file: docs/formats.md, "Network".
#include "core/demand/demand.hpp"
#include "core/network/spec.hpp"
#include "core/plan/binary.hpp"

namespace hocket {

/// Empty for regular demands, which the header describes whole.
[[nodiscard]] Bytes encode_matrix(const Demand& demand);
/// Fills in the matrix of a demand whose pattern, ranks and largest message the header has told. Throws
/// PlanProblem for what is no such section.
void decode_matrix(ByteView bytes, Demand& demand);

constexpr std::uint64_t max_plan_ranks = 1u << 22;

[[nodiscard]] Bytes encode_network(const NetworkSpec& spec);
/// Throws PlanProblem for what is no network section; whether the network can exist is Network's to say.
[[nodiscard]] NetworkSpec decode_network(ByteView bytes);

}  // namespace hocket
