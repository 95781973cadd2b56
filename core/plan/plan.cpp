#include "core/plan/plan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace hocket {
namespace {

constexpr std::uint64_t magic = 0x0a1a54454b434f48;  // "HOCKET\x1a\n"
constexpr std::uint64_t version = 4;

enum Section : std::uint32_t {
  header_section,
  network_section,
  demand_section,
  index_section,
  programs_section,
  section_count
};

constexpr std::uint32_t max_window = 1024;  // the limit of parse_flow_control

/// The halves of an all-reduce have equally many phases: in the one that needs fewer nothing is sent in some.
constexpr std::uint64_t most_phases(std::uint64_t transfers) { return 2 * transfers; }

constexpr std::size_t header_bytes =
    std::size_t{8} * (4 + 3 * section_count);  // magic, version, size, sections, checksum

Bytes encode_header(const Plan& plan) {
  ByteWriter out;
  out.text(plan.algorithm);
  out.number(static_cast<std::uint64_t>(plan.demand.pattern));
  out.number(plan.demand.ranks);
  out.number(plan.demand.bytes);
  out.number(plan.demand.contributions.size());
  for (const std::uint64_t contribution : plan.demand.contributions) out.number(contribution);
  out.number(plan.schedule.phases());
  out.number(plan.schedule.size());
  out.number(plan.schedule.direct() ? 1 : 0);
  out.number(plan.waits.window);
  out.number(plan.waits.derived);
  out.number(plan.bound_phases);
  out.real(plan.bound_seconds);
  out.real(plan.predicted_seconds);
  return out.take();
}

struct DecodedHeader {
  PlanHeader header;
  bool direct = true;

  [[nodiscard]] ProgramForm program_form() const { return {header.demand, header.phases, direct}; }
};

/// `matrix`: the demand section, which only irregular exchanges have; it is not read.
DecodedHeader decode_header(ByteView bytes, ByteView matrix) {
  ByteReader in(bytes);
  DecodedHeader decoded;
  PlanHeader& header = decoded.header;
  header.algorithm = in.text();
  header.demand.pattern = static_cast<Pattern>(in.number(pattern_kinds - 1));
  if (matrix.empty() == header.demand.by_matrix())
    throw PlanProblem("the pattern in the header is " + std::string(to_string(header.demand.pattern)) +
                      ", the file has " + (matrix.empty() ? "no" : "a") + " traffic matrix");
  header.demand.ranks = in.number32(max_plan_ranks);
  header.demand.bytes = in.number();
  header.demand.contributions.resize(in.count());
  for (std::uint64_t& contribution : header.demand.contributions) contribution = in.number();
  if (!header.demand.contributions.empty() && header.demand.contributions.size() != header.demand.ranks)
    throw PlanProblem("contributions for another number of ranks");
  if (!header.demand.contributions.empty() && !header.demand.by_blocks())
    throw PlanProblem("contributions, but the pattern has no blocks");
  if (!header.demand.contributions.empty() && std::ranges::max(header.demand.contributions) != header.demand.bytes)
    throw PlanProblem("the bytes in the header are not those of the largest contribution");
  header.phases = in.number();
  header.transfers = in.number();
  decoded.direct = in.number(1) == 1;
  header.window = in.number32();
  if (header.window == 0 || header.window > max_window)
    throw PlanProblem("a window of " + std::to_string(header.window) + " in the header; it is from 1 to " +
                      std::to_string(max_window));
  header.waits_derived = in.number();
  header.bound_phases = in.number();
  header.bound_seconds = in.real();
  header.predicted_seconds = in.real();
  for (const double seconds : {header.bound_seconds, header.predicted_seconds})
    if (!(seconds >= 0 && seconds < std::numeric_limits<double>::infinity()))
      throw PlanProblem("a time in the header (bound, prediction) is not a number of seconds");
  if (!in.empty()) throw PlanProblem("bytes after the end of the header");
  return decoded;
}

/// Rebuilds schedule and waits from the rank programs, and refuses programs that contradict each other.
class Assembly {
 public:
  Assembly(std::vector<RankProgram> programs, const DecodedHeader& decoded)
      : rows_(std::move(programs)), decoded_(decoded) {}

  void assemble(Plan& plan) {
    const PlanHeader& header = decoded_.header;
    std::vector<std::uint64_t> begin(header.phases + 1, 0);
    std::uint64_t transfers = 0;
    for (const RankProgram& program : rows_) {
      transfers += program.sends.size();
      for (const RankProgram::Send& send : program.sends) ++begin[send.phase + 1];
    }
    if (transfers != header.transfers || transfers >= ~std::uint32_t{0})
      throw PlanProblem("the programs do not hold as many transfers as the header says");
    if (header.phases > 0 && begin.back() == 0)
      throw PlanProblem("the header says " + std::to_string(header.phases) + " phases, the programs have fewer");
    for (std::uint64_t p = 0; p < header.phases; ++p) begin[p + 1] += begin[p];

    std::vector<std::uint64_t> fill(begin.begin(), begin.end() - 1);
    std::vector<Hop> hops(transfers);
    std::vector<const LeanVector<Piece>*> carried(transfers);
    number_.resize(rows_.size());
    for (Rank src = 0; src < rows_.size(); ++src) {
      for (const RankProgram::Send& send : rows_[src].sends) {
        const std::uint64_t at = fill[send.phase]++;
        number_[src].push_back(static_cast<std::uint32_t>(at));
        hops[at] = {src, send.dst};
        carried[at] = &send.pieces;
        check_size(plan.demand, src, send);
      }
      sort_sends(src);
    }
    if (transfers > 0 && !decoded_.direct && largest_ != header.demand.bytes)
      throw PlanProblem("the header says " + std::to_string(header.demand.bytes) +
                        " bytes, the largest message of the programs has " + std::to_string(largest_));
    plan.waits = waits(hops);
    if (plan.waits.derived < plan.waits.size())
      throw PlanProblem("the header says " + std::to_string(plan.waits.derived) +
                        " waits before reduction, the programs have " + std::to_string(plan.waits.size()));
    PieceLists pieces;
    if (!decoded_.direct)
      for (const auto* list : carried) {
        pieces.pieces.insert(pieces.pieces.end(), list->begin(), list->end());
        pieces.end_list();
      }
    plan.schedule =
        Schedule(header.demand.ranks, header.demand.bytes, std::move(begin), std::move(hops), std::move(pieces));
  }

 private:
  /// Keeps the largest end of a piece in a message. Throws PlanProblem if messages should go whole but the matrix has
  /// another size for this one.
  void check_size(const Demand& demand, Rank src, const RankProgram::Send& send) {
    if (demand.by_matrix() && decoded_.direct && demand.size(src, send.dst) != demand.bytes)
      throw PlanProblem("the header says that messages go whole, which those of the demand's matrix are not");
    for (const Piece& piece : send.pieces) largest_ = std::max(largest_, piece.offset + piece.length);
  }

  static auto key(const auto& message, Rank dst) {
    return std::tuple<std::uint64_t, Rank, const LeanVector<Piece>&>(message.phase, dst, message.pieces);
  }

  /// Sorts a rank's sends by phase, receiver and pieces, for sent_by(). Throws PlanProblem if one is listed twice.
  void sort_sends(Rank src) {
    const auto& sends = rows_[src].sends;
    const auto less = [&](std::uint32_t x, std::uint32_t y) {
      return key(sends[x], sends[x].dst) < key(sends[y], sends[y].dst);
    };
    std::vector<std::uint32_t> order(sends.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), less);
    for (std::size_t i = 1; i < order.size(); ++i)
      if (!less(order[i - 1], order[i])) throw PlanProblem("a send is listed twice");
    sorted_.push_back(std::move(order));
  }

  Waits waits(const std::vector<Hop>& hops) {
    const std::uint64_t transfers = hops.size();
    std::vector<bool> received(transfers, false);
    Waits waits;
    waits.window = decoded_.header.window;
    waits.derived = decoded_.header.waits_derived;
    waits.begin.assign(transfers + 1, 0);
    for (Rank src = 0; src < rows_.size(); ++src)
      for (std::size_t k = 0; k < number_[src].size(); ++k)
        waits.begin[number_[src][k] + 1] = rows_[src].sends[k].tokens.size();
    for (std::uint64_t i = 0; i < transfers; ++i) waits.begin[i + 1] += waits.begin[i];
    waits.before.resize(waits.begin.back());
    std::vector<std::uint64_t> fill(waits.begin.begin(), waits.begin.end() - 1);
    std::uint64_t receives = 0, released = 0;
    for (Rank dst = 0; dst < rows_.size(); ++dst)
      for (const RankProgram::Receive& receive : rows_[dst].receives) {
        const std::uint32_t earlier = sent_by(receive, dst);
        if (received[earlier]) throw PlanProblem("a receive is listed twice");
        received[earlier] = true;
        ++receives;
        for (const Release& release : receive.releases) {
          if (release.send >= number_[release.rank].size()) throw PlanProblem("a token for a send that does not exist");
          const std::uint32_t later = number_[release.rank][release.send];
          if (fill[later] == waits.begin[later + 1]) throw PlanProblem("a token that nobody waits for");
          waits.before[fill[later]++] = earlier;
          ++released;
        }
      }
    if (receives != transfers) throw PlanProblem("sends and receives do not match");
    if (released != waits.before.size()) throw PlanProblem("a send waits for a token that nobody releases");
    // Latest first, as they were derived.
    for (std::uint64_t i = 0; i < transfers; ++i)
      std::sort(waits.before.begin() + static_cast<std::ptrdiff_t>(waits.begin[i]),
                waits.before.begin() + static_cast<std::ptrdiff_t>(waits.begin[i + 1]), std::greater<>());
    check_tokens(hops, waits);
    return waits;
  }

  /// Every send waits for the tokens that are released to it, rank by rank.
  void check_tokens(const std::vector<Hop>& hops, const Waits& waits) const {
    std::vector<Rank> awaited, releasers;
    for (Rank src = 0; src < rows_.size(); ++src)
      for (std::size_t k = 0; k < number_[src].size(); ++k) {
        const LeanVector<Rank>& tokens = rows_[src].sends[k].tokens;
        awaited.assign(tokens.begin(), tokens.end());
        releasers.clear();
        for (const std::uint32_t earlier : waits.of(number_[src][k])) releasers.push_back(hops[earlier].dst);
        std::sort(awaited.begin(), awaited.end());
        std::sort(releasers.begin(), releasers.end());
        if (awaited != releasers) throw PlanProblem("a send waits for a token that nobody releases");
      }
  }

  /// The transfer that this receive takes in.
  [[nodiscard]] std::uint32_t sent_by(const RankProgram::Receive& receive, Rank dst) const {
    const auto& sends = rows_[receive.src].sends;
    const auto& sorted = sorted_[receive.src];
    const auto wanted = key(receive, dst);
    const auto it = std::lower_bound(sorted.begin(), sorted.end(), wanted, [&](std::uint32_t send, const auto& other) {
      return key(sends[send], sends[send].dst) < other;
    });
    if (it == sorted.end() || key(sends[*it], sends[*it].dst) != wanted)
      throw PlanProblem("a receive without its send");
    return number_[receive.src][*it];
  }

  std::vector<RankProgram> rows_;
  const DecodedHeader& decoded_;
  std::uint64_t largest_ = 0;                       ///< end of a piece within its message
  std::vector<std::vector<std::uint32_t>> number_;  ///< per rank and send: the transfer
  std::vector<std::vector<std::uint32_t>> sorted_;  ///< per rank: its sends by phase, receiver and piece
};

}  // namespace

Bytes encode_plan(const Plan& plan) {
  const std::uint64_t phases = plan.schedule.phases();
  if (phases > most_phases(plan.schedule.size()) || (phases > 0 && plan.schedule.phase(phases - 1).empty()))
    throw InputError("a plan cannot hold idle phases");
  const bool direct = plan.schedule.direct();
  ByteWriter encoded, index;
  index.number(plan.schedule.ranks());
  const RankPrograms programs(plan.schedule, plan.waits);
  for (Rank rank = 0; rank < plan.schedule.ranks(); ++rank) {
    const Bytes program = encode_program(programs.of(rank), direct);
    index.fixed(encoded.bytes().size());
    index.fixed(program.size());
    index.fixed(checksum(program));
    encoded.append(program);
  }
  const Bytes parts[section_count] = {encode_header(plan), encode_network(plan.network->spec()),
                                      encode_matrix(plan.demand), index.take(), encoded.take()};
  ByteWriter out;
  out.fixed(magic);
  out.fixed(version);
  std::uint64_t size = header_bytes;
  for (const Bytes& part : parts) size += part.size();
  out.fixed(size);
  std::uint64_t offset = header_bytes;
  for (std::uint32_t id = 0; id < section_count; ++id) {
    out.fixed(offset);
    out.fixed(parts[id].size());
    // Programs have a checksum each, in the index, so that one can be read without the others.
    out.fixed(id == programs_section ? 0 : checksum(parts[id]));
    offset += parts[id].size();
  }
  out.fixed(checksum(out.bytes()));
  for (const Bytes& part : parts) out.append(part);
  return out.take();
}

PlanFile::PlanFile(ByteView bytes) : bytes_(bytes) {
  if (bytes.size() < 8 || ByteReader(bytes).fixed() != magic) throw PlanProblem("this is not a plan file");
  if (bytes.size() < header_bytes) throw PlanProblem("the file ends too early");
  ByteReader in(bytes);
  in.fixed();
  if (const std::uint64_t found = in.fixed(); found != version)
    throw PlanProblem("plan version " + std::to_string(found) + ", this Hocket reads version " +
                      std::to_string(version));
  if (checksum(bytes.first(header_bytes - 8)) != ByteReader(bytes.subspan(header_bytes - 8)).fixed())
    throw PlanProblem("the header is damaged (checksum)");
  if (in.fixed() != bytes.size()) throw PlanProblem("the file was truncated or extended");
  for (std::uint32_t id = 0; id < section_count; ++id) {
    const std::uint64_t offset = in.fixed(), size = in.fixed();
    checksums_.push_back(in.fixed());
    if (offset > bytes.size() || size > bytes.size() - offset) throw PlanProblem("a section lies outside the file");
    sections_.push_back(bytes.subspan(offset, size));
  }
}

ByteView PlanFile::section(std::uint32_t id) const {
  if (checksum(sections_[id]) != checksums_[id]) throw PlanProblem("a section is damaged (checksum)");
  return sections_[id];
}

std::uint64_t PlanFile::digest() const { return checksum(bytes_.first(header_bytes)); }

std::uint64_t PlanFile::network_digest() const { return checksum(section(network_section)); }

PlanHeader PlanFile::header() const { return decode_header(section(header_section), sections_[demand_section]).header; }

Demand PlanFile::demand() const {
  Demand demand = header().demand;
  decode_matrix(section(demand_section), demand);
  return demand;
}

NetworkSpec PlanFile::network() const { return decode_network(section(network_section)); }

RankProgram PlanFile::program(Rank rank) const {
  const DecodedHeader decoded = decode_header(section(header_section), sections_[demand_section]);
  return decode_program(program(section(index_section), decoded.header.demand.ranks, rank), decoded.program_form());
}

ByteView PlanFile::program(ByteView index_bytes, std::uint32_t ranks, Rank rank) const {
  ByteReader index(index_bytes);
  if (const std::uint64_t programs = index.number(); programs != ranks)
    throw PlanProblem("the header says " + std::to_string(ranks) + " ranks, the index has " + std::to_string(programs) +
                      " programs");
  if (rank >= ranks) throw PlanProblem("the plan has no such rank");
  index.view(std::uint64_t{24} * rank);
  const std::uint64_t offset = index.fixed(), size = index.fixed(), sum = index.fixed();
  const ByteView programs = sections_[programs_section];
  if (offset > programs.size() || size > programs.size() - offset) throw PlanProblem("a program lies outside the file");
  const ByteView bytes = programs.subspan(offset, size);
  if (checksum(bytes) != sum)
    throw PlanProblem("the program of rank " + std::to_string(rank) + " is damaged (checksum)");
  return bytes;
}

Plan PlanFile::plan() const {
  const DecodedHeader decoded = decode_header(section(header_section), sections_[demand_section]);
  const PlanHeader& header = decoded.header;
  if (header.phases > most_phases(header.transfers) || header.transfers > sections_[programs_section].size())
    throw PlanProblem("the header counts more phases or transfers than the file can hold");
  const ByteView index = section(index_section);
  Plan plan{header.algorithm, header.demand, header.bound_phases, header.bound_seconds};
  plan.predicted_seconds = header.predicted_seconds;
  const std::vector<std::uint32_t> on_nodes = network().ranks;
  decode_matrix(section(demand_section), plan.demand);
  const auto ranks = std::accumulate(on_nodes.begin(), on_nodes.end(), std::uint64_t{0});
  if (ranks != header.demand.ranks)
    throw PlanProblem("the header says " + std::to_string(header.demand.ranks) + " ranks, the network has " +
                      std::to_string(ranks));
  std::vector<RankProgram> programs;
  std::size_t left = sections_[programs_section].size();
  for (Rank rank = 0; rank < header.demand.ranks; ++rank) {
    const ByteView bytes = program(index, header.demand.ranks, rank);
    if (bytes.size() > left) throw PlanProblem("two programs lie in the same place");
    left -= bytes.size();
    programs.push_back(decode_program(bytes, decoded.program_form()));
  }
  Assembly(std::move(programs), decoded).assemble(plan);
  return plan;
}

}  // namespace hocket
