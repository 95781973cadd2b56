#pragma once
/// Connections that send no faster than their host's link.
#include <cstdint>
#include <string>

namespace hocket::runtime {

/// While one lives, this process's connections to hosts of the plan each send at most `rate` bytes a second. In a
/// schedule one message uses a link at a time. If it comes no faster than the link, no queue forms in front of the link
/// in which tokens, acknowledgements and TCP's own would wait. The kernel paces; where it cannot, nothing changes.
/// Source: Aggarwal, Savage, Anderson, "Understanding the performance of TCP pacing", INFOCOM 2000.
class Paced {
 public:
  /// `table`: HOCKET_PATHS_TABLE, the same each time. `rate` 0: nothing is paced. Connections that were opened in the
  /// last milliseconds may not be.
  Paced(const std::string& table, std::uint64_t rate);
  ~Paced();
  Paced(const Paced&) = delete;
  Paced& operator=(const Paced&) = delete;

 private:
  bool paces_;
};

}  // namespace hocket::runtime
