/// hocket_network.h: what messages cost.

#include "hocket_network.h"
#include "runtime/c_api/api.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int forth_tag = 0, back_tag = 1;
constexpr std::int64_t most_measured_bytes = std::int64_t{1} << 26;
constexpr int most_count = 1024;  // messages of a flow

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class NetworkWork {
 public:
  NetworkWork(MPI_Comm comm, const hocket_network_work& work)
      : comm_(comm),
        w_(work),
        out_(bytes()),
        in_(bytes() * static_cast<std::size_t>(std::max(work.source_count * work.count, 1))) {}

  double once() {
    switch (w_.what) {
      case HOCKET_FLOW:
        return flow();
      case HOCKET_STEP:
        return w_.to < 0 ? 0 : step();
      case HOCKET_SENDRECV:
        return w_.to < 0 ? 0 : both_ways();
      default:
        return w_.to >= 0 ? lead() : (w_.from >= 0 ? (follow(), 0) : 0);
    }
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(w_.bytes); }
  [[nodiscard]] int length() const { return static_cast<int>(w_.bytes); }

  void wait(MPI_Request& request) {
    if (w_.asleep != 0)
      wait_as_schedules(request);
    else
      check(PMPI_Wait(&request, MPI_STATUS_IGNORE));
  }

  static void wait_as_schedules(MPI_Request& request) { wait_as_schedules(std::span(&request, 1)); }
  static void wait_as_schedules(std::span<MPI_Request> requests) {
    wait_for([&] { return all_done(requests) ? Progress::over : Progress::none; });
  }

  void send(int to, int length, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Isend(out_.data(), length, MPI_BYTE, to, tag, comm_, &request));
    wait(request);
  }

  void receive(int from, int length, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Irecv(in_.data(), length, MPI_BYTE, from, tag, comm_, &request));
    wait(request);
  }

  /// The rank whose time counts.
  double lead() {
    if (w_.what == HOCKET_RECEIVE) {
      send(w_.to, 0, forth_tag);
      let_come();
      const Clock::time_point begin = Clock::now();
      receive(w_.to, length(), back_tag);
      return seconds_since(begin);
    }
    const Clock::time_point begin = Clock::now();
    send(w_.to, length(), forth_tag);
    double lasted = seconds_since(begin);
    receive(w_.to, w_.what == HOCKET_PING ? length() : 0, back_tag);
    if (w_.what == HOCKET_PING) lasted = seconds_since(begin);
    return lasted;
  }

  /// Awake if it may, as processors that have slept are slow at first.
  void let_come() const {
    const Clock::time_point begin = Clock::now();
    if (w_.asleep != 0) std::this_thread::sleep_for(std::chrono::duration<double>(w_.pause));
    while (seconds_since(begin) < w_.pause) {
    }
  }

  void follow() {
    if (w_.what == HOCKET_UNEXPECTED) std::this_thread::sleep_for(std::chrono::duration<double>(w_.pause));
    receive(w_.from, w_.what == HOCKET_RECEIVE ? 0 : length(), forth_tag);
    send(w_.from, w_.what == HOCKET_PING || w_.what == HOCKET_RECEIVE ? length() : 0, back_tag);
  }

  double flow() {
    std::vector<MPI_Request> requests;
    if (w_.to >= 0) {
      MPI_Request go = MPI_REQUEST_NULL;
      check(PMPI_Irecv(nullptr, 0, MPI_BYTE, w_.to, back_tag, comm_, &go));
      wait_as_schedules(go);
      for (int i = 0; i < w_.count; ++i)
        check(PMPI_Isend(out_.data(), length(), MPI_BYTE, w_.to, forth_tag, comm_, &requests.emplace_back()));
    }
    const Clock::time_point begin = Clock::now();
    std::byte* place = in_.data();
    for (int source = 0; source < w_.source_count; ++source)
      for (int i = 0; i < w_.count; ++i, place += w_.bytes)
        check(PMPI_Irecv(place, length(), MPI_BYTE, w_.sources[source], forth_tag, comm_, &requests.emplace_back()));
    for (int source = 0; source < w_.source_count; ++source)
      check(PMPI_Isend(nullptr, 0, MPI_BYTE, w_.sources[source], back_tag, comm_, &requests.emplace_back()));
    wait_as_schedules(requests);
    return w_.source_count > 0 ? seconds_since(begin) : 0;
  }

  double both_ways() {
    const Clock::time_point begin = Clock::now();
    check(PMPI_Sendrecv(out_.data(), length(), MPI_BYTE, w_.to, forth_tag, in_.data(), length(), MPI_BYTE, w_.from,
                        forth_tag, comm_, MPI_STATUS_IGNORE));
    return seconds_since(begin);
  }

  double step() {
    const Clock::time_point begin = Clock::now();
    MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL, token = MPI_REQUEST_NULL, answer = MPI_REQUEST_NULL;
    check(PMPI_Irecv(in_.data(), length(), MPI_BYTE, w_.from, forth_tag, comm_, &in));
    check(PMPI_Irecv(nullptr, 0, MPI_BYTE, w_.to, back_tag, comm_, &token));
    check(PMPI_Isend(out_.data(), length(), MPI_BYTE, w_.to, forth_tag, comm_, &out));
    wait_as_schedules(in);
    check(PMPI_Isend(nullptr, 0, MPI_BYTE, w_.from, back_tag, comm_, &answer));
    wait_as_schedules(token);
    const double lasted = seconds_since(begin);
    wait_as_schedules(out);
    wait_as_schedules(answer);
    return lasted;
  }

  const MPI_Comm comm_;
  const hocket_network_work& w_;
  std::vector<std::byte> out_, in_;
};

void check_work(MPI_Comm comm, const hocket_network_work* work, int repeat, const double* seconds) {
  need(work, "work");
  need(seconds, "seconds");
  const int size = size_of(comm);
  if (work->what < HOCKET_PING || work->what > HOCKET_SENDRECV)
    throw ApiError{HOCKET_ERR_ARGUMENT, "no such measurement exists"};
  if (work->to < -1 || work->to >= size || work->from < -1 || work->from >= size)
    throw ApiError{HOCKET_ERR_ARGUMENT, "there is no such rank"};
  if (work->bytes < 0 || work->bytes > most_measured_bytes || repeat < 0 || work->count < 0 ||
      work->count > most_count || work->source_count < 0 || work->source_count > size ||
      !(work->pause >= 0 && work->pause <= 1))
    throw ApiError{HOCKET_ERR_ARGUMENT, "bytes (to 2^26), repeat, count (to 1024) or pause (to 1 s) are out of range"};
  if (work->source_count > 0) need(work->sources, "sources");
  for (int i = 0; i < work->source_count; ++i)
    if (work->sources[i] < 0 || work->sources[i] >= size)
      throw ApiError{HOCKET_ERR_ARGUMENT, "there is no such source"};
}

}  // namespace
}  // namespace hocket::runtime

using namespace hocket::runtime;

HOCKET_API int hocket_measure_network(MPI_Comm comm, const hocket_network_work* work, int repeat, double seconds[]) {
  return c_boundary([&] {
    need_intracommunicator(comm);
    Requests::instance().post_remaining();
    std::unique_ptr<NetworkWork> mine;
    collective_try(comm, HOCKET_ERR_ARGUMENT, [&] {
      check_work(comm, work, repeat, seconds);
      mine = std::make_unique<NetworkWork>(comm, *work);
    });
    const bool each_time_anew = work->what == HOCKET_FLOW || work->what == HOCKET_STEP;
    for (int i = 0; i < repeat; ++i) {
      if (each_time_anew) agree(comm, {HOCKET_SUCCESS, {}});
      seconds[i] = mine->once();
    }
  });
}
