// SessionServer: a server that has sessions and no nodes, for tests of sessions.
#include "session_server.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

std::int64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::int64_t number = 0;
  for (const auto byte : bytes.substr(at, size))
    number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

void put(std::string& to, std::int64_t number, int bytes) {
  while (bytes-- > 0) to += static_cast<char>(number >> 8 * bytes);
}

}  // namespace

SessionServer::SessionServer(std::int64_t first_session)
    : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), next_session_(first_session) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(0, bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size));
  EXPECT_EQ(0, listen(listener_.get(), 100));
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

void SessionServer::serve(const std::stop_token& stop) {
  std::vector<Link> links;
  while (!stop.stop_requested()) {
    std::vector<pollfd> waiting{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& link : links)
      waiting.push_back({.fd = link.fd.get(), .events = POLLIN, .revents = 0});
    poll(waiting.data(), waiting.size(), 1);
    const auto ends = cut_.exchange(0);
    for (std::size_t i = waiting.size(); i-- > 1;) {
      auto& link = links[i - 1];
      const bool is_cut = ends == all || (link.greeted && link.session == ends);
      if (is_cut || (waiting[i].revents != 0 && !read(link)))
        links.erase(links.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    }
    if ((waiting.front().revents & POLLIN) != 0)
      links.push_back({.fd = Fd(accept(listener_.get(), nullptr, nullptr))});
  }
}

/// Returns false at the connection's end.
bool SessionServer::read(Link& link) {
  std::array<char, 4096> bytes{};
  const auto size = recv(link.fd.get(), bytes.data(), bytes.size(), 0);
  if (size <= 0) return false;
  link.unread.append(bytes.data(), static_cast<std::size_t>(size));
  while (link.unread.size() >= 4) {
    const auto length = static_cast<std::size_t>(number_at(link.unread, 0, 4));
    if (link.unread.size() < 4 + length) break;
    if (!answer(link, std::string_view(link.unread).substr(4, length))) return false;
    link.unread.erase(0, 4 + length);
  }
  return true;
}

bool SessionServer::answer(Link& link, std::string_view frame) {
  constexpr std::int64_t close = 0xfffffff5;
  constexpr std::int64_t ping = 11;
  constexpr std::int64_t no_node = -101;
  std::string body;
  if (!std::exchange(link.greeted, true)) {
    link.session = number_at(frame, 16, 8);
    const bool is_over = link.session != 0 && (expired_ == all || link.session == expired_);
    if (link.session == 0) link.session = next_session_++;
    put(body, 0, 4);
    put(body, is_over ? 0 : 6000, 4);
    put(body, is_over ? 0 : link.session, 8);
    put(body, 16, 4);
    body.append(17, '\0');
  } else {
    const auto operation = number_at(frame, 4, 4);
    if (operation == close) return false;
    put(body, number_at(frame, 0, 4), 4);
    put(body, 0, 8);
    put(body, operation == ping ? 0 : no_node, 4);
  }
  std::string sent;
  put(sent, static_cast<std::int64_t>(body.size()), 4);
  sent += body;
  return send(link.fd.get(), sent.data(), sent.size(), MSG_NOSIGNAL) > 0;
}

}  // namespace zksh
