#pragma once
/// Writing down a schedule, phase by phase.
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Messages, whole or of pieces, one after the other.
class PhaseWriter {
 public:
  explicit PhaseWriter(const Demand& demand) : PhaseWriter(demand, demand.messages()) {}
  /// `transfers`: as many as will be sent, about.
  PhaseWriter(const Demand& demand, std::uint64_t transfers) : demand_(demand) { hops_.reserve(transfers); }

  /// A piece of the next message. In a schedule without pieces every message is whole.
  void add(const Piece& piece) { pieces_.pieces.push_back(piece); }
  void send(Rank src, Rank dst) {
    hops_.push_back({src, dst});
    if (!pieces_.pieces.empty()) pieces_.end_list();
  }
  /// Bytes [offset, offset + length) of the message src -> dst.
  void send(Rank src, Rank dst, std::uint64_t offset, std::uint64_t length) {
    add({src, dst, offset, length});
    send(src, dst);
  }
  /// A list of the pieces that were added since the last, for several messages: its number.
  std::uint32_t end_list() {
    pieces_.end_list();
    return pieces_.lists() - 1;
  }
  void send_list(Hop hop, std::uint32_t number) {
    hops_.push_back(hop);
    pieces_.list.push_back(number);
  }
  /// True if pieces were added since the last message.
  [[nodiscard]] bool has_pieces() const { return pieces_.pieces.size() > pieces_.begin.back(); }
  /// A phase without transfers is none, except of formulae, which number such phases, too.
  void end_phase(bool even_if_empty = false) {
    if (even_if_empty || hops_.size() > begin_.back()) begin_.push_back(hops_.size());
  }
  [[nodiscard]] Schedule finish() {
    end_phase();
    return {demand_.ranks, demand_.bytes, std::move(begin_), std::move(hops_), std::move(pieces_)};
  }

 private:
  const Demand& demand_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<Hop> hops_;
  PieceLists pieces_;
};

/// `form` has phases(), and target(rank, phase), a rank or none.
template <class Form>
[[nodiscard]] Schedule written_out(const Form& form, const Demand& demand) {
  PhaseWriter writer(demand);
  for (std::uint64_t phase = 0; phase < form.phases(); ++phase) {
    for (Rank src = 0; src < demand.ranks; ++src)
      if (const std::optional<Rank> dst = form.target(src, phase)) writer.send(src, *dst);
    writer.end_phase(true);
  }
  return writer.finish();
}

/// Message i of the matrix, counted row by row, goes in phase phase_of[i] < phases. Linear time.
inline Schedule whole_messages(const Demand& demand, std::span<const std::uint32_t> phase_of, std::uint32_t phases) {
  const std::vector<Message> messages = demand.matrix.list();
  const Grouped in_phase = group(phases, [&](auto visit) {
    for (std::uint32_t i = 0; i < messages.size(); ++i) visit(phase_of[i], i);
  });
  PhaseWriter writer(demand);
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    for (const std::uint32_t i : in_phase.of(phase))
      writer.send(messages[i].src, messages[i].dst, 0, messages[i].bytes);
    writer.end_phase();
  }
  return writer.finish();
}

}  // namespace hocket::algorithms
