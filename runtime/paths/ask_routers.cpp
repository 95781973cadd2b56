#include "runtime/paths/ask_routers.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace hocket::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds patience{300};  // for an answer
constexpr std::uint8_t icmp_time_exceeded = 11, icmp6_time_exceeded = 3;

Address mapped(const in_addr& four) {
  Address address;
  address.bytes.s6_addr[10] = address.bytes.s6_addr[11] = 0xff;
  std::memcpy(address.bytes.s6_addr + 12, &four, sizeof four);
  return address;
}

/// A socket's name as the system takes it.
struct Name {
  Name(const Address& address, std::uint16_t port) {
    if (IN6_IS_ADDR_V4MAPPED(&address.bytes)) {
      sockaddr_in four{};
      four.sin_family = AF_INET;
      four.sin_port = htons(port);
      std::memcpy(&four.sin_addr, address.bytes.s6_addr + 12, sizeof four.sin_addr);
      put(four);
    } else {
      sockaddr_in6 six{};
      six.sin6_family = AF_INET6;
      six.sin6_port = htons(port);
      six.sin6_addr = address.bytes;
      put(six);
    }
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }

  sockaddr_storage storage{};
  socklen_t length = 0;

 private:
  template <class Kind>
  void put(const Kind& name) {
    std::memcpy(&storage, &name, sizeof name);
    length = sizeof name;
  }
};

class Waiting {
 public:
  explicit Waiting(std::vector<std::optional<Address>>& found) : found_(found) {}

  void add(SentProbe one, std::size_t index) { open_.push_back({std::move(one), index, Clock::now() + patience}); }
  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] Clock::time_point first_end() const { return open_.front().end; }
  /// Answers until this time, or until nobody is waited for where `all`.
  void hear(Clock::time_point until, bool all = false) {
    do {
      std::vector<pollfd> handles;
      for (const Open& one : open_) handles.push_back({one.probe.handle(), POLLIN, 0});
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      const int wait = static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
      if (poll(handles.data(), handles.size(), wait) < 0 && errno != EINTR) return;
      for (std::size_t i = 0; i < handles.size(); ++i)
        if (handles[i].revents != 0) {
          found_[open_[i].index] = open_[i].probe.answer();
          open_[i].end = Clock::time_point::min();
        }
      const auto now = Clock::now();
      std::erase_if(open_, [&](const Open& one) { return one.end <= now; });
    } while (Clock::now() < until && !(all && open_.empty()));
  }

 private:
  struct Open {
    SentProbe probe;
    std::size_t index;
    Clock::time_point end;
  };
  std::vector<std::optional<Address>>& found_;
  std::vector<Open> open_;
};

}  // namespace

std::optional<Address> Address::read(const std::string& text) {
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) return mapped(four);
  Address six;
  if (inet_pton(AF_INET6, text.c_str(), &six.bytes) == 1) return six;
  return std::nullopt;
}

std::optional<Address> Address::of(const sockaddr* name) {
  if (name != nullptr && name->sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, name, sizeof four);
    return mapped(four.sin_addr);
  }
  if (name != nullptr && name->sa_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, name, sizeof six);
    return Address{six.sin6_addr};
  }
  return std::nullopt;
}

std::strong_ordering Address::operator<=>(const Address& other) const {
  return std::memcmp(&bytes, &other.bytes, sizeof bytes) <=> 0;
}

SentProbe::~SentProbe() {
  if (handle_ >= 0) close(handle_);
}

bool SentProbe::set(int level, int option, int value) const {
  return setsockopt(handle_, level, option, &value, sizeof value) == 0;
}

std::optional<SentProbe> SentProbe::send(const Probe& probe) {
  const Name to(probe.to, probe.to_port);
  Address any;
  if (to.family() == AF_INET) any = mapped({htonl(INADDR_ANY)});
  const bool six = to.family() == AF_INET6;
  for (const std::uint16_t port : probe.ports) {
    const Name from(any, port);
    SentProbe one(socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // Straight to the system: the preloaded library counts connections of the program.
    if (one.handle_ >= 0 && one.set(SOL_SOCKET, SO_REUSEADDR, 1) &&
        one.set(six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVERR : IP_RECVERR, 1) &&
        one.set(six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_UNICAST_HOPS : IP_TTL, probe.hops) &&
        syscall(SYS_bind, one.handle_, from.get(), from.length) == 0 &&
        syscall(SYS_connect, one.handle_, to.get(), to.length) != 0 && errno == EINPROGRESS)
      return one;
  }
  return std::nullopt;
}

std::optional<Address> SentProbe::answer() const {
  alignas(cmsghdr) char control[512];
  char data[1];
  iovec part{data, sizeof data};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(handle_, &message, MSG_ERRQUEUE) < 0) return std::nullopt;
  for (cmsghdr* told = CMSG_FIRSTHDR(&message); told != nullptr; told = CMSG_NXTHDR(&message, told)) {
    if (told->cmsg_len < CMSG_LEN(sizeof(sock_extended_err) + sizeof(sockaddr_in))) continue;
    auto* const error = reinterpret_cast<sock_extended_err*>(CMSG_DATA(told));
    if ((error->ee_origin == SO_EE_ORIGIN_ICMP && error->ee_type == icmp_time_exceeded) ||
        (error->ee_origin == SO_EE_ORIGIN_ICMP6 && error->ee_type == icmp6_time_exceeded))
      return Address::of(SO_EE_OFFENDER(error));
  }
  return std::nullopt;
}

std::vector<Address> own_addresses() {
  std::vector<Address> own;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return own;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
    if (const auto address = Address::of(one->ifa_addr)) own.push_back(*address);
  freeifaddrs(all);
  return own;
}

std::vector<std::optional<Address>> ask_routers(std::span<const Probe> probes, double a_second) {
  std::vector<std::optional<Address>> found(probes.size());
  Waiting waiting(found);
  const auto began = Clock::now();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    waiting.hear(began + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(static_cast<double>(i) / a_second)));
    if (std::optional<SentProbe> sent = SentProbe::send(probes[i])) waiting.add(std::move(*sent), i);
  }
  waiting.hear(Clock::now() + patience, true);
  return found;
}

}  // namespace hocket::runtime
