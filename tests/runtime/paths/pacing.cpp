/* Connections on this host, some of them to a listener of the plan: pacing PORT OTHER_PORT TABLE. Prints the rates to
 * which each is held before, while and after they are paced: to the plan's listener, at it, to another, at that. */
#include "runtime/paths/pacing.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using hocket::runtime::Paced;

static sockaddr_in at(int port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

static void connect_to(int port, std::vector<int>& ends) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  const sockaddr_in name = at(port);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* plain = reinterpret_cast<const sockaddr*>(&name);
  if (bind(listener, plain, sizeof name) != 0 || listen(listener, 1) != 0 || connect(one, plain, sizeof name) != 0)
    std::exit(3);
  ends.push_back(one);
  ends.push_back(accept(listener, nullptr, nullptr));
  close(listener);
}

static void tell(const char* when, const std::vector<int>& ends) {
  std::printf("%s:", when);
  for (const int end : ends) {
    unsigned long rate = 0;
    socklen_t length = sizeof rate;
    getsockopt(end, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &length);
    std::printf(" %ld", static_cast<long>(rate));
  }
  std::printf("\n");
}

int main(int, char** words) {
  std::vector<int> ends;
  connect_to(std::atoi(words[1]), ends);
  connect_to(std::atoi(words[2]), ends);
  tell("before", ends);
  {
    const Paced paced(words[3], 2);
    tell("paced", ends);
    const Paced inner(words[3], 4);
    tell("of two calls", ends);
  }
  tell("after", ends);
  {
    const Paced paced(words[3], 1);
    dup2(ends[2], ends[0]);  // the number stands for another connection now
  }
  tell("exchanged", ends);
}
