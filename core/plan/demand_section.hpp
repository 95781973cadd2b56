#pragma once
/// The matrix of an irregular demand within a plan file: docs/formats.md, "Demand".
#include "core/demand/demand.hpp"
#include "core/plan/binary.hpp"

namespace hocket {

/// Empty for regular demands, which the header describes whole.
[[nodiscard]] Bytes encode_matrix(const Demand& demand);
/// Fills in the matrix of a demand whose pattern, ranks and largest message the header has told. Throws
/// PlanProblem for what is no such section.
void decode_matrix(ByteView bytes, Demand& demand);

}  // namespace hocket
