#include "runtime/c_api/nested_exchange.hpp"

#include <vector>

#include "runtime/buffers/vector_traffic.hpp"

namespace hocket::runtime {
namespace {

template <class Buffers>
PeerMessages messages(const Partners& partners, Buffers buffers) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const auto length = static_cast<std::size_t>(partners.bytes[i]);
    auto* at = length > 0 ? const_cast<void*>(buffers[i]) : nullptr;  // send buffers are only read
    spans.push_back({static_cast<std::byte*>(at), length});
  }
  return {partners.ranks, spans};
}

}  // namespace

Traffic NestedExchange::pack() {
  const PeerMessages sends = messages(table_.targets, send_), receives = messages(table_.sources, receive_);
  copy(sends.of(table_.rank), receives.of(table_.rank));
  return vector_traffic(table_.program, sends, receives);
}

}  // namespace hocket::runtime
