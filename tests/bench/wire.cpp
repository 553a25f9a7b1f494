// Wire: packs requests into a buffer, and parses answers.
#include "wire.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace zksh_bench {
namespace {

// ZooDefs.OpCode
constexpr int op_delete = 2;
constexpr int op_get_data = 4;
constexpr int op_ping = 11;
constexpr int op_get_children2 = 12;
constexpr int op_create2 = 15;
constexpr int op_close_session = -11;
constexpr int xid_of_events = -1;
constexpr int xid_of_pings = -2;
// KeeperException.Code
constexpr int no_node = -101;
constexpr int node_exists = -110;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + (errno ? std::string(": ") + std::strerror(errno) : ""));
}

int connected_socket(const std::string& server) {
  const auto colon = server.rfind(':');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (colon == std::string::npos ||
      getaddrinfo(server.substr(0, colon).c_str(), server.c_str() + colon + 1, &hints, &found) != 0)
    throw std::runtime_error(server + " is no HOST:PORT that can be found");
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int refused = fd < 0 ? -1 : connect(fd, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (refused != 0) {
    if (fd >= 0) close(fd);
    fail(server);
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Wire::Wire(const std::string& server, int session_timeout_ms)
    : socket_(connected_socket(server)), in_(16384) {
  put(0);  // the length, see end
  put(0);  // protocol version
  put_long(0);
  put(session_timeout_ms);
  put_long(0);
  put_string(std::string(16, '\0'));
  out_.push_back('\0');  // no read-only server
  end();
  flush();
  receive();
  take();
  const std::int32_t granted = take();
  if (granted <= 0) throw std::runtime_error("the server grants no session");
  ping_interval_ns_ = granted / 3 * std::int64_t{1'000'000};
  const timeval interval{.tv_sec = granted / 3000, .tv_usec = granted / 3 % 1000 * 1000L};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &interval, sizeof interval);
}

Wire::~Wire() {
  try {
    begin(op_close_session);
    end();
    await();
  } catch (const std::runtime_error&) {
    // The server will expire the session.
  }
  close(socket_);
}

void Wire::put(std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  for (int shift = 24; shift >= 0; shift -= 8) out_.push_back(static_cast<char>(bits >> shift));
}

void Wire::put_long(std::int64_t value) {
  put(static_cast<std::int32_t>(value >> 32));
  put(static_cast<std::int32_t>(value));
}

void Wire::put_string(const std::string& text) {
  put(static_cast<std::int32_t>(text.size()));
  out_ += text;
}

std::int32_t Wire::take() {
  if (taken_ + 4 > end_) throw std::runtime_error("an answer is too short");
  std::uint32_t bits = 0;
  for (int i = 0; i < 4; ++i) bits = bits << 8 | static_cast<unsigned char>(in_[taken_++]);
  return static_cast<std::int32_t>(bits);
}

std::int64_t Wire::take_long() {
  const std::int64_t high = take();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(high) << 32 |
                                   static_cast<std::uint32_t>(take()));
}

std::string Wire::take_string() {
  const auto size = static_cast<std::size_t>(std::max(take(), 0));
  if (taken_ + size > end_) throw std::runtime_error("an answer is too short");
  taken_ += size;
  return {in_.data() + taken_ - size, size};
}

void Wire::begin(std::int32_t operation) {
  begun_ = out_.size();
  put(0);  // the length, see end
  put(operation == op_ping ? xid_of_pings : ++asked_);
  put(operation);
}

void Wire::end() {
  const auto length = static_cast<std::uint32_t>(out_.size() - begun_ - 4);
  for (std::size_t i = 0; i < 4; ++i) out_[begun_ + i] = static_cast<char>(length >> (24 - 8 * i));
}

void Wire::ask_create(const std::string& path, const std::string& data, bool ephemeral_sequential) {
  begin(op_create2);
  put_string(path);
  put_string(data);
  put(1);  // an ACL with one entry: all permissions for everybody
  put(31);
  put_string("world");
  put_string("anyone");
  put(ephemeral_sequential ? 3 : 0);
  end();
}

void Wire::ask_children(const std::string& path) {
  begin(op_get_children2);
  put_string(path);
  out_.push_back('\0');
  end();
}

void Wire::ask_watched(const std::string& path) {
  begin(op_get_data);
  put_string(path);
  out_.push_back('\1');
  end();
  fired_ = false;
}

void Wire::ask_delete(const std::string& path) {
  begin(op_delete);
  put_string(path);
  put(-1);  // any version
  end();
}

void Wire::ping() {
  begin(op_ping);
  end();
  flush();
}

void Wire::flush() {
  for (std::size_t sent = 0; sent < out_.size();) {
    const auto size = send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR) fail("the connection is lost");
    if (size > 0) sent += static_cast<std::size_t>(size);
  }
  out_.clear();
}

void Wire::fill(std::size_t size) {
  while (arrived_ < size) {
    if (in_.size() < size) in_.resize(size);
    const auto count = recv(socket_, in_.data() + arrived_, in_.size() - arrived_, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      ping();
      continue;
    }
    if (count == 0) errno = 0;
    if (count <= 0) fail("the connection is lost");
    arrived_ += static_cast<std::size_t>(count);
  }
}

void Wire::receive() {
  std::copy(in_.begin() + static_cast<std::ptrdiff_t>(end_),
            in_.begin() + static_cast<std::ptrdiff_t>(arrived_), in_.begin());
  arrived_ -= end_;
  taken_ = 0;
  end_ = 4;
  fill(end_);
  const auto length = static_cast<std::size_t>(take());
  end_ = taken_ + length;
  fill(end_);
}

std::int32_t Wire::next() {
  receive();
  const auto xid = take();
  take_long();  // zxid
  error_ = take();
  if (xid == xid_of_events) fired_ = true;
  return xid;
}

Wire::Found Wire::await() {
  flush();
  while (next() < 0) {
  }
  if (error_ == no_node) return Found::NoNode;
  if (error_ == node_exists) return Found::Exists;
  if (error_ != 0)
    throw std::runtime_error("the server answers with the error " + std::to_string(error_));
  return Found::Yes;
}

std::vector<std::string> Wire::await_children() {
  if (await() != Found::Yes) throw std::runtime_error("the lock's path is gone");
  std::vector<std::string> names(static_cast<std::size_t>(std::max(take(), 0)));
  for (auto& name : names) name = take_string();
  return names;
}

void Wire::await_event() {
  while (!fired_) next();
}

void Wire::rest(std::int64_t nanoseconds) {
  // Short sleeps take longer than requested.
  constexpr std::int64_t worth_a_sleep = 1'000'000;
  const auto until = now() + nanoseconds;
  while (now() < until) {
    if (nanoseconds < worth_a_sleep) continue;
    const auto slice = std::min<std::int64_t>(until - now(), ping_interval_ns_);
    const timespec time{.tv_sec = slice / 1'000'000'000, .tv_nsec = slice % 1'000'000'000};
    nanosleep(&time, nullptr);
    if (slice == ping_interval_ns_) ping();
  }
}

}  // namespace zksh_bench
