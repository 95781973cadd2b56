#pragma once
/// Binary form of a rank program: docs/formats.md, "Programs".
#include "core/demand/demand.hpp"
#include "core/plan/binary.hpp"
#include "core/plan/program.hpp"

namespace hocket {

/// Facts of the header that are needed to decode rank programs.
struct ProgramForm {
  const Demand& demand;  ///< without its matrix
  std::uint64_t phases = 0;
  bool direct = true;  ///< every transfer is a whole message from origin to target
};

[[nodiscard]] Bytes encode_program(const RankProgram& program, bool direct);
/// Throws PlanProblem for what is no program, and for transfers that the header's demand does not have; whether the
/// programs of all ranks agree is checked when all are read.
[[nodiscard]] RankProgram decode_program(ByteView bytes, const ProgramForm& form);

}  // namespace hocket
