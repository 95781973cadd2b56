#include "core/plan/demand_section.hpp"

#include <utility>

namespace hocket {
namespace {

/// Targets ascend within a row: each is written as its distance from the first rank it could be.
void decode_program(ByteReader& in, Rank src, std::uint32_t ranks, std::vector<Message>& messages) {
  std::uint64_t least = 0;
  for (std::uint64_t n = in.count(2); n > 0; --n) {
    const std::uint64_t step = in.number();
    if (step >= ranks - least) throw PlanProblem("a message to a rank that does not exist");
    const auto dst = static_cast<Rank>(least + step);
    const std::uint64_t bytes = in.number();
    if (dst == src) throw PlanProblem("a message of a rank to itself");
    if (bytes == 0) throw PlanProblem("a message without bytes");
    messages.push_back({src, dst, bytes});
    least = std::uint64_t{dst} + 1;
  }
}

}  // namespace

Bytes encode_matrix(const Demand& demand) {
  ByteWriter out;
  if (!demand.by_matrix()) return out.take();
  const TrafficMatrix& matrix = demand.matrix;
  for (Rank src = 0; src < matrix.ranks(); ++src) {
    const auto targets = matrix.targets(src);
    const auto bytes = matrix.bytes(src);
    out.number(targets.size());
    std::uint64_t least = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      out.number(targets[i] - std::exchange(least, std::uint64_t{targets[i]} + 1));
      out.number(bytes[i]);
    }
  }
  return out.take();
}

void decode_matrix(ByteView bytes, Demand& demand) {
  ByteReader in(bytes);
  if (demand.by_matrix()) {
    std::vector<Message> messages;
    for (Rank src = 0; src < demand.ranks; ++src) decode_program(in, src, demand.ranks, messages);
    try {
      demand.matrix = TrafficMatrix(demand.ranks, std::move(messages));
    } catch (const InputError& error) {
      throw PlanProblem(error.what());
    }
    if (demand.matrix.largest() != demand.bytes) throw PlanProblem("the largest message is not what the header says");
  }
  if (!in.empty()) throw PlanProblem("bytes after the end of the demand");
}

}  // namespace hocket
