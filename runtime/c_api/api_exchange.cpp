/// hocket.h: running a table.
#include "runtime/c_api/api.hpp"
#include "runtime/c_api/table.hpp"

using namespace hocket::runtime;

int hocket_exchange_start(hocket_table* table, const void* const send_buffers[], void* const receive_buffers[]) {
  return c_boundary([&] {
    need(table, "table");
    table->start(send_buffers, receive_buffers);
  });
}

int hocket_exchange_test(hocket_table* table, int* over) {
  return c_boundary([&] {
    need(table, "table");
    need(over, "over");
    *over = table->test() ? 1 : 0;
  });
}

int hocket_exchange_wait(hocket_table* table) {
  return c_boundary([&] {
    need(table, "table");
    table->wait();
  });
}

int hocket_exchange(hocket_table* table, const void* const send_buffers[], void* const receive_buffers[]) {
  return c_boundary([&] {
    need(table, "table");
    table->start(send_buffers, receive_buffers);
    table->wait();
  });
}
