/// hocket.h: the program's own collective calls, and what went wrong.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/choose/candidate.hpp"
#include "core/of_thread.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

using hocket::all_candidates, hocket::Candidate, hocket::of_thread;
using namespace hocket::runtime;

namespace {

ApiError& last() { return of_thread<ApiError>(); }

}  // namespace

int hocket_leave_alone(MPI_Comm comm) {
  return c_boundary([&] {
    need_intracommunicator(comm);
    Team::leave_alone(comm);
  });
}

const char* hocket_candidate_name(int number) {
  return number >= 0 && static_cast<std::size_t>(number) < all_candidates.size()
             ? all_candidates[static_cast<std::size_t>(number)].name.data()
             : nullptr;
}

int hocket_serve_by(MPI_Comm comm, const char* candidate) {
  return c_boundary([&] {
    need_intracommunicator(comm);
    const auto found =
        std::ranges::find(all_candidates, std::string_view(candidate == nullptr ? "" : candidate), &Candidate::name);
    if (found == all_candidates.end())
      throw ApiError{HOCKET_ERR_ARGUMENT, "no candidate has this name; hocket_candidate_name() lists them"};
    Team::known(comm)->serve_by(*found);
  });
}

uint64_t hocket_scheduled_calls(void) { return scheduled_calls.load(std::memory_order_relaxed); }

int hocket::runtime::report(const ApiError& error) {
  last() = error;
  return error.code;
}

const char* hocket_error_string(int code) {
  if (code == last().code && !last().text.empty()) return last().text.c_str();
  if (const char* text = meaning(code)) return text;
  last() = {code, what_mpi_says(code)};
  return last().text.c_str();
}
