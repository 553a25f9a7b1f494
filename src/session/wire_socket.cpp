// WireSocket: the socket, connect, send, recv, close and getaddrinfo that the C client calls.
#include "session/wire_socket.h"

#include "client/client.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
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
int real_close(int fd) __asm__("__real_close");
int real_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                     addrinfo** result) __asm__("__real_getaddrinfo");
int wrap_socket(int domain, int type, int protocol) __asm__("__wrap_socket");
int wrap_connect(int fd, const sockaddr* address, socklen_t size) __asm__("__wrap_connect");
ssize_t wrap_send(int fd, const void* buffer, std::size_t size, int flags) __asm__("__wrap_send");
ssize_t wrap_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("__wrap_recv");
int wrap_close(int fd) __asm__("__wrap_close");
int wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                     addrinfo** result) __asm__("__wrap_getaddrinfo");
std::int32_t wrap_get_xid() __asm__("__wrap_get_xid");
}

namespace zksh {
namespace {

constexpr std::size_t size_of_frame_length = 4;

std::atomic<const char*> refused{nullptr};

std::atomic<std::uint32_t> requests{0};  ///< of this process; see next_xid

/// The socket of the handle that this thread uses; null: none.
thread_local WireSocket* socket_here = nullptr;

bool is_numeric(const char* host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, host, address.data()) == 1 ||
         inet_pton(AF_INET6, host, address.data()) == 1;
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
    const bool takes_writes = owner_.takes_writes(asked);
    answer_ = takes_writes && !has_under_way();
    leaves_reader_ = takes_writes && !answer_;
    return 0;
  }
  fd_ = fd;
  server_ = {.size = size};
  std::memcpy(&server_.bytes, address, std::min<std::size_t>(size, sizeof server_.bytes));
  ++connection_;
  fresh_ = true;
  flawed_ = false;
  leaves_reader_ = false;
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
  handed_over_.clear();
  event_.reset();
  handed_ = 0;
  kept_alive_ = Clock::now();
  // A host that does not answer is asked again after 1 s, and given up after 3 s.
  const int repetitions = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &repetitions, sizeof repetitions);
  return real_connect(fd, address, size);
}

bool WireSocket::flush() {
  if (tls_) unsent_ += std::exchange(tls_->output(), {});
  if (unsent_.empty()) return true;
  const auto sent = real_send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
  unsent_.erase(0, static_cast<std::size_t>(sent));
  return true;
}

/// Passes bytes to the kernel, and keeps what it does not take. Once the server has answered, a
/// failure is kept from the C client, which would drop the connection without telling anybody
/// (nonblocking_send); recv reports it.
ssize_t WireSocket::pass(std::string_view bytes) {
  bool works = true;
  if (tls_) {
    tls_->write(std::exchange(length_, {}).append(bytes));
    works = flush();
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
  length_.clear();
  add_number(length_, static_cast<std::int32_t>(frame.size()));
  send(fd_, frame);
}

void WireSocket::begin_close() {
  ends_with_any_ = link_.is_greeted() && !link_.conversation().expects_answers();
  constexpr std::int32_t any_number = 1;
  send_frame(request_frame(any_number, operation::close));
  closing_ = true;
}

/// Receives what nobody reads, and drops it. Returns the number of the server's plain bytes;
/// nullopt at the end of the connection.
std::optional<std::size_t> WireSocket::drop_received() {
  std::array<char, 16384> dropped;
  const auto came = real_recv(fd_, dropped.data(), dropped.size(), MSG_DONTWAIT);
  if (came <= 0) return std::nullopt;
  if (!tls_) return static_cast<std::size_t>(came);
  tls_->receive({dropped.data(), static_cast<std::size_t>(came)});
  return drop_decrypted();
}

/// The same for what TLS has received.
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
  // If the server leaves the connection open: what came may be an event, and the answer may be a
  // round trip behind.
  const auto after_an_answer = std::chrono::milliseconds(100) + round_trip();
  if (tls_) drop_decrypted();  // it came before the request was sent
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    const short events = has_unsent() ? POLLIN | POLLOUT : POLLIN;
    pollfd socket{.fd = fd_, .events = events, .revents = 0};
    if (left <= 0 || poll(&socket, 1, static_cast<int>(left)) <= 0) break;
    if ((socket.revents & POLLOUT) != 0 && !flush()) break;
    if ((socket.revents & ~POLLOUT) == 0) continue;
    const auto answered = drop_received();
    if (!answered) break;
    if (*answered == 0) continue;  // TLS's own, or a part of a record
    if (ends_with_any_) break;
    if (!has_unsent()) until = std::min(until, Clock::now() + after_an_answer);
  }
  shutdown(fd_, SHUT_RDWR);
}

/// The C client sends, and receives, a length and its frame in separate calls.
ssize_t WireSocket::send(int fd, std::string_view bytes) {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (fd == question_) return size;
  if (length_.empty()) {
    length_ = bytes;  // it goes with its frame, in one packet
    return size;
  }
  std::string changed;
  if (!link_.has_greeted()) {
    const auto request = session_request(bytes);
    // A server that lags behind does not accept the session.
    const auto seen = expires_ && request.fresh ? 0 : std::max(request.last_zxid, last_own_zxid_);
    if (seen != request.last_zxid) bytes = changed = with_last_zxid(bytes, seen);
  } else if (const auto parts = split_watches(bytes); !parts.empty()) {
    length_.clear();
    for (const auto& part : parts) send_frame(part);
    return size;
  } else if (const auto read = watching_read(bytes);
             read && owner_.is_reported(read->path, read->of_children)) {
    changed = bytes;  // the watch is the last byte
    changed.back() = '\0';
    bytes = changed;
  }
  link_.note_sent(bytes);
  if (pass(bytes) < 0) return -1;
  if (link_.awaits_greeting() && !greeting_until_ && !is_shaking_hands())
    greeting_until_ = Clock::now() + patience_;
  return size;
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
  allowance_ = room.empty() ? std::numeric_limits<std::size_t>::max() : room.size();
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
  flush();
  if (result > 0 || !tls_->failure().empty()) note_tls();
  errno = error;
  return result;
}

/// Tells the owner once how the connection's TLS went.
void WireSocket::note_tls() {
  if (!std::exchange(tls_noted_, true)) owner_.tls_ended(server_, *tls_);
}

/// Checks the frame that is collected, as far as it is there.
void WireSocket::check(std::size_t came) {
  const auto* const flaw = link_.flaw_of_received({frame_.data(), frame_taken_}, came);
  if (!link_.awaits_greeting() && greeting_until_) {
    greeting_until_.reset();
    patience_ = greeting_patience;
    expires_ = false;
  }
  if (link_.conversation().last_zxid() > last_zxid_) last_zxid_ = link_.conversation().last_zxid();
  round_trip_ = link_.conversation().round_trip().count();
  event_ = link_.take_event();
  if (link_.conversation().has_answered()) refused.store(nullptr);
  if (flaw != nullptr) refused.store(flaw);
  flawed_ = flaw != nullptr;
}

/// Receives more of the next frame. 1: it is complete, and correct; else as recv.
ssize_t WireSocket::collect_frame() {
  constexpr std::size_t step = 1 << 16;
  while (!flawed_) {
    auto whole = size_of_frame_length;
    if (frame_taken_ >= whole) whole += static_cast<std::size_t>(JuteReader(frame_).integer());
    if (frame_taken_ == whole && whole > size_of_frame_length) return 1;
    // A large length costs nothing: memory takes no room until it is written to.
    frame_.reserve(whole);
    frame_.resize(std::max(frame_.size(), std::min(whole, frame_taken_ + step)));
    const auto came = receive(frame_.data() + frame_taken_, frame_.size() - frame_taken_);
    if (came <= 0) return came;
    frame_taken_ += static_cast<std::size_t>(came);
    taken_ += static_cast<std::uint64_t>(came);
    check(static_cast<std::size_t>(came));
  }
  errno = EBADMSG;
  return -1;
}

/// Passes a whole frame on to its receiver.
void WireSocket::pass_on(std::string frame) {
  const auto content = std::string_view(frame).substr(size_of_frame_length);
  if (sasl_ == Sasl::Greeting) {
    // A session that is over is not authenticated.
    sasl_ = granted_by(frame).session == 0 ? Sasl::None : Sasl::Exchange;
    if (sasl_ == Sasl::Exchange) {
      greeting_ = std::move(frame);
      return owner_.continue_sasl(server_, connection_, nullptr, 0);
    }
  } else if (sasl_ == Sasl::Exchange) {
    const auto answer = answer_header(content);
    const std::string token(answer.code == 0 ? AnswerReader(answer.body).data().value_or("") : "");
    return owner_.continue_sasl(server_, connection_, &token, answer.code);
  } else if (!asked_.empty() && answer_header(content).xid == asked_.front().xid) {
    last_own_zxid_ = std::max(last_own_zxid_, answer_header(content).zxid);
    auto& request = answered_.emplace_back(std::move(asked_.front()));
    asked_.pop_front();
    request.frame = std::move(frame);
    return;
  }
  handed_over_ = std::move(frame);
}

/// The next bytes for the C client, as recv. It gets none while there are answers to deliver, so
/// that all are in order.
ssize_t WireSocket::take(char* buffer, std::size_t size) {
  ssize_t result = 1;
  while (handed_over_.empty() && (result = collect_frame()) > 0) {
    frame_taken_ = 0;
    pass_on(std::exchange(frame_, {}));
  }
  const bool is_missing = handed_over_.empty() && errno == EAGAIN && result < 0;
  if (is_missing && (!answered_.empty() || keeps_alive())) add_text(handed_over_, ping_answer());
  if (answered_.empty() && handed_over_.empty()) return result;
  if (answered_.empty()) return hand_over(buffer, size);
  errno = EAGAIN;
  return -1;
}

ssize_t WireSocket::hand_over(char* buffer, std::size_t size) {
  if (const auto event = std::exchange(event_, std::nullopt)) owner_.event_came(*event);
  const auto count = handed_over_.copy(buffer, size, handed_);
  handed_ += count;
  taken_ += count;
  if (handed_ == handed_over_.size()) {
    handed_ = 0;
    std::string().swap(handed_over_);  // it may have been large
  }
  return static_cast<ssize_t>(count);
}

/// Call it when only a part of an answer has arrived: the server must hear from the session, and
/// the C client from the server. If that is due, sends the server a ping, and returns true.
bool WireSocket::keeps_alive() {
  const auto now = Clock::now();
  const bool is_due = frame_taken_ > 0 && sasl_ == Sasl::None &&
                      link_.conversation().give_up_at() &&
                      now - kept_alive_ > link_.conversation().timeout() / 12;
  if (!is_due) return false;
  kept_alive_ = now;
  send_frame(ping_request());
  return true;
}

void WireSocket::ask(std::int32_t operation, std::string_view body, Done done, const void* data) {
  const auto xid = next_xid(requests);
  asked_.push_back({.xid = xid, .done = done, .data = data});
  send_frame(request_frame(xid, operation, body));
}

bool WireSocket::deliver() {
  if (answered_.empty()) return false;
  for (auto& request : std::exchange(answered_, {})) {
    auto answer = answer_header(std::string_view(request.frame).substr(size_of_frame_length));
    answer.frame = &request.frame;
    request.done(answer, request.data);
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
  flush();
}

void WireSocket::send_sasl(std::uint64_t connection, std::string_view token) {
  if (connection != connection_ || sasl_ != Sasl::Exchange) return;
  std::string body;
  add_text(body, token);
  send_frame(request_frame(++sasl_requests_, operation::sasl, body));
}

void WireSocket::end_sasl(std::uint64_t connection) {
  if (connection != connection_ || sasl_ != Sasl::Exchange) return;
  sasl_ = Sasl::None;
  handed_over_ = std::exchange(greeting_, {});
}

void WireSocket::drop_sasl(std::uint64_t connection) {
  if (connection == connection_ && sasl_ == Sasl::Exchange) shutdown(fd_, SHUT_RDWR);
}

bool WireSocket::may_have_unread() const {
  return !unread_.empty() || !handed_over_.empty() || (tls_ && tls_->may_have_unread());
}

ssize_t WireSocket::recv(int fd, char* buffer, std::size_t size) {
  if (fd == question_) {
    question_ = -1;
    return static_cast<ssize_t>(std::string_view(answer_ ? "rw" : "ro").copy(buffer, size));
  }
  const auto came = take(buffer, size);
  const bool has_ended = came == 0 || (came < 0 && errno != EAGAIN);
  if (!has_ended || !expires_ || !link_.awaits_greeting() || link_.is_fresh()) return came;
  sasl_ = Sasl::None;
  handed_over_.clear();
  add_text(handed_over_, expired_greeting());
  return hand_over(buffer, size);
}

int WireSocket::close(int fd) {
  if (fd == fd_) fd_ = -1;
  if (fd == question_) question_ = -1;
  return real_close(fd);
}

std::optional<Clock::time_point> WireSocket::give_up_at() const {
  if (is_shaking_hands()) return tls_->has_started() ? handshake_until_ : start_tls_at_;
  if (greeting_until_) return greeting_until_;
  const auto until = link_.conversation().give_up_at();
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

void WireSocket::leave_reader() {
  leaves_reader_ = false;
  shutdown(fd_, SHUT_RDWR);
}

void WireLink::note_sent(std::string_view frame) {
  if (std::exchange(greeting_sent_, true)) return conversation_.note_request(frame);
  request_ = session_request(frame);
  greeting_at_ = BootClock::now();
}

const char* WireLink::flaw_of_received(std::string_view frame, std::size_t came) {
  if (frame.size() < size_of_frame_length) return nullptr;
  const auto length = JuteReader(frame).integer();
  if (frame.size() == size_of_frame_length)
    return greeted_ ? flaw_of_length(length) : flaw_of_greeting(frame, request_.fresh);
  const auto content = frame.substr(size_of_frame_length);
  if (content.size() < static_cast<std::size_t>(length)) {
    conversation_.note_part(came);
    return nullptr;
  }
  if (greeted_) return conversation_.flaw_of(content);
  greeted_ = true;
  const auto* const flaw = flaw_of_greeting(frame, request_.fresh);
  if (flaw == nullptr) begin_lease(granted_by(frame));
  return flaw;
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

int wrap_close(int fd) { return socket_here ? socket_here->close(fd) : real_close(fd); }

/// The C client's own numbers begin with the time, and become negative in 2038.
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
