/* What a program sees of its sockets: every result and error, and whether a port was chosen by it. The same with and
 * without the preloaded library; arguments: the port to which it connects, and two of its own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MANY = 2000 };

static struct sockaddr_in four(const char* ip, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, ip, &address.sin_addr);
  return address;
}

static void say(const char* what, int result) { printf("%s: %s\n", what, result == 0 ? "ok" : strerrorname_np(errno)); }

static int port_of(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  return getsockname(fd, (struct sockaddr*)&address, &length) != 0 ? -1
                                                                   : ntohs(((struct sockaddr_in*)&address)->sin_port);
}

static int option(int fd, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  getsockopt(fd, SOL_SOCKET, name, &value, &length);
  return value;
}

static int tcp(void) { return socket(AF_INET, SOCK_STREAM, 0); }

int main(int count, char** words) {
  if (count < 4) return 2;
  const int port = atoi(words[1]), first = atoi(words[2]), shared = atoi(words[3]);
  struct sockaddr_in there = four("127.0.0.1", port), anywhere = four("127.0.0.1", 0), own = four("127.0.0.1", first);
  const struct sockaddr* to = (struct sockaddr*)&there;
  const socklen_t length = sizeof there;

  /* A server of its own: the port is known from bind on. */
  int server = tcp(), yes = 1;
  say("bind to any port", bind(server, (struct sockaddr*)&anywhere, length));
  const int told = port_of(server);
  printf("told a port: %d\n", told > 0);
  say("listen", listen(server, MANY));
  printf("the same port: %d\n", port_of(server) == told);

  int fd = tcp();
  say("connect", connect(fd, to, length));
  printf("reuse %d %d\n", option(fd, SO_REUSEADDR), option(fd, SO_REUSEPORT));
  say("connect again", connect(fd, to, length));
  write(fd, "x", 1);
  close(fd);

  fd = tcp();
  say("bind", bind(fd, (struct sockaddr*)&own, length));
  say("bind again", bind(fd, (struct sockaddr*)&own, length));
  say("connect from it", connect(fd, to, length));
  printf("its port: %d\n", port_of(fd) == first);
  int second = tcp();
  say("bind to a taken port", bind(second, (struct sockaddr*)&own, length));
  setsockopt(second, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  say("reusing it", bind(second, (struct sockaddr*)&own, length));
  close(second);
  close(fd);

  for (int i = 0; i < 2; ++i) {
    second = tcp();
    setsockopt(second, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    own.sin_port = htons((uint16_t)shared);
    say("bind a shared port", bind(second, (struct sockaddr*)&own, length));
    say("listen on it", listen(second, 1));
  }

  fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int result = connect(fd, to, length);
  printf("non-blocking: %d\n", result == 0 || errno == EINPROGRESS);
  struct pollfd event = {fd, POLLOUT, 0};
  printf("poll %d\n", poll(&event, 1, 5000));
  printf("error %d\n", option(fd, SO_ERROR));
  close(fd);

  struct sockaddr_in closed = four("127.0.0.1", 1);
  fd = tcp();
  say("nobody listens", connect(fd, (struct sockaddr*)&closed, length));
  say("bad length", connect(fd, to, 3));
  say("no address", connect(fd, NULL, 0));
  say("no socket", connect(-1, to, length));
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
  say("another family", connect(fd, (struct sockaddr*)&local, sizeof local));
  close(fd);

  fd = socket(AF_INET, SOCK_DGRAM, 0);
  say("datagrams", connect(fd, to, length));
  say("to nobody", connect(fd, (struct sockaddr*)&(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr)));
  close(fd);

  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
  fd = socket(AF_INET6, SOCK_STREAM, 0);
  say("IPv4 in IPv6", connect(fd, (struct sockaddr*)&six, sizeof six));
  close(fd);
  inet_pton(AF_INET6, "::1", &six.sin6_addr);
  fd = socket(AF_INET6, SOCK_STREAM, 0);
  say("IPv6, nobody listens", connect(fd, (struct sockaddr*)&six, sizeof six));
  close(fd);

  /* Thousands at once: more than any set of ports. */
  static int all[MANY];
  struct sockaddr_in mine = four("127.0.0.1", told);
  int connected = 0, opened = 0;
  for (int i = 0; i < MANY; ++i) {
    all[i] = tcp();
    opened += connect(all[i], (struct sockaddr*)(i % 2 ? &mine : &there), length) == 0;
  }
  for (int i = 0; i < MANY; ++i) {
    const char byte = (char)i;
    connected += write(all[i], &byte, 1) == 1;
    close(all[i]);
  }
  printf("opened %d, written to %d\n", opened, connected);
  errno = 77;
  fd = tcp();
  connect(fd, to, length);
  printf("errno stays %d\n", errno);
  return 0;
}
