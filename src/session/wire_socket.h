// WireSocket: the socket calls of the C client. Ends a connection whose server sends what the C
// client could not handle (WireLink), or stays silent for too long.
//
// The linker has the C client call functions here in place of the C library's connect, send, recv,
// close and getaddrinfo (--wrap), since it has no hook for that. They affect only the handle that
// this thread uses (Wire::Hold).
//
// These stand between the C client and the network, each only where it is wanted:
//
//  - TLS (TlsConnection). The C client's bytes wait until the handshake is over; nothing blocks.
//  - Requests that the C client cannot make (marshalling.h). They get their numbers from the same
//    counter as its own, and are sent among them; their answers are taken out of what it receives.
//    In place of each batch of answers it gets the answer to a ping: it would leave a server that
//    it does not hear from.
//  - SASL. The answer to the connect request is kept from the C client until the server has
//    authenticated the connection, by requests that the C client knows nothing of. So it sends
//    nothing before, and sets its watches and credentials again afterwards.
//
// How long a server may stay silent:
//
//  - A host that does not respond is given up after 3 s, and a TLS handshake after 5 s. A handshake
//    begins after 1 s at the latest, even if certificates that may have changed have not been read.
//  - A server that accepts a connection but does not answer the connect request is left after 3 s,
//    then after twice as long each time that nobody answered: a slow ensemble answers in the end.
//    The C client would wait for two thirds of the session timeout before trying the next server,
//    and servers that are frozen, or were reached while starting, never answer.
//  - Bytes that arrive count. The C client counts whole frames alone, and sends no pings while it
//    waits for an answer. So frames are collected here; meanwhile the server gets pings, and the C
//    client answers to them.
//  - Other requests must be answered by WireConversation::give_up_at. Answers that have arrived by
//    then are read first.
#pragma once

#include "base/monitor.h"
#include "base/time.h"
#include "client/host_addresses.h"
#include "client/tls.h"
#include "session/marshalling.h"
#include "session/reply_validator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace zksh {

/// Used by the thread that reads and writes the connection, from its first frame on.
class WireLink {
 public:
  /// Called before a frame is sent, without its length: first the connect request.
  void note_sent(std::string_view frame);
  /// What is wrong with the next frame, for the user; null if nothing. To be called with its
  /// length, then whenever more of it has arrived, with what is there, and how much of that is new.
  const char* flaw_of_received(std::string_view frame, std::size_t came);
  /// Whether the connect request was sent, was answered, and is still to be answered.
  bool has_greeted() const { return greeting_sent_; }
  bool is_greeted() const { return greeted_; }
  bool awaits_greeting() const { return greeting_sent_ && !greeted_; }
  /// Whether the connect request asks for a new session.
  bool is_fresh() const { return request_.fresh; }
  /// What follows the answer to it.
  const WireConversation& conversation() const { return conversation_; }
  std::optional<WireEvent> take_event() { return conversation_.take_event(); }

 private:
  void begin_lease(const Granted& granted);

  bool greeting_sent_ = false;
  BootClock::time_point greeting_at_;
  SessionRequest request_;
  bool greeted_ = false;
  WireConversation conversation_;
};

/// What was wrong with the last answer that was refused, or never arrived, for the user; empty if
/// nothing was, or a request has been answered since. From any thread.
std::string refused_answer();

/// What a wire asks of its session. Called with the wire's Hold; must not block.
class WireOwner {
 public:
  /// Called now and then by the wires' thread; returns when to be called again.
  virtual Clock::time_point tend() = 0;
  /// Whether the server with this address is known to take writes: a read-only session looks for
  /// one.
  virtual bool takes_writes(const SocketAddress& server) = 0;
  /// TLS for a new connection; null if it is off. Unless it has started, the socket's start_tls
  /// follows with the connection's number, from another thread.
  virtual std::unique_ptr<TlsConnection> secure(const SocketAddress& server,
                                                std::uint64_t connection) = 0;
  /// A TLS connection to this server has failed, or has received its first bytes.
  virtual void tls_ended(const SocketAddress& server, const TlsConnection& connection) = 0;
  /// Whether connections are authenticated with SASL.
  virtual bool wants_sasl() = 0;
  /// The SASL exchange on a connection, by its number, is to begin: `token` is null; or the server
  /// has answered with a token, or with an error. The socket's send_sasl, end_sasl or drop_sasl, or
  /// Wire::stop follow, mostly from another thread.
  virtual void continue_sasl(const SocketAddress& server, std::uint64_t connection,
                             const std::string* token, std::int32_t error) = 0;
  /// An event has arrived, which the C client gets next.
  virtual void event_came(const WireEvent& event) = 0;
  /// Whether the server reports the next event of a one-shot watch on this node (a path with the
  /// chroot) anyway, so that the watch need not, and must not, be set there.
  virtual bool is_reported(std::string_view path, bool of_children) = 0;

 protected:
  WireOwner() = default;
  WireOwner(const WireOwner&) = default;
  WireOwner& operator=(const WireOwner&) = default;
  ~WireOwner() = default;
};

/// The socket of a handle. Used under the lock of the wires.
class WireSocket {
 public:
  /// While it lives, what the C client calls on this thread is for this socket.
  class Here {
   public:
    explicit Here(WireSocket& socket);
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;
    ~Here();

   private:
    WireSocket* outer_;
  };

  explicit WireSocket(WireOwner& owner) : owner_(owner) {}

  /// Whether the C client has begun a connection since this was last called.
  bool is_fresh() { return std::exchange(fresh_, false); }

  /// Lets the C client's reads receive more than it asks for into `room`, so that one system call
  /// does for many frames; but in all no more than fits there, however much a server sends.
  /// An empty room ends that; all must have been read by then.
  void receive_into(std::span<char> room);
  /// Whether there may be bytes for the C client that the kernel knows nothing of.
  bool may_have_unread() const;
  /// Counts the bytes that were received, and those that the C client has got.
  std::uint64_t taken() const { return taken_; }

  /// Called once for a request of zksh's own: with its answer, or with the code that the request
  /// failed with and nothing else. `data` is the request's.
  using Done = void (*)(const AnswerHeader& answer, const void* data);
  /// Sends such a request. There must be a connection whose connect request has been answered.
  void ask(std::int32_t operation, std::string_view body, Done done, const void* data);
  /// Calls `done` for the answers that have been received. False if there are none. The C client
  /// must not be in a call.
  bool deliver();
  /// Calls `done`, with this code, for all requests that are not answered.
  void fail_requests(int code);

  /// Whether bytes wait for the kernel to take more.
  bool has_unsent() const { return !unsent_.empty(); }
  /// Sends them, as far as the kernel takes them. False if the connection has failed.
  bool flush();
  /// Whether the server has got a plain connect request, and not answered yet.
  bool awaits_greeting() const {
    return fd_ >= 0 && link_.awaits_greeting() && sasl_ == Sasl::None;
  }
  /// Sends the request that closes the session, even while the server is opening it, which it
  /// finishes first. Does not block.
  void begin_close();
  /// Waits until the server has answered that, or closed the connection. Then the C client, whose
  /// own request would come too late, finds a connection that has ended, and does not wait.
  ///
  /// The C client itself waits only until some answer arrives, whichever it is. If it then closes a
  /// socket on which more answers have arrived, the server gets a reset, which destroys a request
  /// that it has not read yet: the session would live on until its timeout.
  void finish_close(Clock::time_point until);

  /// Whether the connection may be left without waiting for that answer: the server is not near, so
  /// that waiting would be felt, and nothing keeps the kernel from delivering the request.
  bool may_leave();

  /// The greatest zxid that a server has shown.
  std::int64_t last_zxid() const { return last_zxid_; }
  /// The shortest time in which this server has answered; 0: it has not.
  std::chrono::nanoseconds round_trip() const { return std::chrono::nanoseconds(round_trip_); }

  /// Whether the connection was ended because of what its server sent.
  bool is_flawed() const { return flawed_; }
  /// The servers have been found to have less than this session has seen: the next one that closes
  /// the connection instead of answering the connect request counts as one that says that the
  /// session is over. A session that only read-only servers have known is not resumed by others
  /// (the C client asks for a new one, and takes no expiry): they are told it has seen nothing.
  void expire_if_refused() { expires_ = true; }

  /// When `give_up` is to be called unless an answer arrives; nullopt: never.
  std::optional<Clock::time_point> give_up_at() const;
  /// Ends the connection: the C client notices, and tries the next server. Or starts TLS.
  void give_up();

  /// Whether `leave_reader` is to be called. The C client leaves a read-only server as soon as it
  /// hears of one that takes writes, and then completes what it has sent with ZOK: a write would
  /// seem done, and a read's answer be made of bytes that are not there (ping_rw_server,
  /// cleanup(zh, ZOK)). So it hears of one only when everything is answered; and if only that was
  /// in the way, the connection ends as soon as everything is: the C client tries the next servers.
  bool may_leave_reader() const { return leaves_reader_ && !has_under_way(); }
  void leave_reader();

  /// Starts TLS, if the connection is still this one.
  void start_tls(std::uint64_t connection);

  /// Whether a socket that the C client sends or receives on is one of these.
  bool owns(int fd) const { return fd == fd_ || fd == question_; }
  /// Sends a token of the SASL exchange, or ends the exchange successfully, if the connection is
  /// still this one.
  void send_sasl(std::uint64_t connection, std::string_view token);
  void end_sasl(std::uint64_t connection);
  /// Ends the connection if it is still this one.
  void drop_sasl(std::uint64_t connection);

  // For the C client; they return what the C library's functions do.
  int connect(int fd, const sockaddr* address, socklen_t size);
  ssize_t send(int fd, std::string_view bytes);
  ssize_t recv(int fd, char* buffer, std::size_t size);
  /// The descriptor may be another thread's at once: nothing may be sent to it any more, nor may it
  /// be shut down.
  int close(int fd);

 private:
  /// What the next frame is.
  enum class Sasl {
    None,      ///< the C client's, as usual
    Greeting,  ///< the answer to the connect request
    Exchange,  ///< an answer to SASL's request
  };

  bool has_under_way() const {
    return link_.conversation().expects_answers() || may_have_unread() || !answered_.empty();
  }
  ssize_t take(char* buffer, std::size_t size);
  ssize_t pass(std::string_view bytes);
  ssize_t receive_raw(char* buffer, std::size_t size);
  ssize_t receive(char* buffer, std::size_t size);
  ssize_t receive_secured(char* buffer, std::size_t size);
  void note_tls();
  bool is_shaking_hands() const { return tls_ && !tls_->is_ready(); }
  void check(std::size_t came);
  void send_frame(std::string_view frame);
  ssize_t collect_frame();
  void pass_on(std::string frame);
  ssize_t hand_over(char* buffer, std::size_t size);
  bool keeps_alive();
  std::optional<std::size_t> drop_received();
  std::optional<std::size_t> drop_decrypted();

  static constexpr std::chrono::seconds greeting_patience{3};

  WireOwner& owner_;
  int fd_ = -1;  ///< until the C client closes it
  SocketAddress server_{};
  std::uint64_t connection_ = 0;  ///< counts them
  bool fresh_ = false;
  bool flawed_ = false;         ///< is_flawed
  bool expires_ = false;        ///< expire_if_refused
  bool closing_ = false;        ///< the request that closes the session was sent
  bool ends_with_any_ = false;  ///< whatever answer comes next is to that request
  std::uint64_t taken_ = 0;
  WireLink link_{};
  std::string length_{};  ///< of a frame, which waits for the frame
  std::string unsent_{};  ///< taken from the C client, but not yet by the kernel
  std::span<char> room_{};
  std::size_t allowance_ = std::numeric_limits<std::size_t>::max();  ///< in bytes; see receive_into
  std::string_view unread_{};  ///< received, and not yet taken by the C client
  std::chrono::milliseconds patience_ = greeting_patience;  ///< for the next connect response
  std::optional<Clock::time_point> greeting_until_{};
  std::unique_ptr<TlsConnection> tls_{};
  Clock::time_point start_tls_at_{};
  Clock::time_point handshake_until_{};
  bool tls_noted_ = false;
  Sasl sasl_ = Sasl::None;
  std::int32_t sasl_requests_ = 0;
  std::string frame_{};               ///< the next one, with its length
  std::size_t frame_taken_ = 0;       ///< how much of it has been received
  std::string greeting_{};            ///< the answer to the connect request, during SASL's exchange
  std::string handed_over_{};         ///< the frame that the C client gets
  std::size_t handed_ = 0;            ///< how much of it the C client has
  std::optional<WireEvent> event_{};  ///< if it is one that the C client does not have yet
  Clock::time_point kept_alive_{};
  struct OwnRequest {
    std::int32_t xid = 0;
    Done done = nullptr;
    const void* data = nullptr;
    std::string frame{};  ///< the answer, with its length
  };
  std::atomic<std::int64_t> last_zxid_ = 0;   ///< read by any thread
  std::atomic<std::int64_t> round_trip_ = 0;  ///< in nanoseconds; as above
  std::int64_t last_own_zxid_ = 0;            ///< the greatest that an answer has shown
  std::deque<OwnRequest> asked_{};
  std::vector<OwnRequest> answered_{};  ///< for deliver
  int question_ = -1;  ///< the socket over which the C client asks a server for its mode
  bool answer_ = false;
  bool leaves_reader_ = false;  ///< may_leave_reader, once nothing is under way
};

}  // namespace zksh
