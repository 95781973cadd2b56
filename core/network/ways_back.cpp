/// The routes of another network, each used for the other direction.
#include <algorithm>
#include <utility>

#include "core/network/routing.hpp"

namespace hocket {
namespace {

class WaysBack final : public Routing {
 public:
  WaysBack(std::shared_ptr<const Routing> routing, bool links) : routing_(std::move(routing)), links_(links) {}

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    const auto begin = static_cast<std::ptrdiff_t>(route.size());
    routing_->append(dst, src, route);
    std::reverse(route.begin() + begin, route.end());
    if (links_) std::for_each(route.begin() + begin, route.end(), [](Channel& channel) { channel ^= 1; });
  }

 private:
  std::shared_ptr<const Routing> routing_;
  bool links_;
};

}  // namespace

std::unique_ptr<Routing> ways_back(std::shared_ptr<const Routing> routing, bool links) {
  return std::make_unique<WaysBack>(std::move(routing), links);
}

}  // namespace hocket
