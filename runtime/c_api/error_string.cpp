#include "core/of_thread.hpp"
#include "runtime/c_api/api.hpp"

namespace hocket::runtime {
namespace {

ApiError& last() { return of_thread<ApiError>(); }

}  // namespace

int report(const ApiError& error) {
  last() = error;
  return error.code;
}

}  // namespace hocket::runtime

const char* hocket_error_string(int code) {
  using namespace hocket::runtime;
  if (code == last().code && !last().text.empty()) return last().text.c_str();
  if (const char* text = meaning(code)) return text;
  last() = {code, what_mpi_says(code)};
  return last().text.c_str();
}
