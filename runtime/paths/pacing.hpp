#pragma once
/// Connections that send no faster than their host's link.
#include <string>

namespace hocket::runtime {

/// While one lives, this process's connections to hosts of the plan each send no faster than the plan's table says. In
/// a schedule one message uses a link at a time. If it comes no faster than the link, no queue forms in front of the
/// link in which tokens, acknowledgements and TCP's own would wait. The kernel paces; where it cannot, nothing changes.
/// Source: Aggarwal, Savage, Anderson, "Understanding the performance of TCP pacing", INFOCOM 2000.
class Paced {
 public:
  /// `table`: Settings::paths_table, the same each time. Nothing is paced where it says no rate. `faster`: times that
  /// rate. Connections that were opened in the last milliseconds may not be paced.
  Paced(const std::string& table, double faster);
  ~Paced();
  Paced(const Paced&) = delete;
  Paced& operator=(const Paced&) = delete;

 private:
  bool paces_;
};

}  // namespace hocket::runtime
