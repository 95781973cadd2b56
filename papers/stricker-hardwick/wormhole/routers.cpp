#include "routers.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace hocket::model {
namespace {

constexpr double most_ticks = 4e18;
constexpr double most_places = 1 << 26;

}  // namespace

Routers::Routers(const Network& network, const WormholeParameters& parameters)
    : p_(parameters), wiring_(network, parameters) {
  buffers_ = wiring_.links() * wiring_.width();
  inputs_total_ = buffers_ + network.ranks();
  double fastest = 0, under_way = 0;
  for (std::uint32_t link = 0; link < wiring_.links(); ++link) {
    fastest = std::max(fastest, wiring_.rate(link));
    under_way = std::max(under_way, wiring_.rate(link) * wiring_.latency(link) / (p_.payload + p_.header));
  }
  // Room at least for a message alone to go at full speed.
  const double capacity =
      std::max(std::floor((p_.buffer + std::ceil(under_way)) / p_.train), 1 + std::ceil(under_way / p_.train));
  if (capacity * inputs_total_ > most_places)
    throw InputError("too many packets in the buffers to simulate; make trains longer or latencies shorter");
  capacity_ = static_cast<std::uint32_t>(capacity);
  tick_ = fastest > 0 ? (p_.payload + p_.header) / fastest * 1e-6 : 1;
  links_.resize(wiring_.links());
  for (std::uint32_t link = 0; link < wiring_.links(); ++link) {
    links_[link].ticks_per_byte = 1 / (wiring_.rate(link) * tick_);
    links_[link].latency = ticks(wiring_.latency(link));
  }
  inputs_.resize(inputs_total_);
  units_.resize(std::size_t{inputs_total_} * capacity_);
  if (p_.switching == Switching::wormhole) owner_.assign(buffers_, none);
}

Ticks Routers::ticks(double seconds) const {
  const double value = seconds / tick_ + 0.5;
  if (!(value < most_ticks)) throw InputError("the times are too far apart for packets: a time is too long");
  return static_cast<Ticks>(value);
}

Ticks Routers::duration(std::uint32_t link, double bytes) const {
  return static_cast<Ticks>(bytes * links_[link].ticks_per_byte + 0.5);
}

void Routers::push(Ticks time, Kind kind, std::uint32_t number) {
  if (static_cast<double>(time) > most_ticks) throw InputError("the simulated time is too long for packets");
  events_.push_back({time, kind | number});
  std::push_heap(events_.begin(), events_.end());
}

void Routers::send(std::uint32_t tag, Rank src, Rank dst, std::uint64_t bytes, Ticks at) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  Message& message = slots_[slot];
  message.tag = tag;
  message.arrived = 0;
  wiring_.route(src, dst, message.route);
  if (message.route.empty()) {
    push(at + ticks(static_cast<double>(bytes) / p_.memory_rate), copied, slot);
    return;
  }
  // A message of no bytes is a packet all the same.
  const std::uint64_t train = std::uint64_t{p_.payload} * p_.train;
  const std::uint64_t units = std::max<std::uint64_t>(1, (bytes + train - 1) / train);
  if (units >= none) throw InputError("a message has too many packets; make them or the trains larger");
  const std::uint64_t rest = bytes - (units - 1) * train;
  const std::uint64_t rest_packets = std::max<std::uint64_t>(1, (rest + p_.payload - 1) / p_.payload);
  message.units = static_cast<std::uint32_t>(units);
  message.full = static_cast<double>(train) + p_.header * p_.train;
  message.last = static_cast<double>(rest) + p_.header * static_cast<double>(rest_packets);
  const std::uint32_t source = buffers_ + src;
  inputs_[source].count = 1;
  front(source) = {.message = slot, .index = 0, .next = 0, .born = at, .head = at, .tail = at};
  come_to_front(source);
}

bool Routers::step(std::vector<Happening>& happenings) {
  if (events_.empty() && dirty_.empty()) return false;
  if (dirty_.empty()) {
    now_ = events_.front().time;
    while (!events_.empty() && events_.front().time == now_) {
      const Event event = events_.front();
      std::pop_heap(events_.begin(), events_.end());
      events_.pop_back();
      handle(event, happenings);
    }
  }
  // A port has no latency: what it is granted may ask for the next link in the same instant.
  while (!dirty_.empty()) {
    turn_.swap(dirty_);
    dirty_.clear();
    std::sort(turn_.begin(), turn_.end());
    for (const std::uint32_t link : turn_) links_[link].dirty = false;
    for (const std::uint32_t link : turn_) grant(link, happenings);
  }
  return true;
}

void Routers::handle(const Event& event, std::vector<Happening>& happenings) {
  const auto number = static_cast<std::uint32_t>(event.key);
  switch (event.key - number) {
    case done:
      finish(number, happenings);
      break;
    case ready:
      request(number);
      break;
    default:
      for (const auto kind : {Happening::Kind::began, Happening::Kind::left, Happening::Kind::arrived})
        happenings.push_back({kind, slots_[number].tag});
      release(number);
  }
}

/// The last byte of a unit has entered the link: its place in the buffer that it came from is free.
void Routers::finish(std::uint32_t link, std::vector<Happening>& happenings) {
  const std::uint32_t from = links_[link].from;
  links_[link].from = none;
  touch(link);
  Input& input = inputs_[from];
  Unit& unit = front(from);
  const std::uint32_t slot = unit.message;
  Message& message = slots_[slot];
  if (from >= buffers_) {
    if (++unit.index < message.units) {
      unit.born = unit.head = unit.tail = now_;
      come_to_front(from);
    } else {
      input.count = 0;
      happenings.push_back({Happening::Kind::left, message.tag});
    }
    return;
  }
  if (++input.first == capacity_) input.first = 0;
  touch(from / wiring_.width());
  if (--input.count > 0) come_to_front(from);
  if (wiring_.is_ejection(link) && ++message.arrived == message.units) {
    happenings.push_back({Happening::Kind::arrived, message.tag});
    release(slot);
  }
}

void Routers::release(std::uint32_t message) { free_slots_.push_back(message); }

/// The first unit of an input asks for its link as soon as it can cross it without a gap.
void Routers::come_to_front(std::uint32_t input) {
  const Unit& unit = front(input);
  const std::uint32_t link = next_buffer(unit) / wiring_.width();
  const Ticks whole = unit.tail - duration(link, wire_bytes(slots_[unit.message], unit.index));
  const Ticks at = std::max(unit.head, whole);
  if (at <= now_)
    request(input);
  else
    push(at, ready, input);
}

void Routers::request(std::uint32_t input) {
  const std::uint32_t link = next_buffer(front(input)) / wiring_.width();
  links_[link].requests.push_back(input);
  touch(link);
}

void Routers::touch(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

bool Routers::has_room(std::uint32_t input) const {
  const Unit& unit = front(input);
  const std::uint32_t buffer = next_buffer(unit);
  if (!owner_.empty() && owner_[buffer] != none && owner_[buffer] != unit.message) return false;
  return wiring_.is_ejection(buffer / wiring_.width()) || inputs_[buffer].count < capacity_;
}

/// The place in `requests` of the input that goes next, or none.
std::uint32_t Routers::choose(const Link& link) const {
  std::uint32_t best = none;
  Ticks best_born = 0;
  std::uint32_t best_turn = 0;
  for (std::uint32_t i = 0; i < link.requests.size(); ++i) {
    const std::uint32_t input = link.requests[i];
    if (!has_room(input)) continue;
    const Ticks born = p_.arbitration == Arbitration::oldest_first ? front(input).born : 0;
    const std::uint32_t turn = input > link.last ? input - link.last : input + inputs_total_ - link.last;
    if (best != none && (born > best_born || (born == best_born && turn > best_turn))) continue;
    best = i;
    best_born = born;
    best_turn = turn;
  }
  return best;
}

void Routers::grant(std::uint32_t number, std::vector<Happening>& happenings) {
  Link& link = links_[number];
  if (link.from != none || link.requests.empty()) return;
  const std::uint32_t chosen = choose(link);
  if (chosen == none) return;
  const std::uint32_t from = link.requests[chosen];
  link.requests[chosen] = link.requests.back();
  link.requests.pop_back();

  const Unit unit = front(from);
  const Message& message = slots_[unit.message];
  const double bytes = wire_bytes(message, unit.index);
  const Ticks end = std::max(now_ + duration(number, bytes), unit.tail);
  link.from = link.last = from;
  link.bytes += bytes;
  link.busy += end - now_;
  push(end, done, number);
  const std::uint32_t buffer = message.route[unit.next];
  if (!owner_.empty()) owner_[buffer] = unit.index + 1 == message.units ? none : unit.message;
  if (from >= buffers_ && unit.index == 0) happenings.push_back({Happening::Kind::began, message.tag});
  if (wiring_.is_ejection(number)) return;
  Input& next = inputs_[buffer];
  units_[std::size_t{buffer} * capacity_ + (next.first + next.count) % capacity_] = {.message = unit.message,
                                                                                     .index = unit.index,
                                                                                     .next = unit.next + 1,
                                                                                     .born = unit.born,
                                                                                     .head = now_ + link.latency,
                                                                                     .tail = end + link.latency};
  if (++next.count == 1) come_to_front(buffer);
}

std::uint32_t Routers::blocked_channel() const {
  for (std::uint32_t link = 0; link < wiring_.channels(); ++link)
    if (!links_[link].requests.empty()) return link;
  return none;
}

std::vector<double> Routers::channel_bytes() const {
  std::vector<double> bytes(wiring_.channels());
  for (std::uint32_t link = 0; link < wiring_.channels(); ++link) bytes[link] = links_[link].bytes;
  return bytes;
}

std::vector<double> Routers::channel_busy() const {
  std::vector<double> busy(wiring_.channels());
  for (std::uint32_t link = 0; link < wiring_.channels(); ++link) busy[link] = seconds(links_[link].busy);
  return busy;
}

}  // namespace hocket::model
