#include "runtime/two_level/two_level_operation.hpp"

#include <cstring>

#include "core/plan/binary.hpp"

namespace hocket::runtime {

TwoLevelOperation::TwoLevelOperation(const Exchange& exchange) : exchange_(exchange), team_(*exchange.host_team()) {}

void TwoLevelOperation::begin() {
  call_ = memory().next_call();
  mismatch_.reset();
  as_first_ = true;
  put();
  if (mismatch_) memory().spoil(call_);
  memory().arrive();
  stage_ = works() || carries() ? Stage::gathering : Stage::carrying;
}

bool TwoLevelOperation::advance() {
  if (stage_ != Stage::taken && waits_for_more()) (void)all_in();  // moves messages outside the aggregates
  if (stage_ == Stage::gathering && memory().all_here()) {
    if (works()) {
      work();
      memory().arrive();
    }
    stage_ = Stage::working;
    ++moves_;
  }
  if (stage_ == Stage::working && (!carries() || memory().all_here())) {
    if (carries()) begin_carrying();
    stage_ = Stage::carrying;
    ++moves_;
  }
  if (stage_ == Stage::carrying && exchange_.all_lead()) {
    if (!all_done(requests_)) return false;
    memory().arrive();
    stage_ = Stage::landing;
    ++moves_;
  }
  if (stage_ == Stage::landing) {
    if (!memory().all_here()) return false;
    end();
  }
  if (stage_ == Stage::carrying) {
    if (hosts().leads() ? !carried() : !memory().completed(call_)) return false;
    if (hosts().leads()) memory().complete(call_);
    end();
  }
  if (stage_ != Stage::taken || !all_in()) return stage_ == Stage::over;
  stage_ = Stage::over;
  if (mismatch_ || spoilt()) fail();
  return true;
}

void TwoLevelOperation::put_mark(std::byte* at) const {
  const Mark mark = spoilt() ? 0 : given_;
  std::memcpy(at, &mark, mark_bytes());
}

void TwoLevelOperation::check_mark(const std::byte* at, std::size_t host) {
  Mark mark = given_;
  std::memcpy(&mark, at, mark_bytes());
  if (mark != given_) differs({hosts().leader(host), LengthMismatch::unknown, given_});
}

/// Only ranks that detected the mismatch print the reason.
void TwoLevelOperation::fail() const {
  if (mismatch_) runtime::fail(name_, exchange_.rank(), *mismatch_);
  if (!as_first_)
    say_once(std::string(name_) + ": rank " + std::to_string(exchange_.rank()) + " gives " + std::to_string(given_) +
             " bytes and another rank of its host " + std::to_string(memory().given_bytes(call_)) +
             ", or they differ in a part; counts and types must agree on all ranks");
  throw MpiFailure{MPI_ERR_TRUNCATE};
}

void TwoLevelOperation::end() {
  take();
  stage_ = Stage::taken;
  ++moves_;
}

void TwoLevelOperation::give(std::uint64_t bytes, std::span<const std::uint64_t> more) {
  ByteWriter out;
  out.fixed(bytes);
  for (const std::uint64_t number : more) out.fixed(number);
  given_ = bytes;
  as_first_ = memory().give(call_, static_cast<std::uint32_t>(checksum(out.bytes())), bytes);
}

void TwoLevelOperation::begin_carrying() {
  if (exchange_.all_lead()) return begin_share();
  if (planned().window == 0) {
    requests_.assign(1, MPI_REQUEST_NULL);
    carry(team_.between_leaders, requests_.data());
    return;
  }
  traffic_ = traffic();
  traffic_.spoilt = spoilt();
  run_.emplace(exchange_, traffic_);
  run_->begin();
}

void TwoLevelOperation::begin_share() {
  constexpr int aggregate_tag = 0;
  prepare_share();
  const std::vector<Carriage> carriages = carriages_of(hosts());
  const auto request = [this] { return &requests_.emplace_back(MPI_REQUEST_NULL); };
  for (const Carriage& carriage : carriages)
    if (const Span in = coming_in(carriage.from_host); in.length > 0)
      check(PMPI_Irecv(in.at, static_cast<int>(in.length), MPI_BYTE, static_cast<int>(carriage.from), aggregate_tag,
                       exchange_.comm(), request()));
  for (const Carriage& carriage : carriages)
    if (const Span out = going_out(carriage.to_host); out.length > 0)
      check(PMPI_Isend(out.at, static_cast<int>(out.length), MPI_BYTE, static_cast<int>(carriage.to), aggregate_tag,
                       exchange_.comm(), request()));
}

bool TwoLevelOperation::carried() {
  if (run_) {
    if (!run_->advance()) return false;
    if (run_->mismatch()) {
      differs(*run_->mismatch());
      memory().spoil(call_);
    }
    run_.reset();
    return true;
  }
  return all_done(requests_);
}

/// A rank that this one waits for may itself wait for a message from or to this one, by the program: MPI must move
/// them. Sleeps double, so that long calls are not woken often.
bool TwoLevelOperation::wait() {
  using namespace std::chrono_literals;
  if (waits_for_more()) return false;
  const bool meets = stage_ == Stage::gathering || stage_ == Stage::working || stage_ == Stage::landing;
  if (meets || !carries()) {
    move_messages();
    if (meets)
      memory().await_all(sleep_);
    else
      memory().await_completion(call_, sleep_);
    sleep_ = std::min<std::chrono::microseconds>(2 * sleep_, 10ms);
  } else if (!run_)
    check(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  else
    return false;
  return true;
}

/// Looks for a message that nobody sends: one that is there would end the look, in Open MPI before it moves any.
void TwoLevelOperation::move_messages() const {
  constexpr int no_tag = 0;
  int found = 0;
  check(PMPI_Iprobe(static_cast<int>(exchange_.rank()), no_tag, exchange_.comm(), &found, MPI_STATUS_IGNORE));
}

}  // namespace hocket::runtime
