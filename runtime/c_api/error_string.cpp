#include "runtime/c_api/api.hpp"

namespace hocket::runtime {
namespace {

thread_local ApiError last{HOCKET_SUCCESS, {}};

}  // namespace

int report(const ApiError& error) {
  last = error;
  return last.code;
}

}  // namespace hocket::runtime

const char* hocket_error_string(int code) {
  using namespace hocket::runtime;
  if (code == last.code && !last.text.empty()) return last.text.c_str();
  if (const char* text = meaning(code)) return text;
  last = {code, what_mpi_says(code)};
  return last.text.c_str();
}
