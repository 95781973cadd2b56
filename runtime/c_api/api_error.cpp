#include <array>
#include <new>

#include "runtime/c_api/api.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {

const char* meaning(int code) {
  static constexpr std::array texts = {"no error",
                                       "an argument is out of range",
                                       "no algorithm of this name serves this exchange",
                                       "the plan cannot be used",
                                       "a file cannot be read or written",
                                       "the file is not a scheduling table, or it is damaged",
                                       "the table was made for another exchange",
                                       "an exchange of this table is under way",
                                       "not enough memory"};  // from HOCKET_SUCCESS down
  static_assert(texts.size() == 1 - HOCKET_ERR_MEMORY);
  return code <= HOCKET_SUCCESS && code >= HOCKET_ERR_MEMORY ? texts[static_cast<std::size_t>(-code)] : nullptr;
}

std::string what_mpi_says(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code < 0 || PMPI_Error_string(code, text, &length) != MPI_SUCCESS) return "no such error code";
  return {text, static_cast<std::size_t>(length)};
}

ApiError current_error(int code_of_input_error) {
  try {
    throw;
  } catch (const ApiError& error) {
    return error;
  } catch (const MpiFailure& failure) {
    return {failure.code, what_mpi_says(failure.code)};
  } catch (const InputError& error) {
    return {code_of_input_error, error.what()};
  } catch (const std::bad_alloc&) {
    return {HOCKET_ERR_MEMORY, meaning(HOCKET_ERR_MEMORY)};
  }
}

void agree(MPI_Comm comm, const ApiError& mine) {
  const std::optional<int> first = first_where(mine.code != HOCKET_SUCCESS, comm);
  if (!first) return;
  struct {
    int code;
    char text[508];
  } told{mine.code, ""};
  mine.text.copy(told.text, sizeof told.text - 1);
  run_collective(PMPI_Ibcast, &told, sizeof told, MPI_BYTE, *first, comm);
  throw ApiError{told.code, *first == rank_in(comm) ? mine.text : "rank " + std::to_string(*first) + ": " + told.text};
}

}  // namespace hocket::runtime
