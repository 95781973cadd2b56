#include "exchange.hpp"

#include <algorithm>
#include <utility>

#include "idle.hpp"
#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

constexpr std::size_t receive_slots = 128;  ///< segments with a buffer waiting for them

// Signals are empty messages. A token for the k-th send of a rank has the tag first_token_tag + k, so
// that source and tag say it all: no wildcard is needed, and since messages of one source and tag
// arrive in order, a signal of the next exchange cannot be taken for one of this.
constexpr int data_tag = 0;
constexpr int acknowledgement_tag = 1;
constexpr int first_token_tag = 2;

/// Segments of a message of `bytes` bytes.
std::size_t segments_of(std::size_t bytes, std::size_t segment) { return (bytes + segment - 1) / segment; }

}  // namespace

/// Everything that is in flight during one exchange.
class Exchange::Pass {
 public:
  Pass(Exchange& owner, const std::byte* send, std::byte* receive, std::size_t bytes)
      : owner_(owner),
        program_(owner.program_),
        settings_(owner.settings_),
        send_(send),
        receive_(receive),
        bytes_(bytes),
        segments_(segments_of(bytes, settings_.segment)),
        own_tokens_(program_.sends.size(), 0),
        missing_(program_.receives.size(), segments_),
        posted_in_(receive_slots, 0),
        requests_(receive_slots + settings_.ahead, MPI_REQUEST_NULL),
        finished_(requests_.size()) {
    std::size_t signals = 0;
    for (const auto& receive_op : program_.receives) signals += receive_op.releases.size() + 1;
    signals_out_.reserve(signals);
    close_gate();
  }

  void run() {
    const FineTimers fine_timers;
    IdleWait idle(settings_.spin_us, settings_.sleep_us);
    for (std::size_t slot = 0; slot < receive_slots; ++slot) post_receive(slot);
    while (receives_done_ < program_.receives.size() || sends_done_ < program_.sends.size() * segments_) {
      const bool moved = push_sends() | collect_completions();
      if (moved)
        idle.reset();
      else
        idle.wait();
    }
    // The last acknowledgements gate no send; they must not be left over for the next exchange.
    const std::size_t sends = program_.sends.size();
    gate_.clear();
    for (std::size_t send = sends - std::min<std::size_t>(owner_.window_, sends); send < sends; ++send)
      expect(program_.sends[send].dst, acknowledgement_tag);
    wait_idle(gate_, idle);
    wait_idle(signals_out_, idle);
  }

 private:
  [[nodiscard]] std::size_t length_of(std::size_t segment) const {
    return std::min(settings_.segment, bytes_ - segment * settings_.segment);
  }

  [[nodiscard]] bool is_self(Rank rank) const { return static_cast<int>(rank) == owner_.rank_; }

  /// The next segment in schedule order, into this slot.
  void post_receive(std::size_t slot) {
    if (next_receive_ == program_.receives.size()) return;
    const auto peer = program_.receives[next_receive_].src;
    std::byte* at = receive_ + peer * bytes_ + next_receive_segment_ * settings_.segment;
    check(PMPI_Irecv(at, static_cast<int>(length_of(next_receive_segment_)), MPI_BYTE, static_cast<int>(peer), data_tag,
                     owner_.comm_, &requests_[slot]));
    posted_in_[slot] = next_receive_;
    if (++next_receive_segment_ == segments_) {
      next_receive_segment_ = 0;
      ++next_receive_;
    }
  }

  /// Sends go in order. Each passes a gate: its tokens, and the acknowledgement of the send `window`
  /// places before it; a buffered send says nothing about when its data has left the host, so its
  /// receiver does.
  void close_gate() {
    gate_.clear();
    own_tokens_awaited_ = 0;
    if (next_send_ == program_.sends.size()) return;
    if (next_send_ >= owner_.window_) expect(program_.sends[next_send_ - owner_.window_].dst, acknowledgement_tag);
    if (settings_.flow == Flow::free) return;
    for (const Rank releaser : program_.sends[next_send_].tokens) {
      if (is_self(releaser))
        ++own_tokens_awaited_;
      else
        expect(releaser, first_token_tag + static_cast<int>(next_send_));
    }
  }

  void expect(Rank from, int tag) {
    gate_.emplace_back();
    check(PMPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(from), tag, owner_.comm_, &gate_.back()));
  }

  [[nodiscard]] bool gate_open() {
    if (own_tokens_[next_send_] < own_tokens_awaited_) return false;
    int open = 0;
    check(PMPI_Testall(static_cast<int>(gate_.size()), gate_.data(), &open, MPI_STATUSES_IGNORE));
    return open != 0;
  }

  bool push_sends() {
    bool moved = false;
    for (std::size_t slot = receive_slots; slot < requests_.size(); ++slot) {
      if (next_send_ == program_.sends.size() || (next_send_segment_ == 0 && !gate_open())) break;
      if (requests_[slot] != MPI_REQUEST_NULL) continue;
      const auto peer = program_.sends[next_send_].dst;
      const std::byte* at = send_ + peer * bytes_ + next_send_segment_ * settings_.segment;
      check(PMPI_Isend(at, static_cast<int>(length_of(next_send_segment_)), MPI_BYTE, static_cast<int>(peer), data_tag,
                       owner_.comm_, &requests_[slot]));
      if (++next_send_segment_ == segments_) {
        next_send_segment_ = 0;
        ++next_send_;
        close_gate();
      }
      moved = true;
    }
    return moved;
  }

  bool collect_completions() {
    int count = 0;
    check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(),
                        MPI_STATUSES_IGNORE));
    if (count == MPI_UNDEFINED || count == 0) return false;
    for (int i = 0; i < count; ++i) {
      const auto slot = static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)]);
      if (slot < receive_slots)
        collect_segment(slot);
      else
        ++sends_done_;
    }
    return true;
  }

  void collect_segment(std::size_t slot) {
    const std::size_t message = posted_in_[slot];
    --missing_[message];
    const std::size_t early_segments = std::min(settings_.early / settings_.segment, segments_ - 1);
    if (missing_[message] == early_segments) release(program_.receives[message]);
    if (missing_[message] == 0) ++receives_done_;
    post_receive(slot);
  }

  void release(const RankProgram::Receive& receive) {
    signal(receive.src, acknowledgement_tag);
    if (settings_.flow == Flow::free) return;
    for (const Release& waiting : receive.releases) {
      if (is_self(waiting.rank))
        ++own_tokens_[waiting.send];
      else
        signal(waiting.rank, first_token_tag + static_cast<int>(waiting.send));
    }
  }

  void signal(Rank rank, int tag) {
    signals_out_.emplace_back();
    check(PMPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(rank), tag, owner_.comm_, &signals_out_.back()));
  }

  Exchange& owner_;
  const RankProgram& program_;
  const Settings& settings_;
  const std::byte* send_;
  std::byte* receive_;
  std::size_t bytes_, segments_;

  std::vector<MPI_Request> gate_;          ///< signals that the next send waits for
  std::size_t own_tokens_awaited_ = 0;     ///< of these, the ones that this rank gives itself
  std::vector<std::uint32_t> own_tokens_;  ///< per send: given so far
  std::vector<std::size_t> missing_;       ///< per receive: segments
  std::vector<std::size_t> posted_in_;     ///< per receive slot: which receive
  std::size_t next_receive_ = 0, next_receive_segment_ = 0, receives_done_ = 0;
  std::size_t next_send_ = 0, next_send_segment_ = 0, sends_done_ = 0;
  std::vector<MPI_Request> requests_;  ///< receive slots, then send slots
  std::vector<int> finished_;
  std::vector<MPI_Request> signals_out_;
};

Exchange::Exchange(MPI_Comm comm, RankProgram program, std::uint64_t phases, std::uint32_t window,
                   const Settings& settings)
    : comm_(comm), program_(std::move(program)), phases_(phases), window_(window), settings_(settings) {
  check(PMPI_Comm_rank(comm_, &rank_));
}

void Exchange::run(const std::byte* send, std::byte* receive, std::size_t bytes) {
  if (settings_.flow == Flow::barrier)
    run_with_barriers(send, receive, bytes);
  else
    Pass(*this, send, receive, bytes).run();
}

/// The plain way: everybody finishes a phase before anybody starts the next.
void Exchange::run_with_barriers(const std::byte* send, std::byte* receive, std::size_t bytes) {
  const FineTimers fine_timers;
  IdleWait idle(settings_.spin_us, settings_.sleep_us);
  auto next_send = program_.sends.begin();
  auto next_receive = program_.receives.begin();
  std::vector<MPI_Request> requests;
  const std::size_t segments = segments_of(bytes, settings_.segment);
  for (std::uint64_t phase = 0; phase < phases_; ++phase) {
    requests.clear();
    const auto each_segment = [&](auto post) {
      for (std::size_t i = 0; i < segments; ++i) {
        const std::size_t at = i * settings_.segment;
        requests.emplace_back();
        check(post(at, static_cast<int>(std::min(settings_.segment, bytes - at)), &requests.back()));
      }
    };
    for (; next_receive != program_.receives.end() && next_receive->phase == phase; ++next_receive)
      each_segment([&](std::size_t at, int length, MPI_Request* request) {
        return PMPI_Irecv(receive + next_receive->src * bytes + at, length, MPI_BYTE,
                          static_cast<int>(next_receive->src), data_tag, comm_, request);
      });
    for (; next_send != program_.sends.end() && next_send->phase == phase; ++next_send)
      each_segment([&](std::size_t at, int length, MPI_Request* request) {
        return PMPI_Isend(send + next_send->dst * bytes + at, length, MPI_BYTE, static_cast<int>(next_send->dst),
                          data_tag, comm_, request);
      });
    wait_idle(requests, idle);
    requests.resize(1);
    check(PMPI_Ibarrier(comm_, requests.data()));
    wait_idle(requests, idle);
  }
}

}  // namespace hocket::runtime
