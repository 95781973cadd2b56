#pragma once
/// Everything that is in flight during one exchange.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/buffers/traffic.hpp"
#include "runtime/exchange/exchange.hpp"

namespace hocket::runtime {

/// A message that is not as long as its receiver expects.
struct LengthMismatch {
  static constexpr std::size_t unknown = ~std::size_t{0};  ///< only that it is another one

  Rank from = 0;
  std::size_t sent = 0, expected = 0;  ///< bytes
  bool passed_on = false;              ///< it ended early, since its sender had found another one
};

class ExchangeRun {
 public:
  /// Both must outlive the pass.
  ExchangeRun(const Exchange& owner, const Traffic& traffic);
  ExchangeRun(const ExchangeRun&) = delete;
  ExchangeRun& operator=(const ExchangeRun&) = delete;

  void begin();  ///< posts the first receives
  /// Moves what can be moved and does not block; true when everything is in and nothing of this
  /// exchange is left in MPI.
  [[nodiscard]] bool advance();
  [[nodiscard]] std::uint64_t moves() const { return moves_; }  ///< grows when advance() moved something
  /// Gives up the order and hands MPI all that is left, so that nobody waits for this rank's next step
  /// while it waits inside the MPI library. Not for exchanges that forward or combine.
  void post_remaining();
  /// The order costs too much: from here on this rank waits for nothing but bytes that it forwards or combines, and
  /// lets all go on that wait for it. In the barrier flow nothing changes where there are such bytes.
  void give_up_order();
  /// The first message that was found to differ from what was expected, and by which the call fails. To be asked when
  /// the run is over.
  [[nodiscard]] const std::optional<LengthMismatch>& mismatch() const { return mismatch_; }
  /// Everything is with MPI: nobody waits for this rank's next step, and another pass may begin on the same
  /// communicator.
  [[nodiscard]] bool handed_over() const;

 private:
  static constexpr std::size_t receive_slots = 128;  ///< segments with a buffer waiting for them

  /// A segment on its way, and its bytes side by side where they are not so in memory.
  struct Slot {
    bool sends = false;
    bool in = false;  ///< a partial result that has come in
    std::size_t message = 0, segment = 0;
    std::uint64_t sequence = 0;  ///< order of posting
    std::vector<Span> spans;
    std::vector<std::byte> staging;
  };
  /// A send under way. It has slots of its own, so that no other send can keep it from going on.
  struct SendSlot {
    std::size_t send = 0;
    bool open = false;                ///< it has started or may
    std::vector<MPI_Request> tokens;  ///< receives of the tokens that it waits for
    std::size_t own_tokens = 0;       ///< number of tokens that it expects from this rank itself
    std::size_t next_segment = 0, done = 0;
    Cursor at;
    std::vector<Span> next;  ///< memory that the next segment reads
    std::size_t held = 0;    ///< number of its spans that are known to have arrived
  };
  /// A rank whose messages are not as expected. What it still sends is taken as it comes, by its order.
  struct Stray {
    Rank from = 0;
    std::vector<std::size_t> left;  ///< receives that are not over
    std::size_t over = 0;           ///< receives in `left` that have ended
    std::size_t bytes = 0;          ///< bytes received for the first of the other receives
    Cursor at;                      ///< in it
    std::vector<std::byte> staging;
    std::vector<Span> spans;
    MPI_Request request = MPI_REQUEST_NULL;  ///< for the segment that comes in, of so many bytes
    std::size_t length = 0;
    bool more = false;  ///< another one follows
    bool ended_early = false;
  };
  enum class Push : std::uint8_t { moved, waits, full };
  /// In the barrier flow messages and barrier, once per phase; otherwise the others in turn.
  enum class Stage : std::uint8_t { messages, barrier, acknowledgements, signals, over };

  [[nodiscard]] std::size_t segments_of(std::size_t bytes) const;
  [[nodiscard]] std::size_t length_of(const Messages& messages, std::size_t message, std::size_t segment) const;
  [[nodiscard]] bool signals() const { return settings_.flow_control != Flow::barrier; }
  [[nodiscard]] bool tokens() const { return settings_.flow_control == Flow::token; }
  [[nodiscard]] bool is_self(Rank rank) const { return static_cast<int>(rank) == owner_.rank_; }
  /// True if data that this rank still has to send is invalid. Its messages then end early, by an empty segment that
  /// says that more follows.
  [[nodiscard]] bool ends_early() const { return traffic_.spoilt || (mismatch_ && (held_ || missing_)); }
  /// True if the messages of a phase carry partial results.
  [[nodiscard]] bool combines(std::uint64_t phase) const {
    return traffic_.combining && phase < traffic_.combining->phases;
  }

  [[nodiscard]] bool stage_done();
  void begin_next_stage();
  void begin_phase(std::uint64_t phase);
  void post_barriers(std::uint64_t number);

  [[nodiscard]] std::size_t add_slot();
  void post_receives();
  [[nodiscard]] bool next_receive(std::size_t& message);
  void post_receive(std::size_t slot, std::size_t message);

  bool push_sends();
  [[nodiscard]] bool admit();
  void expect_acknowledgements(std::size_t sends);
  void poll_acknowledgements();
  [[nodiscard]] bool may_start(SendSlot& send_slot);
  [[nodiscard]] bool owes_signals(std::size_t send) const;
  [[nodiscard]] bool holds_next(SendSlot& send_slot) const;
  [[nodiscard]] bool is_there(const Span& span, const RankProgram::Send& send) const;
  void prepare_next(SendSlot& send_slot);
  [[nodiscard]] Push push(std::size_t send_slot);

  bool collect_completions();
  void collect_received(std::size_t slot);
  void combine_received();
  [[nodiscard]] bool comes_after_another(std::size_t waiting) const;
  void collect_sent(std::size_t slot);
  void release(std::size_t receive);
  void release_all();
  void keep_tokens(SendSlot& send_slot);
  void signal(Rank rank, int tag);
  [[nodiscard]] MPI_Request expect_signal(Rank rank, int tag);

  void look_for_strays();
  void look_at(Rank src);
  [[nodiscard]] bool moves_after_all();
  [[nodiscard]] std::optional<MPI_Status> next_unexpected(Rank src);
  [[nodiscard]] bool is_signal(const MPI_Status& found) const;
  [[nodiscard]] bool all_posted_but(Rank src, int tag) const;
  [[nodiscard]] bool is_stray(Rank src) const;
  void leave_plan(Rank src);
  bool take_strays();
  [[nodiscard]] bool take_next(Stray& stray);
  void place(Stray& stray);
  void end_message(Stray& stray, std::size_t receive, std::size_t bytes);

  template <class... Numbers>
  void trace(std::string_view what, Numbers... numbers) const {
    if (owner_.trace_ != nullptr) owner_.trace_->event(what, numbers...);
  }

  const Exchange& owner_;
  const RankProgram& program_;
  const Settings& settings_;
  const Traffic& traffic_;
  std::size_t segment_;              ///< bytes of one
  std::optional<Ranges> held_;       ///< addresses whose data has arrived or was present at the start
  std::optional<Arrivals> missing_;  ///< messages still to arrive per address, where messages carry partial results
  Stage stage_ = Stage::messages;
  std::uint64_t moves_ = 0;
  std::uint64_t last_phase_ = 0;                  ///< nothing of a later one begins yet
  std::size_t sends_due_ = 0, receives_due_ = 0;  ///< sends and receives up to last_phase_
  bool remaining_posted_ = false;
  bool order_given_up_ = false;        ///< nothing waits for tokens and acknowledgements
  std::vector<MPI_Request> barriers_;  ///< one, or all that are left
  std::optional<LengthMismatch> mismatch_;
  std::vector<Stray> strays_;
  std::vector<std::pair<Rank, int>> early_signals_;  ///< taken before they were expected: from whom, and their tags
  /// Time of the next look for unexpected messages, and the wait after that. Reset whenever something moves.
  std::optional<std::chrono::steady_clock::time_point> next_look_;
  std::chrono::milliseconds until_look_{};

  std::vector<Slot> slots_;  ///< slots of receives, then of each send slot, then those added by post_remaining()
  std::vector<MPI_Request> requests_;  ///< one per slot
  std::vector<int> finished_;
  std::uint64_t posted_ = 0;

  std::vector<std::size_t> free_receives_;                     ///< slots
  std::vector<Cursor> receive_at_;                             ///< per receive
  std::vector<std::size_t> receive_begin_;                     ///< per receive: segments from the same rank before it
  std::vector<bool> last_in_;                                  ///< per receive: its last segment
  std::vector<std::size_t> receive_posted_, receive_missing_;  ///< per receive: segments
  std::size_t group_ = 0, turn_ = 0, round_ = 0, receives_done_ = 0;
  std::vector<std::size_t> to_combine_;  ///< slots for partial results, in the order of posting

  std::vector<SendSlot> send_slots_;
  std::vector<std::size_t> free_send_slots_, active_;  ///< active: in the order of the program
  std::size_t next_send_ = 0, started_ = 0, sends_done_ = 0;
  std::size_t partial_sends_left_ = 0;     ///< incomplete sends of partial results
  std::vector<std::size_t> send_begin_;    ///< per send: segments to the same rank before it
  std::vector<bool> handed_;               ///< per send: all of it is with MPI
  std::vector<std::uint32_t> own_tokens_;  ///< per send: given so far by this rank
  std::vector<MPI_Request> acks_;          ///< per send
  std::size_t acks_expected_ = 0, acks_in_ = 0;
  std::vector<MPI_Request> signals_;  ///< going out, and tokens that no send has waited for
};

}  // namespace hocket::runtime
