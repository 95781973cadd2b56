#pragma once
/* Connections that have ended and that the kernel remembers for a minute (TIME_WAIT). */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
