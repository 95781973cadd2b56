#include "nested_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace hocket::runtime {
namespace {

std::map<int, std::size_t> places(const Partners& partners) {
  std::map<int, std::size_t> found;
  for (std::size_t i = 0; i < partners.size(); ++i) found[partners.ranks[i]] = i;
  return found;
}

void add(Messages& messages, std::byte* buffer, const Piece& piece) {
  messages.add(buffer + piece.offset, piece.length);
  messages.end_message();
}

}  // namespace

NestedExchange::NestedExchange(const Exchange& exchange, const PhaseTable& table)
    : ScheduledOperation(exchange), table_(table) {
  const auto targets = places(table.targets), sources = places(table.sources);
  for (const auto& send : table.program.sends) target_of_.push_back(targets.at(static_cast<int>(send.dst)));
  for (const auto& receive : table.program.receives) source_of_.push_back(sources.at(static_cast<int>(receive.src)));
}

Traffic NestedExchange::pack() {
  Traffic traffic;
  const RankProgram& program = table_.program;
  for (std::size_t i = 0; i < program.sends.size(); ++i) {
    auto* from = static_cast<std::byte*>(const_cast<void*>(send_[target_of_[i]]));  // only read from
    add(traffic.sends, from, program.sends[i].pieces.front());
  }
  for (std::size_t i = 0; i < program.receives.size(); ++i)
    add(traffic.receives, static_cast<std::byte*>(receive_[source_of_[i]]), program.receives[i].pieces.front());
  return traffic;
}

}  // namespace hocket::runtime
