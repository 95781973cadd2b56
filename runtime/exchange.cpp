#include "exchange.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "idle.hpp"
#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

constexpr int data_tag = 1;
constexpr int signal_tag = 2;
constexpr std::size_t signal_slots = 16;    ///< signals with a buffer waiting for them
constexpr std::size_t receive_slots = 128;  ///< segments with a buffer waiting for them
constexpr std::size_t first_send_slot = signal_slots + receive_slots;

/// Leave to go on. A token releases one send of its receiver; an acknowledgement tells the sender of
/// a message that it is (nearly) over.
struct Signal {
  static constexpr std::uint32_t acknowledgement = ~std::uint32_t{0};
  std::uint32_t round, send;
};

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
        missing_(program_.receives.size(), segments_),
        posted_in_(first_send_slot, 0) {
    requests_.assign(first_send_slot + settings_.ahead, MPI_REQUEST_NULL);
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
    std::size_t signals = 0;
    for (const auto& receive_op : program_.receives) signals += receive_op.releases.size() + 1;
    signal_requests_.reserve(signals);
    for (std::uint32_t i = 0; i < program_.sends.size(); ++i) {
      const bool free = settings_.flow == Flow::free;
      tokens_missing_.push_back(free ? 0 : static_cast<std::uint32_t>(program_.sends[i].tokens.size()));
      signals_expected_ += tokens_missing_.back() + 1;
    }
    over_.assign(program_.sends.size(), false);
    for (const auto& [source, send] : std::exchange(owner_.early_signals_, {})) take_signal(source, send);
  }

  void run() {
    for (std::size_t slot = 0; slot < signal_slots; ++slot) post_signal(slot);
    for (std::size_t slot = signal_slots; slot < first_send_slot; ++slot) post_receive(slot);
    const FineTimers fine_timers;
    IdleWait idle(settings_.spin_us, settings_.sleep_us);
    while (receives_done_ < program_.receives.size() || sends_done_ < program_.sends.size() * segments_ ||
           signals_expected_ > 0) {
      const bool moved = push_sends() | collect_completions();
      if (moved)
        idle.reset();
      else
        idle.wait();
    }
    wait_idle(signal_requests_, idle);
  }

 private:
  [[nodiscard]] std::size_t length_of(std::size_t segment) const {
    return std::min(settings_.segment, bytes_ - segment * settings_.segment);
  }

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

  /// Sends go in order, `window` at a time: a buffered send says nothing about when its data has left
  /// the host, so its receiver does.
  [[nodiscard]] bool may_start(std::size_t send) const {
    return tokens_missing_[send] == 0 && (send < owner_.window_ || over_[send - owner_.window_]);
  }

  bool push_sends() {
    bool moved = false;
    for (std::size_t slot = first_send_slot; slot < requests_.size(); ++slot) {
      if (next_send_ == program_.sends.size() || !may_start(next_send_)) break;
      if (requests_[slot] != MPI_REQUEST_NULL) continue;
      const auto peer = program_.sends[next_send_].dst;
      const std::byte* at = send_ + peer * bytes_ + next_send_segment_ * settings_.segment;
      check(PMPI_Isend(at, static_cast<int>(length_of(next_send_segment_)), MPI_BYTE, static_cast<int>(peer), data_tag,
                       owner_.comm_, &requests_[slot]));
      if (++next_send_segment_ == segments_) {
        next_send_segment_ = 0;
        ++next_send_;
      }
      moved = true;
    }
    return moved;
  }

  bool collect_completions() {
    int count = 0;
    check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(),
                        statuses_.data()));
    if (count == MPI_UNDEFINED || count == 0) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto slot = static_cast<std::size_t>(finished_[i]);
      if (slot < signal_slots)
        collect_signal(slot, statuses_[i].MPI_SOURCE);
      else if (slot < first_send_slot)
        collect_segment(slot);
      else
        ++sends_done_;
    }
    return true;
  }

  void collect_segment(std::size_t slot) {
    const std::size_t message = posted_in_[slot];
    --missing_[message];
    // Releases go out once, when so little is missing that it is in flight already.
    const std::size_t early_segments = std::min(settings_.early / settings_.segment, segments_ - 1);
    if (missing_[message] == early_segments) release(program_.receives[message]);
    if (missing_[message] == 0) ++receives_done_;
    post_receive(slot);
  }

  void release(const RankProgram::Receive& receive) {
    signal(static_cast<int>(receive.src), Signal::acknowledgement);
    if (settings_.flow == Flow::free) return;
    for (const Release& waiting : receive.releases) {
      if (static_cast<int>(waiting.rank) == owner_.rank_)
        take_signal(owner_.rank_, waiting.send);
      else
        signal(static_cast<int>(waiting.rank), waiting.send);
    }
  }

  void signal(int rank, std::uint32_t send) {
    signals_out_.push_back({owner_.round_, send});
    signal_requests_.emplace_back();
    check(PMPI_Isend(&signals_out_.back(), sizeof(Signal), MPI_BYTE, rank, signal_tag, owner_.comm_,
                     &signal_requests_.back()));
  }

  void take_signal(int source, std::uint32_t send) {
    --signals_expected_;
    if (send == Signal::acknowledgement)
      over_[owner_.send_to_[static_cast<std::size_t>(source)]] = true;
    else
      --tokens_missing_[send];
  }

  /// Never more than are still to come in this round, so that none is left over at its end.
  void post_signal(std::size_t slot) {
    if (signals_posted_ == signals_expected_) return;
    check(PMPI_Irecv(&signals_in_[slot], sizeof(Signal), MPI_BYTE, MPI_ANY_SOURCE, signal_tag, owner_.comm_,
                     &requests_[slot]));
    ++signals_posted_;
  }

  /// Signals of the next round may come before this one is over here, never those of a later one:
  /// nobody finishes the next round without our data.
  void collect_signal(std::size_t slot, int source) {
    --signals_posted_;
    const Signal in = signals_in_[slot];
    if (in.round == owner_.round_)
      take_signal(source, in.send);
    else
      owner_.early_signals_.emplace_back(source, in.send);
    post_signal(slot);
  }

  Exchange& owner_;
  const RankProgram& program_;
  const Settings& settings_;
  const std::byte* send_;
  std::byte* receive_;
  std::size_t bytes_, segments_;

  std::vector<std::uint32_t> tokens_missing_;  ///< per send
  std::vector<bool> over_;                     ///< per send: acknowledged
  std::size_t signals_expected_ = 0, signals_posted_ = 0;
  std::array<Signal, signal_slots> signals_in_;
  std::vector<std::size_t> missing_;    ///< per receive: segments
  std::vector<std::size_t> posted_in_;  ///< per receive slot: which receive
  std::size_t next_receive_ = 0, next_receive_segment_ = 0, receives_done_ = 0;
  std::size_t next_send_ = 0, next_send_segment_ = 0, sends_done_ = 0;
  std::vector<MPI_Request> requests_;  ///< signal slots, receive slots, send slots
  std::vector<int> finished_;
  std::vector<MPI_Status> statuses_;
  std::deque<Signal> signals_out_;
  std::vector<MPI_Request> signal_requests_;
};

Exchange::Exchange(MPI_Comm comm, RankProgram program, std::uint64_t phases, std::uint32_t window,
                   const Settings& settings)
    : comm_(comm), program_(std::move(program)), phases_(phases), window_(window), settings_(settings) {
  int size = 0;
  check(PMPI_Comm_rank(comm_, &rank_));
  check(PMPI_Comm_size(comm_, &size));
  send_to_.resize(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < program_.sends.size(); ++i) send_to_[program_.sends[i].dst] = i;
}

void Exchange::run(const std::byte* send, std::byte* receive, std::size_t bytes) {
  if (settings_.flow == Flow::barrier)
    run_with_barriers(send, receive, bytes);
  else
    Pass(*this, send, receive, bytes).run();
  ++round_;
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
