#pragma once
/// Keys and payloads from two arrays into one array of records, and back.
#include <cstddef>

namespace hocket {

/// n records: a key of key_width bytes and payload_width bytes of payload behind it.
void pack(std::size_t key_width, const std::byte* keys, std::size_t payload_width, const std::byte* payload,
          std::size_t n, std::byte* records);
void unpack(std::size_t key_width, std::byte* keys, std::size_t payload_width, std::byte* payload, std::size_t n,
            const std::byte* records);

}  // namespace hocket
