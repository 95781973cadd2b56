#include "phase_table.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "hocket/schedule/ranges.hpp"

namespace hocket::runtime {
namespace {

constexpr std::uint64_t magic = 0x0a1a42544b434f48;  // "HOCKTB\x1a\n"
constexpr std::uint64_t version = 1;
constexpr std::uint64_t most_bytes = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t most_ranks = std::numeric_limits<int>::max();
constexpr std::uint64_t most_phases = 1 << 22;  // a row each

void write(ByteWriter& out, const Partners& partners) {
  out.number(partners.size());
  for (std::size_t i = 0; i < partners.size(); ++i) {
    out.number(static_cast<std::uint64_t>(partners.ranks[i]));
    out.number(static_cast<std::uint64_t>(partners.bytes[i]));
  }
}

void write(ByteWriter& out, Rank partner, std::uint64_t phase, const Piece& piece) {
  out.number(partner);
  out.number(phase);
  out.number(piece.offset);
  out.number(piece.length);
}

Bytes encode_part(const PhaseTable& table) {
  ByteWriter out;
  out.number(table.ranks);
  out.number(table.rank);
  out.text(table.scheduler);
  out.fixed(table.seed);
  out.number(table.phases);
  out.number(table.window);
  out.real(table.lockstep_bytes);
  out.real(table.bound_bytes);
  out.fixed(table.place);
  write(out, table.targets);
  write(out, table.sources);
  out.number(table.program.sends.size());
  for (const auto& send : table.program.sends) {
    write(out, send.dst, send.phase, send.pieces.front());
    out.number(send.tokens.size());
    for (const Rank releaser : send.tokens) out.number(releaser);
  }
  out.number(table.program.receives.size());
  for (const auto& receive : table.program.receives) {
    write(out, receive.src, receive.phase, receive.pieces.front());
    out.number(receive.releases.size());
    for (const Release& release : receive.releases) {
      out.number(release.rank);
      out.number(release.send);
    }
  }
  return out.take();
}

class PartReader {
 public:
  explicit PartReader(ByteView bytes) : in_(bytes) {}

  PhaseTable read() {
    PhaseTable table;
    table.ranks = ranks_ = in_.number32(most_ranks);
    table.rank = rank();
    table.scheduler = in_.text();
    table.seed = in_.fixed();
    table.phases = phases_ = in_.number(most_phases);
    table.window = in_.number32();
    table.lockstep_bytes = in_.real();
    table.bound_bytes = in_.real();
    table.place = in_.fixed();
    table.targets = partners();
    table.sources = partners();
    for (std::uint64_t left = in_.count(5); left > 0; --left) {
      auto& send = table.program.sends.emplace_back();
      send.dst = rank();
      send.phase = phase();
      send.pieces = {piece(table.rank, send.dst)};
      for (std::uint64_t tokens = in_.count(); tokens > 0; --tokens) send.tokens.push_back(rank());
    }
    for (std::uint64_t left = in_.count(5); left > 0; --left) {
      auto& receive = table.program.receives.emplace_back();
      receive.src = rank();
      receive.phase = phase();
      receive.pieces = {piece(receive.src, table.rank)};
      for (std::uint64_t releases = in_.count(2); releases > 0; --releases) {
        const Rank waiting = rank();
        receive.releases.push_back({waiting, in_.number32()});
      }
    }
    if (!in_.empty()) throw PlanProblem("there is more in the file than a table");
    return table;
  }

 private:
  Rank rank() {
    const Rank found = in_.number32();
    if (found >= ranks_) throw PlanProblem("it names a rank that does not exist");
    return found;
  }
  std::uint64_t phase() {
    const std::uint64_t found = in_.number();
    if (found >= phases_) throw PlanProblem("it names a phase that does not exist");
    return found;
  }
  Piece piece(Rank origin, Rank target) {
    const std::uint64_t offset = in_.number(most_bytes);
    return {origin, target, offset, in_.number(most_bytes - offset)};
  }
  Partners partners() {
    Partners found;
    for (std::uint64_t left = in_.count(2); left > 0; --left) {
      const Rank partner = rank();
      found.add(static_cast<int>(partner), static_cast<std::int64_t>(in_.number(most_bytes)));
    }
    return found;
  }

  ByteReader in_;
  std::uint32_t ranks_ = 0;
  std::uint64_t phases_ = 0;
};

/// Throws unless the pieces make up the messages of `partners`, all but the one of the rank itself.
template <class Ops, class PartnerOf>
void check_cover(const PhaseTable& table, const Partners& partners, const Ops& ops, PartnerOf partner_of) {
  std::map<Rank, std::pair<std::uint64_t, Ranges>> messages;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const auto partner = static_cast<Rank>(partners.ranks[i]);
    if (!messages.emplace(partner, std::pair(static_cast<std::uint64_t>(partners.bytes[i]), Ranges{})).second)
      throw InputError("the table names a partner twice");
  }
  messages.erase(table.rank);
  std::uint64_t phase = 0;
  for (const auto& op : ops) {
    const auto message = messages.find(partner_of(op));
    if (message == messages.end() || op.pieces.size() != 1) throw InputError("the table carries what nobody asked for");
    auto& [bytes, held] = message->second;
    const Piece& piece = op.pieces.front();
    if (piece.length == 0 || piece.offset > bytes || piece.length > bytes - piece.offset ||
        held.add(piece.offset, piece.offset + piece.length) > 0)
      throw InputError("the table carries bytes twice, or beyond the end of their message");
    if (std::exchange(phase, op.phase) > op.phase) throw InputError("the phases of the table are out of order");
  }
  for (const auto& [partner, message] : messages)
    if (!message.second.covers(0, message.first)) throw InputError("the table lacks bytes of a message");
}

}  // namespace

std::vector<hocket_phase> rows_of(const PhaseTable& table) {
  std::vector<hocket_phase> rows;
  auto send = table.program.sends.begin();
  auto receive = table.program.receives.begin();
  for (std::uint64_t phase = 0; phase < table.phases; ++phase) {
    const auto in_phase = [phase](const auto& op, const auto& ops) { return op != ops.end() && op->phase == phase; };
    bool first = true;
    while (first || in_phase(send, table.program.sends) || in_phase(receive, table.program.receives)) {
      hocket_phase row{static_cast<std::int64_t>(phase), -1, -1, 0, 0, 0, 0};
      if (in_phase(send, table.program.sends)) {
        row.send_to = static_cast<int>(send->dst);
        row.send_length = static_cast<std::int64_t>(send->pieces.front().length);
        row.send_offset = static_cast<std::int64_t>(send->pieces.front().offset);
        ++send;
      }
      if (in_phase(receive, table.program.receives)) {
        row.receive_from = static_cast<int>(receive->src);
        row.receive_length = static_cast<std::int64_t>(receive->pieces.front().length);
        row.receive_offset = static_cast<std::int64_t>(receive->pieces.front().offset);
        ++receive;
      }
      rows.push_back(row);
      first = false;
    }
  }
  return rows;
}

std::uint64_t part_digest(const PhaseTable& table) { return checksum(encode_part(table)); }

void check_table(const PhaseTable& table) {
  if (table.phases > most_phases) throw InputError("a table has at most " + std::to_string(most_phases) + " phases");
  if (table.window == 0) throw InputError("the table lets nobody send");
  check_cover(table, table.targets, table.program.sends, [](const auto& send) { return send.dst; });
  check_cover(table, table.sources, table.program.receives, [](const auto& receive) { return receive.src; });
  const auto own = [&](const Partners& partners) {
    const auto place = std::ranges::find(partners.ranks, static_cast<int>(table.rank));
    return place == partners.ranks.end() ? 0 : partners.bytes[static_cast<std::size_t>(place - partners.ranks.begin())];
  };
  if (own(table.targets) != own(table.sources)) throw InputError("the rank does not get what it sends to itself");
  for (const auto& receive : table.program.receives)
    for (const Release& release : receive.releases)
      if (release.rank == table.rank && release.send >= table.program.sends.size())
        throw InputError("the table releases a send that does not exist");
}

Bytes encode_table(const PhaseTable& table) {
  ByteWriter body;
  body.fixed(table.whole);
  body.append(encode_part(table));
  ByteWriter out;
  out.fixed(magic);
  out.fixed(version);
  out.fixed(checksum(body.bytes()));
  out.append(body.bytes());
  return out.take();
}

PhaseTable decode_table(ByteView bytes) {
  if (bytes.size() < 8 || ByteReader(bytes).fixed() != magic) throw PlanProblem("this is no scheduling table");
  ByteReader in(bytes.subspan(8));
  if (const std::uint64_t found = in.fixed(); found != version)
    throw PlanProblem("table version " + std::to_string(found) + ", this Hocket reads version " +
                      std::to_string(version));
  const std::uint64_t sum = in.fixed();
  const ByteView body = bytes.size() >= 24 ? bytes.subspan(24) : ByteView{};
  if (checksum(body) != sum) throw PlanProblem("its checksum is wrong");
  const std::uint64_t whole = ByteReader(body).fixed();
  PhaseTable table = PartReader(body.subspan(8)).read();
  table.whole = whole;
  try {
    check_table(table);
  } catch (const InputError& error) {
    throw PlanProblem(error.what());
  }
  return table;
}

}  // namespace hocket::runtime
