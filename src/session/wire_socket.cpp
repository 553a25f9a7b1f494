// WireSocket: the socket, connect, send, recv and getaddrinfo that the C client calls.
#include "session/wire_socket.h"

#include "client/client.h"
#include "session/marshalling.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

// For the linker, these are the C library's functions and their replacements.
extern "C" {
int real_socket(int domain, int type, int protocol) __asm__("__real_socket");
int real_connect(int fd, const sockaddr* address, socklen_t size) __asm__("__real_connect");
ssize_t real_send(int fd, const void* buffer, std::size_t size, int flags) __asm__("__real_send");
ssize_t real_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("__real_recv");
int real_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                     addrinfo** result) __asm__("__real_getaddrinfo");
int wrap_socket(int domain, int type, int protocol) __asm__("__wrap_socket");
int wrap_connect(int fd, const sockaddr* address, socklen_t size) __asm__("__wrap_connect");
ssize_t wrap_send(int fd, const void* buffer, std::size_t size, int flags) __asm__("__wrap_send");
ssize_t wrap_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("__wrap_recv");
int wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                     addrinfo** result) __asm__("__wrap_getaddrinfo");
std::int32_t wrap_get_xid() __asm__("__wrap_get_xid");
}

namespace zksh {
namespace {

std::atomic<const char*> refused{nullptr};

constexpr auto any_size = std::numeric_limits<std::size_t>::max();

std::atomic<std::uint32_t> requests{0};  ///< of this process; see next_xid

/// The socket of the handle that this thread uses; null: none.
thread_local WireSocket* socket_here = nullptr;

bool is_numeric(const char* host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, host, address.data()) == 1 ||
         inet_pton(AF_INET6, host, address.data()) == 1;
}

std::string frame_length_of(std::string_view frame) {
  std::string length(size_of_frame_length, '\0');
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<char>(frame.size() >> (24 - 8 * i) & 0xff);
  return length;
}

/// Of a frame with its length.
AnswerHeader header_of(std::string_view frame) {
  return answer_header(frame.substr(size_of_frame_length));
}

/// A read of the C client's that sets a one-shot watch.
struct WatchingRead {
  std::string_view path;
  bool of_children = false;
};

/// nullopt: the request, without its length, is another one.
std::optional<WatchingRead> watching_read(std::string_view request) {
  AnswerReader fields(request);
  const auto xid = fields.number();
  const auto asked = fields.number();
  const bool of_children = asked == operation::children || asked == operation::children_and_stat;
  if (xid < 0 || (!of_children && asked != operation::get && asked != operation::exists))
    return std::nullopt;
  const WatchingRead read{.path = fields.text(), .of_children = of_children};
  return fields.flag() && !fields.broken() ? std::optional(read) : std::nullopt;
}

}  // namespace

std::string refused_answer() {
  const auto* const flaw = refused.load();
  return flaw == nullptr ? "" : flaw;
}

WireSocket::Here::Here(WireSocket& socket) : outer_(std::exchange(socket_here, &socket)) {}

WireSocket::Here::~Here() { socket_here = outer_; }

int WireSocket::connect(int fd, const sockaddr* address, socklen_t size) {
  if ((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0) {
    // On a read-only server the C client asks the others whether they take writes, over a socket
    // that blocks. It gets the answer from what is known.
    question_ = fd;
    SocketAddress asked{.size = size};
    std::memcpy(&asked.bytes, address, std::min<std::size_t>(size, sizeof asked.bytes));
    answer_ = owner_.takes_writes(asked);
    return 0;
  }
  fd_ = fd;
  server_ = {.size = size};
  std::memcpy(&server_.bytes, address, std::min<std::size_t>(size, sizeof server_.bytes));
  ++connection_;
  fresh_ = true;
  flawed_ = false;
  link_ = {};
  length_.clear();
  unsent_.clear();
  unread_ = {};
  greeting_until_.reset();
  tls_ = owner_.secure(server_, connection_);
  tls_noted_ = false;
  constexpr std::chrono::seconds longest_start{1};
  constexpr std::chrono::seconds longest_handshake{5};
  start_tls_at_ = Clock::now() + longest_start;
  handshake_until_ = Clock::now() + longest_handshake;
  sasl_ = owner_.wants_sasl() ? Sasl::Greeting : Sasl::None;
  sasl_requests_ = 0;
  frame_.clear();
  frame_taken_ = 0;
  long_ = false;
  kept_alive_ = Clock::now();
  head_.clear();
  handed_over_.clear();
  // A host that does not answer is asked twice, after 1 s again, and given up after 3 s.
  const int repetitions = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &repetitions, sizeof repetitions);
  return real_connect(fd, address, size);
}

/// Sends what is unsent as far as the kernel takes it. False if the connection has failed.
bool WireSocket::push() {
  if (tls_) unsent_ += std::exchange(tls_->output(), {});
  if (unsent_.empty()) return true;
  const auto sent = real_send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
  unsent_.erase(0, static_cast<std::size_t>(sent));
  return true;
}

void WireSocket::flush() { push(); }

/// Passes bytes to the kernel, and keeps what it does not take. Once the server has answered, a
/// failure is kept from the C client, which would drop the connection without telling anybody
/// (nonblocking_send); recv reports it.
ssize_t WireSocket::pass(std::string_view bytes) {
  bool works = true;
  if (tls_) {
    tls_->write(std::exchange(length_, {}).append(bytes));
    works = push();
  } else if (unsent_.empty()) {
    // Mostly all of it, without a copy.
    std::array<iovec, 2> parts{
        {{.iov_base = length_.data(), .iov_len = length_.size()},
         {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    auto sent = sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    works = sent >= 0 || errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
    sent = std::max<ssize_t>(sent, 0);
    const auto size = length_.size() + bytes.size();
    if (static_cast<std::size_t>(sent) < size) {
      unsent_ = std::move(length_);
      unsent_ += bytes;
      unsent_.erase(0, static_cast<std::size_t>(sent));
    }
    length_.clear();
  } else {
    unsent_ += std::exchange(length_, {});
    unsent_ += bytes;
  }
  if (!works && !link_.is_greeted()) return -1;
  return static_cast<ssize_t>(bytes.size());
}

void WireSocket::send_frame(std::string_view frame) {
  send(fd_, frame_length_of(frame));
  send(fd_, frame);
}

void WireSocket::begin_close() {
  ends_with_any_ = link_.is_greeted() && !link_.expects_answers();
  send_frame(close_request());
  closing_ = true;
}

/// Receives what nobody reads. The number of the server's plain bytes; nullopt at the end of the
/// connection.
std::optional<std::size_t> WireSocket::drop_received() {
  std::array<char, 16384> dropped;
  const auto came = real_recv(fd_, dropped.data(), dropped.size(), MSG_DONTWAIT);
  if (came <= 0) return std::nullopt;
  if (!tls_) return static_cast<std::size_t>(came);
  tls_->receive({dropped.data(), static_cast<std::size_t>(came)});
  return drop_decrypted();
}

/// The same of what TLS has received.
std::optional<std::size_t> WireSocket::drop_decrypted() {
  std::array<char, 16384> dropped;
  std::size_t all = 0;
  ssize_t count = 0;
  while ((count = tls_->read(dropped.data(), dropped.size())) > 0)
    all += static_cast<std::size_t>(count);
  return count < 0 && errno == EAGAIN ? std::optional(all) : std::nullopt;
}

bool WireSocket::may_leave() {
  if (!closing_ || !ends_with_any_ || has_unsent() || round_trip() < nearby) return false;
  // At the end of a socket with unread bytes the kernel sends a reset instead.
  constexpr int most = 64;  // of a server that goes on sending
  for (int reads = 0; reads < most; ++reads)
    if (!drop_received()) return true;
  return false;
}

void WireSocket::finish_close(Clock::time_point until) {
  if (!closing_) return;
  constexpr std::chrono::milliseconds after_an_answer{100};  // if the server leaves it open
  if (tls_) drop_decrypted();                                // it came before the request was sent
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    const short events = has_unsent() ? POLLIN | POLLOUT : POLLIN;
    pollfd socket{.fd = fd_, .events = events, .revents = 0};
    if (left <= 0 || poll(&socket, 1, static_cast<int>(left)) <= 0) break;
    if ((socket.revents & POLLOUT) != 0 && !push()) break;
    if ((socket.revents & ~POLLOUT) == 0) continue;
    const auto answered = drop_received();
    if (!answered) break;
    if (*answered == 0) continue;  // TLS's own, or a part of a record
    if (ends_with_any_) break;
    if (!has_unsent()) until = std::min(until, Clock::now() + after_an_answer);
  }
  shutdown(fd_, SHUT_RDWR);
}

ssize_t WireSocket::send(int fd, std::string_view bytes) {
  if (fd == question_) return static_cast<ssize_t>(bytes.size());
  std::string greeting;
  std::string unwatching;
  if (last_own_zxid_ > 0 && link_.sends_greeting()) {
    greeting = greeting_after(bytes, last_own_zxid_);
    bytes = greeting;
  }
  if (const auto parts = link_.sends_request() ? split_watches(bytes) : std::vector<std::string>();
      !parts.empty()) {
    length_.clear();
    link_.drop_length();
    for (const auto& part : parts) send_frame(part);
    return static_cast<ssize_t>(bytes.size());
  }
  const auto read = link_.sends_request() ? watching_read(bytes) : std::nullopt;
  if (read && owner_.is_reported(read->path, read->of_children)) {
    unwatching = bytes;  // the watch is the last byte
    unwatching.back() = '\0';
    bytes = unwatching;
  }
  link_.look_at_sent(bytes);
  auto sent = static_cast<ssize_t>(bytes.size());
  if (link_.sends_length() && length_.empty())
    length_ = bytes;  // it goes with its frame, in one packet
  else
    sent = pass(bytes);
  if (sent < 0) return sent;
  link_.sent(bytes);
  if (link_.awaits_greeting() && !greeting_until_ && !is_shaking_hands())
    greeting_until_ = Clock::now() + patience_;
  return sent;
}

/// What the kernel has, as recv, within what may still be received.
ssize_t WireSocket::receive_raw(char* buffer, std::size_t size) {
  errno = EAGAIN;
  if (allowance_ == 0) return -1;
  const auto came = real_recv(fd_, buffer, std::min(size, allowance_), MSG_DONTWAIT);
  if (came > 0) allowance_ -= static_cast<std::size_t>(came);
  return came;
}

void WireSocket::receive_into(std::span<char> room) {
  room_ = room;
  allowance_ = room.empty() ? any_size : room.size();
}

/// Plain bytes from the server, as recv.
ssize_t WireSocket::receive(char* buffer, std::size_t size) {
  if (tls_) return receive_secured(buffer, size);
  if (unread_.empty() && size >= room_.size())  // the rest of a large frame
    return receive_raw(buffer, size);
  if (unread_.empty()) {
    const auto came = receive_raw(room_.data(), room_.size());
    if (came <= 0) return came;
    unread_ = {room_.data(), static_cast<std::size_t>(came)};
  }
  const auto taken = unread_.copy(buffer, size);
  unread_.remove_prefix(taken);
  return static_cast<ssize_t>(taken);
}

ssize_t WireSocket::receive_secured(char* buffer, std::size_t size) {
  const auto is_missing = [](ssize_t result) { return result < 0 && errno == EAGAIN; };
  auto result = tls_->read(buffer, size);
  if (is_missing(result)) {
    std::array<char, 16384> few;
    const std::span<char> room = room_.empty() ? std::span<char>(few) : room_;
    const auto came = receive_raw(room.data(), room.size());
    if (is_missing(came)) return came;
    const bool had_hands_shaken = tls_->is_ready();
    tls_->receive({room.data(), static_cast<std::size_t>(std::max<ssize_t>(came, 0))});
    if (!had_hands_shaken && tls_->is_ready() && link_.awaits_greeting())
      greeting_until_ = Clock::now() + patience_;
    result = tls_->read(buffer, size);
  }
  const int error = errno;
  push();
  if (result > 0 || !tls_->failure().empty()) note_tls();
  errno = error;
  return result;
}

/// Tells the owner once how the connection's TLS went.
void WireSocket::note_tls() {
  if (!std::exchange(tls_noted_, true)) owner_.tls_ended(server_, *tls_);
}

/// What is wrong with bytes that were received; null if nothing.
const char* WireSocket::check(const char* bytes, std::size_t size) {
  const auto* const flaw = link_.flaw_of_received({bytes, size});
  if (!link_.awaits_greeting() && greeting_until_) {
    greeting_until_.reset();
    patience_ = greeting_patience;
    expires_ = false;
  }
  if (link_.last_zxid() > last_zxid_) last_zxid_ = link_.last_zxid();
  round_trip_ = link_.round_trip().count();
  if (const auto event = link_.take_event(); event && flaw == nullptr) owner_.event_came(*event);
  if (link_.has_answered()) refused.store(nullptr);
  if (flaw != nullptr) refused.store(flaw);
  flawed_ = flawed_ || flaw != nullptr;
  return flaw;
}

/// Checks what the C client is about to get.
ssize_t WireSocket::took(const char* bytes, ssize_t size) {
  if (size <= 0) return size;
  taken_ += static_cast<std::uint64_t>(size);
  if (check(bytes, static_cast<std::size_t>(size)) == nullptr) return size;
  errno = EBADMSG;
  return -1;
}

/// Receives more of a frame that is collected here. 1: it is complete; else as recv.
ssize_t WireSocket::collect_frame(std::size_t longest) {
  constexpr std::size_t step = 1 << 16;
  while (true) {
    const auto have = frame_taken_;
    const auto whole = have < size_of_frame_length
                           ? size_of_frame_length
                           : size_of_frame_length + static_cast<std::size_t>(frame_length(frame_));
    if (have == whole && have > size_of_frame_length) return 1;
    errno = EBADMSG;
    if (whole > longest) return -1;
    // A length costs nothing: memory that was not written to is not there.
    frame_.reserve(whole);
    frame_.resize(std::max(frame_.size(), std::min(whole, have + step)));
    const auto came = receive(frame_.data() + have, frame_.size() - have);
    if (came <= 0) return came;
    frame_taken_ += static_cast<std::size_t>(came);
    if (took(frame_.data() + have, came) <= 0) return -1;
  }
}

/// Collects a frame that begins with these bytes: its length and perhaps more. As recv.
ssize_t WireSocket::begin_frame(std::string head) {
  frame_ = std::move(head);
  frame_taken_ = frame_.size();
  if (took(frame_.data(), size_of_frame_length) < 0) return -1;
  // Its bytes are checked where they stay.
  frame_.reserve(size_of_frame_length + static_cast<std::size_t>(frame_length(frame_)));
  const auto behind = static_cast<ssize_t>(frame_taken_ - size_of_frame_length);
  return behind == 0 ? 1 : took(frame_.data() + size_of_frame_length, behind);
}

ssize_t WireSocket::take_greeting() {
  constexpr std::size_t longest = 64;
  const auto result = collect_frame(longest);
  if (result <= 0) return result;
  handed_over_ = std::exchange(frame_, {});
  frame_taken_ = 0;
  // A session that is over is not authenticated.
  sasl_ = granted_by(handed_over_).session == 0 ? Sasl::Delivery : Sasl::Exchange;
  if (sasl_ == Sasl::Exchange) owner_.continue_sasl(server_, connection_, nullptr, 0);
  errno = EAGAIN;
  return -1;
}

ssize_t WireSocket::take_sasl_answer() {
  constexpr std::size_t longest = 65536;
  const auto result = collect_frame(longest);
  if (result <= 0) return result;
  const auto answer = sasl_answer(std::string_view(frame_).substr(size_of_frame_length));
  frame_.clear();
  frame_taken_ = 0;
  owner_.continue_sasl(server_, connection_, &answer.token, answer.error);
  errno = EAGAIN;
  return -1;
}

/// Passes bytes to the C client that have been checked.
ssize_t WireSocket::hand_over(char* buffer, std::size_t size) {
  const auto count = handed_over_.copy(buffer, size);
  handed_over_.erase(0, count);
  if (handed_over_.empty()) handed_over_.shrink_to_fit();  // it may have been large
  if (handed_over_.empty() && sasl_ == Sasl::Delivery) sasl_ = Sasl::None;
  taken_ += count;
  return static_cast<ssize_t>(count);
}

void WireSocket::ask(std::int32_t operation, std::string_view body, Done done, const void* data) {
  const auto xid = next_xid(requests);
  asked_.push_back({.xid = xid, .done = done, .data = data});
  send_frame(request_frame(xid, operation, body));
}

/// Takes answers to zksh's own requests, until the next frame, whose first bytes are then in head_,
/// is the C client's. 1: it is; else as recv. Answers that were taken are delivered before the C
/// client gets more, so that all are in order.
ssize_t WireSocket::take_own_answers() {
  constexpr std::size_t size_of_xid = 4;
  constexpr std::size_t enough = size_of_frame_length + size_of_xid;
  const auto is_enough = [&] { return head_.size() == enough; };
  ssize_t result = 1;
  while (!asked_.empty()) {
    if (frame_taken_ == 0) {
      std::array<char, enough> some;
      while (!is_enough() && (result = receive(some.data(), enough - head_.size())) > 0)
        head_.append(some.data(), static_cast<std::size_t>(result));
      if (!is_enough()) break;
      result = 1;
      if (frame_length(std::string_view(head_).substr(size_of_frame_length)) != asked_.front().xid)
        break;
      if (begin_frame(std::exchange(head_, {})) < 0) return -1;
    }
    result = collect_frame(any_size);
    if (result <= 0) break;
    take_own_answer();
  }
  if (answered_.empty()) return result;
  errno = EAGAIN;
  return -1;
}

/// Passes the bytes in head_ to the C client, and more if it asks for more.
ssize_t WireSocket::take_head(char* buffer, std::size_t size) {
  const auto count = head_.copy(buffer, size);
  head_.erase(0, count);
  const auto more = count < size ? receive(buffer + count, size - count) : 0;
  return took(buffer, static_cast<ssize_t>(count) + std::max<ssize_t>(more, 0));
}

/// Whether a frame that begins so may take so long that the C client must not wait for it. Nearby,
/// that is what 1 Mbit/s brings in a quarter of the session timeout: collecting an answer costs a
/// copy, unless it is so large that its content is moved out of it anyway.
bool WireSocket::is_long(std::string_view head) const {
  constexpr std::int64_t bytes_a_millisecond = 125;
  constexpr std::int64_t small = 1 << 16;
  constexpr std::int64_t large = 1 << 20;
  if (head.size() < size_of_frame_length) return false;
  const auto quarter = std::chrono::duration_cast<std::chrono::milliseconds>(link_.timeout() / 4);
  const auto least = round_trip() > nearby
                         ? small
                         : std::clamp(quarter.count() * bytes_a_millisecond, small, large);
  return frame_length(head) >= least;
}

/// Begins to collect the C client's next frame, whose first bytes are `head`.
ssize_t WireSocket::take_long_answer(char* buffer, std::size_t size, const std::string& head) {
  if (begin_frame(head) < 0) return -1;
  long_ = true;
  return take_rest(buffer, size);
}

ssize_t WireSocket::take_rest(char* buffer, std::size_t size) {
  const auto result = collect_frame(any_size);
  if (result < 0 && errno == EAGAIN) return keep_alive(buffer, size);
  if (result <= 0) return result;
  long_ = false;
  frame_taken_ = 0;
  if (const auto stub = link_.take_stub()) {
    const auto left = frame_.substr(size_of_frame_length, *stub);
    frame_ = frame_length_of(left) + left;
  }
  handed_over_ = std::exchange(frame_, {});
  return hand_over(buffer, size);
}

/// For when a part of a frame has been collected, and no more is there: the server must hear of the
/// session, and the C client of the server.
ssize_t WireSocket::keep_alive(char* buffer, std::size_t size) {
  const auto now = Clock::now();
  if (link_.timeout().count() > 0 && now - kept_alive_ > link_.timeout() / 12) {
    kept_alive_ = now;
    send_frame(ping_request());
    const auto ping = ping_answer();
    handed_over_ = frame_length_of(ping) + ping;
    return hand_over(buffer, size);
  }
  errno = EAGAIN;
  return -1;
}

/// The frame has been found to be the answer to the first request.
void WireSocket::take_own_answer() {
  auto& request = answered_.emplace_back(std::move(asked_.front()));
  asked_.pop_front();
  request.frame = std::exchange(frame_, {});
  frame_taken_ = 0;
  last_own_zxid_ = std::max(last_own_zxid_, header_of(request.frame).zxid);
  const auto ping = ping_answer();
  handed_over_ = frame_length_of(ping) + ping;
}

bool WireSocket::deliver() {
  if (answered_.empty()) return false;
  for (const auto& request : std::exchange(answered_, {})) {
    request.done(header_of(request.frame), request.data);
  }
  return true;
}

void WireSocket::fail_requests(int code) {
  deliver();
  for (const auto& request : std::exchange(asked_, {})) request.done({.code = code}, request.data);
}

void WireSocket::start_tls(std::uint64_t connection) {
  if (connection != connection_ || !tls_ || !tls_->failure().empty()) return;
  tls_->start();
  push();
}

void WireSocket::send_sasl(std::uint64_t connection, std::string_view token) {
  if (connection != connection_ || sasl_ != Sasl::Exchange) return;
  send_frame(sasl_request(++sasl_requests_, token));
}

void WireSocket::end_sasl(std::uint64_t connection) {
  if (connection == connection_ && sasl_ == Sasl::Exchange) sasl_ = Sasl::Delivery;
}

void WireSocket::drop_sasl(std::uint64_t connection) {
  if (connection == connection_ && sasl_ == Sasl::Exchange) shutdown(fd_, SHUT_RDWR);
}

bool WireSocket::may_have_unread() const {
  return !unread_.empty() || !head_.empty() || !handed_over_.empty() ||
         (tls_ && tls_->may_have_unread());
}

ssize_t WireSocket::recv(int fd, char* buffer, std::size_t size) {
  if (fd == question_) {
    question_ = -1;
    return static_cast<ssize_t>(std::string_view(answer_ ? "rw" : "ro").copy(buffer, size));
  }
  const auto came = take(buffer, size);
  const bool has_ended = came == 0 || (came < 0 && errno != EAGAIN);
  if (!has_ended || !expires_ || !link_.awaits_greeting()) return came;
  sasl_ = Sasl::None;
  const auto answer = expired_greeting();
  handed_over_ = frame_length_of(answer) + answer;
  return hand_over(buffer, size);
}

/// The next bytes for the C client, as recv.
ssize_t WireSocket::take(char* buffer, std::size_t size) {
  if (sasl_ == Sasl::Greeting) {
    const auto result = take_greeting();
    if (sasl_ != Sasl::Delivery) return result;
  }
  if (sasl_ == Sasl::Exchange) return take_sasl_answer();
  if (!handed_over_.empty()) return hand_over(buffer, size);
  if (long_) return take_rest(buffer, size);
  if (frame_taken_ > 0 || (!asked_.empty() && link_.receives_length())) {
    const auto result = take_own_answers();
    const bool is_partial = result < 0 && errno == EAGAIN && frame_taken_ > 0 && answered_.empty();
    if (is_partial) return keep_alive(buffer, size);
    if (result <= 0) return result;
  }
  const bool begins = link_.receives_length();
  if (!head_.empty() && begins && is_long(head_))
    return take_long_answer(buffer, size, std::exchange(head_, {}));
  if (!head_.empty()) return take_head(buffer, size);
  const auto came = receive(buffer, size);
  if (begins && came == static_cast<ssize_t>(size_of_frame_length) &&
      is_long({buffer, size_of_frame_length}))
    return take_long_answer(buffer, size, std::string(buffer, size_of_frame_length));
  return took(buffer, came);
}

std::optional<Clock::time_point> WireSocket::give_up_at() const {
  if (is_shaking_hands()) return tls_->has_started() ? handshake_until_ : start_tls_at_;
  if (greeting_until_) return greeting_until_;
  const auto until = link_.give_up_at();
  return until ? std::optional(wait_until(*until)) : std::nullopt;
}

void WireSocket::give_up() {
  constexpr std::chrono::milliseconds longest{60000};  // more than the C client's own limit
  if (tls_ && !tls_->has_started()) return start_tls(connection_);
  if (is_shaking_hands()) {
    tls_->give_up();
    note_tls();
  } else if (std::exchange(greeting_until_, std::nullopt)) {
    patience_ = std::min(2 * patience_, longest);
  } else {
    refused.store("a request was not answered in time");
  }
  shutdown(fd_, SHUT_RDWR);
}

std::int32_t frame_length(std::string_view bytes) {
  std::uint32_t length = 0;
  for (const char byte : bytes.substr(0, size_of_frame_length))
    length = length << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(length);
}

void WireLink::Direction::take_length(std::string_view bytes) {
  for (const char byte : bytes.substr(0, size_of_frame_length - length_taken)) {
    frame = frame << 8U | static_cast<unsigned char>(byte);
    ++length_taken;
  }
}

bool WireLink::Direction::take(std::size_t bytes) {
  taken += bytes;
  if (taken < frame) return false;
  *this = {};
  return true;
}

void WireLink::look_at_sent(std::string_view bytes) {
  if (!out_.in_frame() || out_.taken > 0 || noted_) return;
  noted_ = true;
  if (!greeting_sent_) {
    request_ = session_request(bytes);
    greeting_at_ = BootClock::now();
  } else {
    conversation_.note_request(bytes);
  }
  greeting_sent_ = true;
}

void WireLink::sent(std::string_view bytes) {
  if (!out_.in_frame()) {
    out_.take_length(bytes);
  } else if (out_.take(bytes.size())) {
    noted_ = false;
  }
}

const char* WireLink::flaw_of_received(std::string_view bytes) {
  if (!greeted_) {
    greeting_taken_ += bytes.size();
    const std::string_view whole(bytes.data() + bytes.size() - greeting_taken_, greeting_taken_);
    const auto* const flaw = flaw_of_greeting(whole, request_.fresh);
    greeted_ = whole.size() >= size_of_frame_length &&
               whole.size() >= size_of_frame_length + static_cast<std::size_t>(frame_length(whole));
    if (greeted_ && flaw == nullptr) begin_lease(granted_by(whole));
    return flaw;
  }
  if (!in_.in_frame()) {
    in_.take_length(bytes);
    return in_.in_frame() ? flaw_of_length(static_cast<std::int32_t>(in_.frame)) : nullptr;
  }
  const auto size = in_.taken + bytes.size();
  const std::string_view whole(bytes.data() + bytes.size() - size, size);
  if (in_.take(bytes.size())) return conversation_.flaw_of(whole);
  conversation_.note_part(bytes.size());
  return nullptr;
}

void WireLink::begin_lease(const Granted& granted) {
  if (granted.session == 0) return;
  auto lease = of_session<SessionLease>(granted.session);
  const std::chrono::milliseconds timeout(granted.timeout_ms);
  lease->begin(greeting_at_, request_.fresh, timeout);
  conversation_.tell(std::move(lease), of_session<AnswerNotes>(granted.session), timeout,
                     request_patience(request_.timeout_ms, granted.timeout_ms),
                     BootClock::now() - greeting_at_);
}

}  // namespace zksh

using zksh::socket_here;

/// No program that zksh starts gets it: see inherited_descriptors.
int wrap_socket(int domain, int type, int protocol) {
  return real_socket(domain, type | SOCK_CLOEXEC, protocol);
}

int wrap_connect(int fd, const sockaddr* address, socklen_t size) {
  return socket_here ? socket_here->connect(fd, address, size) : real_connect(fd, address, size);
}

ssize_t wrap_send(int fd, const void* buffer, std::size_t size, int flags) {
  if (!socket_here || !socket_here->owns(fd)) return real_send(fd, buffer, size, flags);
  return socket_here->send(fd, {static_cast<const char*>(buffer), size});
}

ssize_t wrap_recv(int fd, void* buffer, std::size_t size, int flags) {
  if (!socket_here || !socket_here->owns(fd)) return real_recv(fd, buffer, size, flags);
  return socket_here->recv(fd, static_cast<char*>(buffer), size);
}

/// The C client's own begin with the time, and become negative in 2038.
std::int32_t wrap_get_xid() { return zksh::next_xid(zksh::requests); }

/// The C client gets numeric addresses alone, and resolves each twice for every connection, with a
/// flag (AI_ADDRCONFIG) for which the C library asks the kernel for all of this machine's
/// addresses.
int wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                     addrinfo** result) {
  if (!socket_here || !node || !hints || !zksh::is_numeric(node))
    return real_getaddrinfo(node, service, hints, result);
  auto numeric = *hints;
  numeric.ai_flags = (numeric.ai_flags & ~AI_ADDRCONFIG) | AI_NUMERICHOST | AI_NUMERICSERV;
  return real_getaddrinfo(node, service, &numeric, result);
}
