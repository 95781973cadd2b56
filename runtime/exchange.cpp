#include "exchange.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "idle.hpp"
#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

constexpr int data_tag = 1;
constexpr int token_tag = 2;
constexpr std::size_t receives_posted = 64;  ///< segments with a buffer waiting for them

struct Token {
  std::uint32_t round, send;
};

/// Segments of a message of `bytes` bytes.
std::size_t segments_of(std::size_t bytes, std::size_t segment) { return (bytes + segment - 1) / segment; }

}  // namespace

/// Everything that is in flight during one exchange.
class Exchange::Pass {
 public:
  Pass(Exchange& owner, const std::byte* send, std::byte* receive, std::size_t bytes)
      : owner_(owner), program_(owner.program_), settings_(owner.settings_), send_(send), receive_(receive),
        bytes_(bytes), segments_(segments_of(bytes, settings_.segment)), missing_(program_.receives.size(), segments_),
        posted_in_(receives_posted, 0) {
    requests_.assign(receives_posted + settings_.ahead, MPI_REQUEST_NULL);
    finished_.resize(requests_.size());
    std::size_t releases = 0;
    for (const auto& receive_op : program_.receives) releases += receive_op.releases.size();
    token_requests_.reserve(releases);
    for (const auto& send_op : program_.sends) {
      const bool free = settings_.flow == Flow::free;
      tokens_missing_.push_back(free ? 0 : static_cast<std::uint32_t>(send_op.tokens.size()));
      tokens_expected_ += tokens_missing_.back();
    }
    for (const std::uint32_t early : std::exchange(owner_.early_tokens_, {})) take_token(early);
  }

  void run() {
    for (std::size_t slot = 0; slot < receives_posted; ++slot) post_receive(slot);
    IdleWait idle(settings_.max_sleep_us);
    while (receives_done_ < program_.receives.size() || sends_done_ < program_.sends.size() * segments_) {
      const bool moved = push_sends() | collect_tokens() | collect_completions();
      if (moved)
        idle.reset();
      else
        idle.wait();
    }
    check(PMPI_Waitall(static_cast<int>(token_requests_.size()), token_requests_.data(), MPI_STATUSES_IGNORE));
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

  bool push_sends() {
    bool moved = false;
    for (std::size_t slot = receives_posted; slot < requests_.size(); ++slot) {
      if (next_send_ == program_.sends.size() || tokens_missing_[next_send_] > 0) break;
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
                        MPI_STATUSES_IGNORE));
    if (count == MPI_UNDEFINED || count == 0) return false;
    for (int i = 0; i < count; ++i) {
      const auto slot = static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)]);
      if (slot >= receives_posted) {
        ++sends_done_;
        continue;
      }
      const std::size_t message = posted_in_[slot];
      --missing_[message];
      // Releases go out once, when so little is missing that it is in flight already.
      const std::size_t early_segments = std::min(settings_.early / settings_.segment, segments_ - 1);
      if (missing_[message] == early_segments) release(program_.receives[message]);
      if (missing_[message] == 0) ++receives_done_;
      post_receive(slot);
    }
    return true;
  }

  void release(const RankProgram::Receive& receive) {
    if (settings_.flow == Flow::free) return;
    for (const Release& waiting : receive.releases) {
      if (static_cast<int>(waiting.rank) == owner_.rank_) {
        take_token(waiting.send);
        continue;
      }
      tokens_out_.push_back({owner_.round_, waiting.send});
      token_requests_.emplace_back();
      check(PMPI_Isend(&tokens_out_.back(), sizeof(Token), MPI_BYTE, static_cast<int>(waiting.rank), token_tag,
                       owner_.comm_, &token_requests_.back()));
    }
  }

  void take_token(std::uint32_t send) {
    --tokens_missing_[send];
    --tokens_expected_;
  }

  /// Tokens of the next round may come before this one is over here, never those of a later one:
  /// nobody finishes the next round without our data.
  bool collect_tokens() {
    bool moved = false;
    while (tokens_expected_ > 0) {
      int there = 0;
      MPI_Status status;
      check(PMPI_Iprobe(MPI_ANY_SOURCE, token_tag, owner_.comm_, &there, &status));
      if (!there) break;
      Token token{};
      check(PMPI_Recv(&token, sizeof token, MPI_BYTE, status.MPI_SOURCE, token_tag, owner_.comm_, MPI_STATUS_IGNORE));
      if (token.round == owner_.round_)
        take_token(token.send);
      else
        owner_.early_tokens_.push_back(token.send);
      moved = true;
    }
    return moved;
  }

  Exchange& owner_;
  const RankProgram& program_;
  const Settings& settings_;
  const std::byte* send_;
  std::byte* receive_;
  std::size_t bytes_, segments_;

  std::vector<std::uint32_t> tokens_missing_;  ///< per send
  std::size_t tokens_expected_ = 0;
  std::vector<std::size_t> missing_;    ///< per receive: segments
  std::vector<std::size_t> posted_in_;  ///< per receive slot: which receive
  std::size_t next_receive_ = 0, next_receive_segment_ = 0, receives_done_ = 0;
  std::size_t next_send_ = 0, next_send_segment_ = 0, sends_done_ = 0;
  std::vector<MPI_Request> requests_;  ///< receive slots, then send slots
  std::vector<int> finished_;
  std::deque<Token> tokens_out_;
  std::vector<MPI_Request> token_requests_;
};

Exchange::Exchange(MPI_Comm comm, RankProgram program, std::uint64_t phases, const Settings& settings)
    : comm_(comm), program_(std::move(program)), phases_(phases), settings_(settings) {
  check(PMPI_Comm_rank(comm_, &rank_));
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
    wait_idle(requests, settings_.max_sleep_us);
    requests.resize(1);
    check(PMPI_Ibarrier(comm_, requests.data()));
    wait_idle(requests, settings_.max_sleep_us);
  }
}

}  // namespace hocket::runtime
