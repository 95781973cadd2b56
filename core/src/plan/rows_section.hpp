#pragma once
/// What one rank does, within a plan file: docs/plan-format.md, "Rows".
#include "hocket/plan/binary.hpp"
#include "hocket/plan/program.hpp"

namespace hocket {

/// What the header says about the rows.
struct RowForm {
  std::uint64_t ranks = 0, phases = 0;
  bool direct = true;  ///< every transfer is a whole message from origin to target
};

[[nodiscard]] Bytes encode_row(const RankProgram& row, bool direct);
/// Throws PlanProblem for what is no row; whether the rows of all ranks agree is checked when all are read.
[[nodiscard]] RankProgram decode_row(ByteView bytes, const RowForm& form);

}  // namespace hocket
