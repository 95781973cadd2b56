#include "sort/core/elements/pack.hpp"

#include "width.hpp"

namespace hocket {
namespace {

/// f(width of keys, width of payloads), where the compiler knows them if they are common ones.
template <class F>
void with_widths(std::size_t key_width, std::size_t payload_width, F f) {
  elements::with_width(key_width,
                       [&](auto key) { elements::with_width(payload_width, [&](auto payload) { f(key, payload); }); });
}

}  // namespace

void pack(std::size_t key_width, const std::byte* keys, std::size_t payload_width, const std::byte* payload,
          std::size_t n, std::byte* records) {
  with_widths(key_width, payload_width, [&](auto key, auto data) {
    for (std::size_t i = 0; i < n; ++i) {
      std::byte* const record = records + i * (key.value() + data.value());
      elements::copy_element(key, keys + i * key.value(), record);
      elements::copy_element(data, payload + i * data.value(), record + key.value());
    }
  });
}

void unpack(std::size_t key_width, std::byte* keys, std::size_t payload_width, std::byte* payload, std::size_t n,
            const std::byte* records) {
  with_widths(key_width, payload_width, [&](auto key, auto data) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::byte* const record = records + i * (key.value() + data.value());
      elements::copy_element(key, record, keys + i * key.value());
      elements::copy_element(data, record + key.value(), payload + i * data.value());
    }
  });
}

}  // namespace hocket
