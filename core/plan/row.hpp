#pragma once
/// Binary form of a rank program: docs/plan-format.md, "Rows".
#include "core/demand/demand.hpp"
#include "core/plan/binary.hpp"
#include "core/plan/program.hpp"

namespace hocket {

/// Facts of the header that are needed to decode rank programs.
struct RowForm {
  const Demand& demand;  ///< without its matrix
  std::uint64_t phases = 0;
  bool direct = true;  ///< every transfer is a whole message from origin to target
};

[[nodiscard]] Bytes encode_row(const RankProgram& row, bool direct);
/// Throws PlanProblem for what is no row, and for transfers that the header's demand does not have; whether the rows of
/// all ranks agree is checked when all are read.
[[nodiscard]] RankProgram decode_row(ByteView bytes, const RowForm& form);

}  // namespace hocket
