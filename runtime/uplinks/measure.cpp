
#include <algorithm>
#include <array>
#include <set>

#include "runtime/agreement/agreement.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/uplinks/widths.hpp"

namespace hocket::runtime {
namespace {

/// Duration and message size of a sample, equal on all ranks.
struct Sample {
  std::chrono::microseconds time;
  std::size_t message_bytes;

  /// Data that arrives earlier is not counted, since connections are opened and rates settle.
  [[nodiscard]] std::chrono::microseconds counted_from() const { return time / 4; }
  /// Nor is what arrives after: some pairs have begun earlier than others and stop earlier.
  [[nodiscard]] std::chrono::microseconds counted_to() const { return time - time / 6; }
  [[nodiscard]] std::chrono::duration<double> counted() const { return counted_to() - counted_from(); }
};

/// Memory for the messages of one rank.
class ProbeBuffers {
 public:
  /// Messages that a rank has under way at once, each way.
  static constexpr std::size_t depth = 4;
  static constexpr std::size_t most_message_bytes = std::size_t{1} << 20;

  ProbeBuffers() : memory_(std::make_unique_for_overwrite<std::byte[]>((depth + 1) * most_message_bytes)) {}
  [[nodiscard]] std::byte* outgoing() const { return memory_.get(); }
  [[nodiscard]] std::byte* incoming(std::size_t slot) const { return memory_.get() + (slot + 1) * most_message_bytes; }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

constexpr int stream_tag = 0, greeting_tag = 1;

/// One rank's part of a sample: bytes to a partner and from it, both ways at once, for a given time and not for a given
/// amount, so that a pair which gets less than others does not go on alone at the end. Synchronous sends bound what is
/// under way.
class ProbeStream {
 public:
  ProbeStream(MPI_Comm comm, int partner, Sample sample, const ProbeBuffers& buffers)
      : comm_(comm), partner_(partner), sample_(sample), buffers_(buffers), begun_(Clock::now()) {
    requests_.fill(MPI_REQUEST_NULL);
    for (std::size_t slot = 0; slot < ProbeBuffers::depth; ++slot) receive(slot);
    for (std::size_t slot = 0; slot < ProbeBuffers::depth; ++slot) send(slot, {});
  }

  ProbeStream(const ProbeStream&) = delete;
  ProbeStream& operator=(const ProbeStream&) = delete;
  /// After an error: gives up what is under way.
  ~ProbeStream() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (i < ProbeBuffers::depth) PMPI_Cancel(&requests_[i]);
      PMPI_Request_free(&requests_[i]);
    }
  }

  /// A step; true when both sides have ended.
  [[nodiscard]] bool advance() {
    std::array<int, 2 * ProbeBuffers::depth> done{};
    std::array<MPI_Status, 2 * ProbeBuffers::depth> statuses;
    int count = 0;
    check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done.data(), statuses.data()));
    if (count == MPI_UNDEFINED) return true;
    const auto since = Clock::now() - begun_;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      collect(static_cast<std::size_t>(done[i]), statuses[i], since);
    moves_ += static_cast<std::uint64_t>(count);
    return false;
  }

  [[nodiscard]] std::uint64_t moves() const { return moves_; }
  /// Bytes per second that came in.
  [[nodiscard]] std::uint64_t rate() const {
    return static_cast<std::uint64_t>(static_cast<double>(counted_) / sample_.counted().count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// When time is over each slot sends one empty message: as many as there are receives, after everything else.
  void send(std::size_t slot, Clock::duration since) {
    if (last_sent_[slot]) return;
    last_sent_[slot] = since >= sample_.time;
    const int bytes = last_sent_[slot] ? 0 : static_cast<int>(sample_.message_bytes);
    check(PMPI_Issend(buffers_.outgoing(), bytes, MPI_BYTE, partner_, stream_tag, comm_,
                      &requests_[ProbeBuffers::depth + slot]));
  }

  void receive(std::size_t slot) {
    check(PMPI_Irecv(buffers_.incoming(slot), static_cast<int>(sample_.message_bytes), MPI_BYTE, partner_, stream_tag,
                     comm_, &requests_[slot]));
  }
  void collect(std::size_t request, const MPI_Status& status, Clock::duration since) {
    if (request >= ProbeBuffers::depth) {
      send(request - ProbeBuffers::depth, since);
      return;
    }
    int bytes = 0;
    check(PMPI_Get_count(&status, MPI_BYTE, &bytes));
    if (bytes == 0) return;
    if (since >= sample_.counted_from() && since < sample_.counted_to()) counted_ += static_cast<std::uint64_t>(bytes);
    receive(request);
  }

  MPI_Comm comm_;
  int partner_;
  Sample sample_;
  const ProbeBuffers& buffers_;
  Clock::time_point begun_;
  std::array<MPI_Request, 2 * ProbeBuffers::depth> requests_;  ///< receives, then sends
  std::array<bool, ProbeBuffers::depth> last_sent_{};          ///< per send slot: the empty last message was sent
  std::uint64_t counted_ = 0, moves_ = 0;
};

/// So that the sample finds a connection.
void greet(MPI_Comm comm, int partner) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, partner, greeting_tag, comm, &requests[0]));
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, partner, greeting_tag, comm, &requests[1]));
  for (MPI_Request& request : requests) wait_until_done(request);
}

/// Total bandwidth of all pairs in one direction, in bytes per second. `partner`: −1 on ranks without one. Collective
/// over `comm`, which must not be used for anything else meanwhile; exactly the same result on all ranks.
std::uint64_t probe(MPI_Comm comm, int partner, Sample sample, const ProbeBuffers& buffers) {
  const bool takes_part = partner >= 0;
  if (takes_part) greet(comm, partner);
  int ready = 1, all_ready = 0;
  reduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, comm);
  std::uint64_t own = 0, all = 0;
  if (takes_part) {
    ProbeStream stream(comm, partner, sample, buffers);
    finish(stream);
    own = stream.rate();
  }
  reduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, comm);  // whole numbers: the same sum in any order
  return all / 2;
}

using std::chrono::microseconds;

constexpr std::size_t repetitions = 3;
/// Samples of one pair alone: one to learn in what messages, then two pairs.
constexpr std::size_t samples_of_one_pair = 1 + 2 * repetitions;
constexpr microseconds shortest{15'000}, longest{100'000};
constexpr std::size_t least_message_bytes = 4096, first_message_bytes = 16384;
/// Messages that one pair alone sends in the time that counts: as wished, and the fewest that tell a host's rate.
constexpr double messages_in_sample = 64, enough_messages = 16;

class Measuring {
 public:
  Measuring(MPI_Comm comm, const Network& part, const Numbering& numbering, microseconds budget)
      : comm_(comm), part_(part), numbering_(numbering), budget_(budget), rank_(rank_in(comm)) {
    std::string problem;
    try_local(problem, [&] { buffers_.emplace(); });
    if (!all_ok(comm, problem, "uplinks are not measured")) throw InputError("no memory to measure uplinks");
  }

  /// The number of inter-switch links that fit the time budget.
  [[nodiscard]] std::size_t most() const {
    const auto samples = static_cast<std::size_t>(budget_ / shortest);
    return std::max<std::size_t>(1, (std::max(samples, samples_of_one_pair) - samples_of_one_pair) / repetitions);
  }
  void divide_time(std::size_t switch_links) {
    const auto samples = static_cast<std::int64_t>(samples_of_one_pair + repetitions * switch_links);
    sample_.time = std::clamp(budget_ / samples, shortest, longest);
  }

  [[nodiscard]] std::uint64_t one_pair(const std::vector<HostPair>& across) {
    std::vector<HostPair> one = pair_without_switch_link(part_);
    if (one.empty()) one.push_back(across.front());
    learn_messages(one);
    return std::max(median(one), median({across.front()}));
  }
  [[nodiscard]] std::uint64_t host_rate() {
    sample_ = {microseconds{10'000}, least_message_bytes};
    std::vector<HostPair> one = pair_without_switch_link(part_);
    if (one.empty()) one.emplace_back(part_.hosts()[0], part_.hosts()[1]);
    learn_messages(one);
    const int partner = partner_in(one);
    for (;; sample_.time *= 2) {  // slow links and ranks that share a processor bring few messages in a short time
      const std::uint64_t first = probe(comm_, partner, sample_, *buffers_);
      const std::uint64_t rate = std::max(first, probe(comm_, partner, sample_, *buffers_));
      const double messages =
          static_cast<double>(rate) * sample_.counted().count() / static_cast<double>(sample_.message_bytes);
      if (messages >= enough_messages || 2 * sample_.time > longest) return rate;
    }
  }
  [[nodiscard]] std::uint64_t median(const std::vector<HostPair>& pairs) {
    const int partner = partner_in(pairs);
    std::array<std::uint64_t, repetitions> rates{};
    for (std::uint64_t& rate : rates) rate = probe(comm_, partner, sample_, *buffers_);
    std::ranges::sort(rates);
    return rates[repetitions / 2];
  }

 private:
  /// Chooses the message size from the rate of one pair.
  void learn_messages(const std::vector<HostPair>& one) {
    const auto rough = static_cast<double>(probe(comm_, partner_in(one), sample_, *buffers_));
    const auto bytes = static_cast<std::size_t>(rough * sample_.counted().count() / messages_in_sample);
    sample_.message_bytes = std::clamp(bytes, least_message_bytes, ProbeBuffers::most_message_bytes);
  }
  /// The first rank of a host takes part for it.
  [[nodiscard]] int rank_of(Node host) const { return numbering_.comm_rank[part_.first_rank(host)]; }
  [[nodiscard]] int partner_in(const std::vector<HostPair>& pairs) const {
    for (const auto& [a, b] : pairs) {
      if (rank_of(a) == rank_) return rank_of(b);
      if (rank_of(b) == rank_) return rank_of(a);
    }
    return -1;
  }

  MPI_Comm comm_;
  const Network& part_;
  const Numbering& numbering_;
  microseconds budget_;
  int rank_ = 0;
  Sample sample_{shortest, first_message_bytes};
  std::optional<ProbeBuffers> buffers_;
};

}  // namespace

std::uint64_t measure_host_rate(MPI_Comm comm, const Network& part, const Numbering& numbering) {
  return Measuring(comm, part, numbering, shortest).host_rate();
}

SwitchLinkMeasurement measure_switch_links(MPI_Comm comm, const Network& part, const Numbering& numbering,
                                           std::span<const SwitchLink> wanted, std::chrono::milliseconds budget) {
  const auto begun = std::chrono::steady_clock::now();
  Measuring measuring(comm, part, numbering, budget);
  const std::vector<std::size_t> stands_for = representatives(wanted, measuring.most());
  const std::set<std::size_t> probed(stands_for.begin(), stands_for.end());
  measuring.divide_time(probed.size());

  SwitchLinkMeasurement found;
  found.probed = probed.size();
  found.switch_links.resize(wanted.size());
  found.host_rate = measuring.one_pair(switch_link_pairs(part, wanted.front().link));
  for (const std::size_t i : probed) {
    const std::vector<HostPair> pairs = switch_link_pairs(part, wanted[i].link);
    found.switch_links[i].rate = found.host_rate > 0 ? measuring.median(pairs) : 0;
  }
  for (std::size_t i = 0; i < wanted.size() && found.host_rate > 0; ++i) {
    const std::size_t of = stands_for[i];
    MeasuredSwitchLink& switch_link = found.switch_links[i];
    switch_link.link = wanted[i].link;
    switch_link.pairs = wanted[i].hosts;
    // A link that was not probed gets the same rate per host pair.
    if (i != of) switch_link.rate = found.switch_links[of].rate * wanted[i].hosts / wanted[of].hosts;
    switch_link.width = static_cast<double>(switch_link.rate) / static_cast<double>(found.host_rate);
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return found;
}

}  // namespace hocket::runtime
