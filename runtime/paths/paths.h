#pragma once
/* Source ports of connections. On networks with many equally short ways a hash of addresses and ports chooses the
 * way, so the port decides it. `connect` and `bind` are caught, and nothing else: a connection to a host of the plan
 * gets a port whose way the plan knows, and every failure falls back to what the program asked for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/paths/first_of_host.h"

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif
#ifndef IP_LOCAL_PORT_RANGE /* Linux 6.3 */
#define IP_LOCAL_PORT_RANGE 51
#endif

enum { MOST_PORTS = 16, MOST_PEERS = 1 << 16, MOST_LINE = 512 };

/* Connections of this host to one peer: addresses as IPv6 (IPv4 mapped into it), the peer's port, ports to come from.
 */
typedef struct {
  struct in6_addr from, to;
  uint16_t to_port, count, ports[MOST_PORTS];
} paths_peer;

static paths_peer* paths_peers;
static size_t paths_count;
static pthread_once_t paths_once = PTHREAD_ONCE_INIT;
/* Connections on a port of the plan; ports that were taken; connections to peers of the plan that were left as the
 * program asked, because it had bound them, or all ports were taken; listeners that found their port taken. */
static unsigned long paths_held, paths_taken, paths_bound, paths_left, paths_listeners;

typedef int (*paths_call)(int, const struct sockaddr*, socklen_t);

static paths_call paths_next(paths_call* known, const char* name) {
  paths_call next = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (next == NULL) {
    next = (paths_call)(uintptr_t)dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, next, __ATOMIC_RELAXED);
  }
  return next;
}

static paths_call paths_connect, paths_bind;

static void paths_add(unsigned long* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

static int paths_read_address(const char* text, struct in6_addr* address) {
  struct in_addr four;
  if (inet_pton(AF_INET6, text, address) == 1) return 1;
  if (inet_pton(AF_INET, text, &four) != 1) return 0;
  memset(address, 0, sizeof *address);
  address->s6_addr[10] = address->s6_addr[11] = 0xff;
  memcpy(address->s6_addr + 12, &four, sizeof four);
  return 1;
}

/* False for what is no IP address. */
static int paths_split(const struct sockaddr* address, socklen_t length, struct in6_addr* ip, uint16_t* port) {
  if (address == NULL || length < (socklen_t)sizeof(sa_family_t)) return 0;
  if (address->sa_family == AF_INET && length >= (socklen_t)sizeof(struct sockaddr_in)) {
    struct sockaddr_in four;
    memcpy(&four, address, sizeof four);
    memset(ip, 0, sizeof *ip);
    ip->s6_addr[10] = ip->s6_addr[11] = 0xff;
    memcpy(ip->s6_addr + 12, &four.sin_addr, sizeof four.sin_addr);
    *port = ntohs(four.sin_port);
    return 1;
  }
  if (address->sa_family == AF_INET6 && length >= (socklen_t)sizeof(struct sockaddr_in6)) {
    struct sockaddr_in6 six;
    memcpy(&six, address, sizeof six);
    *ip = six.sin6_addr;
    *port = ntohs(six.sin6_port);
    return 1;
  }
  return 0;
}

/* Connections that have ended and that the kernel remembers for a minute (TIME_WAIT). */
static void paths_put_address(uint32_t* place, const struct in6_addr* address) {
  if (IN6_IS_ADDR_V4MAPPED(address))
    memcpy(place, address->s6_addr + 12, 4);
  else
    memcpy(place, address, sizeof *address);
}

/* True if a connection of these ends is remembered. False also where the kernel does not say. */
static int paths_is_remembered(const struct in6_addr* from, uint16_t from_port, const struct in6_addr* to,
                               uint16_t to_port) {
  struct {
    struct nlmsghdr head;
    struct inet_diag_req_v2 ask;
  } question;
  union {
    struct nlmsghdr head;
    char bytes[1024];
  } answer;
  memset(&question, 0, sizeof question);
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.ask.sdiag_family = IN6_IS_ADDR_V4MAPPED(to) ? AF_INET : AF_INET6;
  question.ask.sdiag_protocol = IPPROTO_TCP;
  question.ask.idiag_states = ~0U;
  paths_put_address(question.ask.id.idiag_src, from);
  paths_put_address(question.ask.id.idiag_dst, to);
  question.ask.id.idiag_sport = htons(from_port);
  question.ask.id.idiag_dport = htons(to_port);
  question.ask.id.idiag_cookie[0] = question.ask.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (kernel < 0) return 0;
  ssize_t length = -1;
  if (send(kernel, &question, sizeof question, 0) == (ssize_t)sizeof question)
    length = recv(kernel, &answer, sizeof answer, 0);
  close(kernel);
  if (length < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return 0;
  const struct inet_diag_msg* found = NLMSG_DATA(&answer.head);
  return found->idiag_state == TCP_TIME_WAIT;
}

static int paths_is_own(const struct ifaddrs* own, const struct in6_addr* address) {
  for (; own != NULL; own = own->ifa_next) {
    struct in6_addr ip;
    uint16_t port;
    if (own->ifa_addr == NULL) continue;
    const socklen_t length =
        own->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (paths_split(own->ifa_addr, length, &ip, &port) && memcmp(&ip, address, sizeof ip) == 0) return 1;
  }
  return 0;
}

/* A line of the table: FROM TO TO_PORT PORT [PORT]... False if it is none, or of another host. */
static int paths_read_line(char* line, const struct ifaddrs* own, paths_peer* peer) {
  char* rest = NULL;
  const char* from = strtok_r(line, " \n", &rest);
  const char* to = strtok_r(NULL, " \n", &rest);
  if (from == NULL || to == NULL || !paths_read_address(from, &peer->from) || !paths_read_address(to, &peer->to))
    return 0;
  if (!paths_is_own(own, &peer->from)) return 0;
  unsigned numbers = 0;
  for (const char* word; numbers <= MOST_PORTS && (word = strtok_r(NULL, " \n", &rest)) != NULL; ++numbers) {
    const long port = strtol(word, NULL, 10);
    if (port < 1 || port > UINT16_MAX) return 0;
    *(numbers == 0 ? &peer->to_port : &peer->ports[numbers - 1]) = (uint16_t)port;
  }
  if (numbers < 2) return 0;
  peer->count = (uint16_t)(numbers - 1);
  return 1;
}

static void paths_load(void) {
  const char *paths = getenv("HOCKET_PATHS"), *path = paths == NULL ? NULL : strchr(paths, ':');
  if (path++ == NULL) return;
  FILE* file = fopen(path, "re");
  struct ifaddrs* own = NULL;
  if (file == NULL || getifaddrs(&own) != 0) {
    fprintf(stderr, "hocket: %s cannot be read: connections take ports as they come\n", path);
    if (file != NULL) fclose(file);
    return;
  }
  char line[MOST_LINE];
  while (paths_count < MOST_PEERS && fgets(line, sizeof line, file) != NULL) {
    paths_peer peer;
    if (!paths_read_line(line, own, &peer)) continue;
    if ((paths_count & (paths_count - 1)) == 0) { /* room for twice as many */
      paths_peer* longer = realloc(paths_peers, (paths_count == 0 ? 1 : 2 * paths_count) * sizeof *longer);
      if (longer == NULL) break;
      paths_peers = longer;
    }
    paths_peers[paths_count++] = peer;
  }
  freeifaddrs(own);
  fclose(file);
}

static const paths_peer* paths_find(const struct in6_addr* to, uint16_t port) {
  for (size_t i = 0; i < paths_count; ++i)
    if (paths_peers[i].to_port == port && memcmp(&paths_peers[i].to, to, sizeof *to) == 0) return &paths_peers[i];
  return NULL;
}

static int paths_is_tcp(int fd) {
  int type = 0, protocol = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return 0;
  length = sizeof protocol;
  return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 && protocol == IPPROTO_TCP;
}

static int paths_set_range(int fd, uint16_t port) {
  const uint32_t range = (uint32_t)port << 16 | port;
  return setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range, sizeof range);
}

/* Binds to a port that nobody else is bound to, and connects. `remembered`: only to one whose last connection to this
 * peer has ended and is remembered; the kernel lets it go to who binds it, and to nobody else. */
static int paths_connect_by_bind(int fd, const struct sockaddr* to, socklen_t length, const paths_peer* peer,
                                 struct sockaddr_storage* own, socklen_t own_length, int remembered) {
  const int before = errno;
  unsigned long* outcome = &paths_left;
  for (unsigned i = 0; i < peer->count && outcome == &paths_left; ++i) {
    if (remembered && !paths_is_remembered(&peer->from, peer->ports[i], &peer->to, peer->to_port)) continue;
    /* sin_port and sin6_port are at the same place. */
    ((struct sockaddr_in*)own)->sin_port = htons(peer->ports[i]);
    if (paths_next(&paths_bind, "bind")(fd, (struct sockaddr*)own, own_length) == 0)
      outcome = &paths_held;
    else if (!remembered)
      paths_add(&paths_taken);
  }
  paths_add(outcome);
  errno = before;
  return paths_next(&paths_connect, "connect")(fd, to, length);
}

/* Lets the kernel choose among one port when it connects, so that a connection that fails leaves nothing behind, and
 * connections to different hosts may share it. Where all ports are taken, one is taken over that is only remembered: a
 * job that follows another within a minute finds the ports of that one. */
static int paths_connect_by_range(int fd, const struct sockaddr* to, socklen_t length, const paths_peer* peer,
                                  struct sockaddr_storage* own, socklen_t own_length, int is_transport) {
  const int before = errno, yes = 1;
  /* The kernel asks both the connection that is remembered and the one that takes over. */
  if (is_transport) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  for (unsigned i = 0; i < peer->count; ++i) {
    if (paths_set_range(fd, peer->ports[i]) != 0) break;
    const int result = paths_next(&paths_connect, "connect")(fd, to, length);
    const int failure = errno;
    paths_set_range(fd, 0);
    errno = result == 0 ? before : failure;
    if (result == 0 || failure != EADDRNOTAVAIL) {
      paths_add(&paths_held);
      return result;
    }
    paths_add(&paths_taken);
  }
  errno = before;
  if (is_transport) return paths_connect_by_bind(fd, to, length, peer, own, own_length, 1);
  paths_add(&paths_left);
  return paths_next(&paths_connect, "connect")(fd, to, length);
}

/* True if the caller is a library by which MPI sends: others could see what is done to their sockets. */
static int paths_is_transport(const void* caller) {
  static const char* const names[] = {"libuct", "libucs", "libucp", "libfabric", "libmpi", "libopen-pal", "mca_btl"};
  Dl_info found;
  if (dladdr(caller, &found) == 0 || found.dli_fname == NULL) return 0;
  const char* slash = strrchr(found.dli_fname, '/');
  const char* name = slash != NULL ? slash + 1 : found.dli_fname;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strncmp(name, names[i], strlen(names[i])) == 0) return 1;
  return 0;
}

__attribute__((visibility("default"))) int connect(int fd, const struct sockaddr* to, socklen_t length) {
  const int before = errno;
  struct in6_addr ip;
  uint16_t port;
  struct sockaddr_storage own;
  socklen_t own_length = sizeof own;
  struct in6_addr own_ip;
  uint16_t own_port;
  const paths_peer* peer = NULL;
  if (paths_split(to, length, &ip, &port)) {
    pthread_once(&paths_once, paths_load);
    peer = paths_find(&ip, port);
  }
  if (peer != NULL && !paths_is_tcp(fd)) peer = NULL;
  if (peer != NULL && (getsockname(fd, (struct sockaddr*)&own, &own_length) != 0 ||
                       !paths_split((struct sockaddr*)&own, own_length, &own_ip, &own_port) || own_port != 0)) {
    paths_add(&paths_bound); /* also one that is connected, and asks again */
    peer = NULL;
  }
  errno = before;
  if (peer == NULL) return paths_next(&paths_connect, "connect")(fd, to, length);
  const int is_transport = paths_is_transport(__builtin_return_address(0));
  if (paths_set_range(fd, 0) == 0) return paths_connect_by_range(fd, to, length, peer, &own, own_length, is_transport);
  errno = before;
  return paths_connect_by_bind(fd, to, length, peer, &own, own_length, 0); /* Linux before 6.3 */
}

__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr* own, socklen_t length) {
  const int before = errno;
  struct in6_addr ip;
  uint16_t port = 0;
  int planned = 0;
  if (paths_split(own, length, &ip, &port)) {
    pthread_once(&paths_once, paths_load);
    for (size_t i = 0; i < paths_count && !planned; ++i)
      planned = port == 0 ? memcmp(&ip, &paths_peers[i].from, sizeof ip) == 0 : port == paths_peers[i].to_port;
  }
  planned = planned && paths_is_transport(__builtin_return_address(0)) && paths_is_tcp(fd);
  const int yes = 1;
  if (planned && port == 0) setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
  errno = before;
  int result = paths_next(&paths_bind, "bind")(fd, own, length);
  if (!planned || port == 0 || (result != 0 && errno != EADDRINUSE)) return result;
  /* Connections of a job that has ended are remembered here, too. Both they and the next listener must have this
   * option; two ranks that have it could bind the port both, and one would fail to listen. */
  const int failure = errno;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  errno = result == 0 ? before : failure;
  if (result != 0 && is_first_of_host()) result = paths_next(&paths_bind, "bind")(fd, own, length);
  if (result == 0) errno = before;
  if (result == 0 || errno != EADDRINUSE) return result;
  /* The port of the plan was given to the library by us: any other is as good as none was to it. */
  struct sockaddr_storage any;
  memcpy(&any, own, length < (socklen_t)sizeof any ? length : (socklen_t)sizeof any);
  ((struct sockaddr_in*)&any)->sin_port = 0;
  paths_add(&paths_listeners);
  errno = before;
  return paths_next(&paths_bind, "bind")(fd, (struct sockaddr*)&any, length);
}

__attribute__((destructor)) static void paths_say(void) {
  const char* log = getenv("HOCKET_LOG");
  if (paths_count == 0 || log == NULL || *log < '1' || *log > '9') return;
  fprintf(stderr,
          "hocket: paths: %lu connections on ports of the plan; %lu ports taken, %lu connections left as asked,"
          " %lu bound before, %lu listeners elsewhere\n",
          paths_held, paths_taken, paths_left, paths_bound, paths_listeners);
}
