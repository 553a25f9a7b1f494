// WireSocket: the socket calls of the C client. Ends a connection whose server sends what the C
// client could not handle (WireLink), or stays silent for too long.
//
// The linker has the C client call functions here in place of the C library's connect, send, recv
// and getaddrinfo (--wrap), since it has no hook for that. They affect only the handle that this
// thread uses (Wire::Hold).
//
// Between the C client and the network stand, each only where it is wanted:
//
//  - TLS (TlsConnection). The C client's bytes wait until the handshake is over; nothing blocks.
//  - Requests that the C client cannot make (marshalling.h). They get their numbers from the same
//    counter as its own, and are sent between these, and their answers are taken out of what it
//    receives. For each lot of them it gets the answer to a ping instead: it would leave a server
//    that it does not hear from.
//  - SASL. The answer to the connect request is kept from the C client until the server has
//    authenticated the connection, by requests that the C client knows nothing of. So it sends
//    nothing before, and sets its watches and credentials again afterwards.
//
// How long a server may stay silent:
//
//  - A host that does not respond is given up after 3 s, and a TLS handshake after 5 s. It begins
//    after 1 s at the latest, though certificates that may have changed have not been read.
//  - A server that accepts a connection but does not answer the connect request is left after 3 s,
//    then after twice as long each time that nobody answered: a slow ensemble answers in the end.
//    The C client would wait for two thirds of the session timeout before trying the next server,
//    and servers that are frozen, or were reached while starting, never answer.
//  - Bytes that arrive count. The C client counts whole frames alone, and sends no pings while it
//    waits for an answer. So a long answer is collected here; meanwhile the server gets pings, and
//    the C client answers to them.
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

/// The size of the length before each frame, in bytes.
constexpr std::size_t size_of_frame_length = 4;
/// Reads such a length; `bytes` may be shorter.
std::int32_t frame_length(std::string_view bytes);

/// Used by the thread that reads and writes the connection, from its first byte on. The C client
/// sends, and receives, a length and its frame in separate calls.
class WireLink {
 public:
  /// Called before `bytes` are sent. A frame is passed as a whole the first time, however much of
  /// it is sent.
  void look_at_sent(std::string_view bytes);
  /// Whether the next bytes to send are those of a length, which a frame follows at once.
  bool sends_length() const { return !out_.in_frame(); }
  /// Whether they are those of the connect request, without its length.
  bool sends_greeting() const { return !greeting_sent_ && out_.in_frame() && out_.taken == 0; }
  /// The length that was sent does not count: its frame is not sent.
  void drop_length() { out_ = {}; }
  /// Called after `bytes` were sent.
  void sent(std::string_view bytes);
  /// What is wrong with received `bytes`, for the user; null if nothing. They must be in place in
  /// the buffer that receives the whole frame.
  const char* flaw_of_received(std::string_view bytes);
  /// Whether the next bytes to receive are those of a length.
  bool receives_length() const { return greeted_ && in_.length_taken == 0; }
  /// Whether the connect request was sent and not answered yet.
  bool awaits_greeting() const { return greeting_sent_ && !greeted_; }
  /// Whether it was answered.
  bool is_greeted() const { return greeted_; }
  /// Whether the next bytes to send are those of a request, without its length.
  bool sends_request() const { return greeting_sent_ && out_.in_frame() && out_.taken == 0; }
  /// As in WireConversation.
  std::optional<WireEvent> take_event() { return conversation_.take_event(); }
  std::int64_t last_zxid() const { return conversation_.last_zxid(); }
  /// As in WireConversation.
  SessionLease::Duration round_trip() const { return conversation_.round_trip(); }
  /// As in WireConversation.
  std::optional<std::size_t> take_stub() { return conversation_.take_stub(); }
  SessionLease::Duration timeout() const { return conversation_.timeout(); }
  bool has_answered() const { return conversation_.has_answered(); }
  bool expects_answers() const { return conversation_.expects_answers(); }
  std::optional<BootClock::time_point> give_up_at() const { return conversation_.give_up_at(); }

 private:
  /// The bytes of one direction: lengths and frames.
  struct Direction {
    std::uint32_t frame = 0;  ///< the frame's size, as far as its length is known
    std::size_t length_taken = 0;
    std::size_t taken = 0;  ///< number of bytes of the frame seen

    bool in_frame() const { return length_taken == size_of_frame_length; }
    /// Records bytes of a length.
    void take_length(std::string_view bytes);
    /// Records bytes of a frame; true at its end.
    bool take(std::size_t bytes);
  };

  void begin_lease(const Granted& granted);

  bool greeting_sent_ = false;
  BootClock::time_point greeting_at_;
  SessionRequest request_;
  bool noted_ = false;  ///< the current request is recorded
  bool greeted_ = false;
  std::size_t greeting_taken_ = 0;
  Direction out_;
  Direction in_;
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
  /// TLS for a new connection; null: none. Unless it has started, Wire::start_tls follows with the
  /// connection's number, from another thread.
  virtual std::unique_ptr<TlsConnection> secure(const SocketAddress& server,
                                                std::uint64_t connection) = 0;
  /// A TLS connection to this server has failed, or has brought the first bytes.
  virtual void tls_ended(const SocketAddress& server, const TlsConnection& connection) = 0;
  /// Whether connections are authenticated with SASL.
  virtual bool wants_sasl() = 0;
  /// The SASL exchange on a connection, by its number, is to begin: `token` is null; or the server
  /// has answered with a token, or with an error. Wire::send_sasl, end_sasl or stop follow, from
  /// another thread.
  virtual void continue_sasl(const SocketAddress& server, std::uint64_t connection,
                             const std::string* token, std::int32_t error) = 0;
  /// An event has arrived, which the C client gets next.
  virtual void event_came(const WireEvent& event) = 0;
  /// Whether the server reports the next event of a one-shot watch on this node, a path with the
  /// chroot, anyway, so that the watch need not, and must not, be set there.
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

  /// Lets the C client's reads receive more than it asks for into `room`, so that one call of the
  /// kernel does for many frames; but in all no more than fits there, however much a server sends.
  /// An empty room ends that; all must have been read by then.
  void receive_into(std::span<char> room);
  /// Whether there may be bytes for the C client that the kernel knows nothing of.
  bool may_have_unread() const;
  /// The number of bytes that the C client has taken so far.
  std::uint64_t taken() const { return taken_; }

  /// Called once for a request of zksh's own: with its answer, or with the code that the request
  /// failed with and nothing else. `data` is the request's.
  using Done = void (*)(const AnswerHeader& answer, const void* data);
  /// Sends such a request. There must be a connection whose connect request has been answered.
  void ask(std::int32_t operation, std::string_view body, Done done, const void* data);
  /// Calls `done` for the answers that have been received. False if there are none. The C client
  /// must not be in a call.
  bool deliver();
  /// Calls it for all requests that are not answered.
  void fail_requests(int code);

  /// Whether bytes wait for the kernel to take more.
  bool has_unsent() const { return !unsent_.empty(); }
  /// Sends them, as far as the kernel takes them.
  void flush();
  /// Whether the server has got a plain connect request, and not answered yet.
  bool awaits_greeting() const { return link_.awaits_greeting() && sasl_ == Sasl::None; }
  /// Sends the request that closes the session, even while the server is opening it, which it
  /// finishes first. Does not block.
  void begin_close();
  /// Waits until the server has answered that, or closed the connection. Then the C client, whose
  /// own request would come too late, finds a connection that has ended, and does not wait.
  ///
  /// The C client itself waits for any answer alone. If it then closes a socket on which more
  /// answers have arrived, the server gets a reset, which destroys a request that it has not read
  /// yet: the session would live on until its timeout.
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
  /// session is over.
  void expire_if_refused() { expires_ = true; }

  /// When `give_up` is to be called unless an answer arrives; nullopt: never.
  std::optional<Clock::time_point> give_up_at() const;
  /// Ends the connection: the C client notices, and tries the next server. Or starts TLS.
  void give_up();

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

 private:
  /// What the next frame is.
  enum class Sasl {
    None,      ///< the C client's, as all
    Greeting,  ///< the answer to the connect request
    Exchange,  ///< an answer to SASL's request
    Delivery,  ///< the C client gets the answer to its connect request
  };

  ssize_t take(char* buffer, std::size_t size);
  bool push();
  ssize_t pass(std::string_view bytes);
  ssize_t receive_raw(char* buffer, std::size_t size);
  ssize_t receive(char* buffer, std::size_t size);
  ssize_t receive_secured(char* buffer, std::size_t size);
  void note_tls();
  bool is_shaking_hands() const { return tls_ && !tls_->is_ready(); }
  const char* check(const char* bytes, std::size_t size);
  ssize_t took(const char* bytes, ssize_t size);
  void send_frame(std::string_view frame);
  ssize_t begin_frame(std::string head);
  ssize_t collect_frame(std::size_t longest);
  ssize_t take_own_answers();
  void take_own_answer();
  ssize_t take_head(char* buffer, std::size_t size);
  bool is_long(std::string_view head) const;
  ssize_t take_long_answer(char* buffer, std::size_t size, const std::string& head);
  ssize_t take_rest(char* buffer, std::size_t size);
  ssize_t keep_alive(char* buffer, std::size_t size);
  ssize_t take_greeting();
  ssize_t take_sasl_answer();
  ssize_t hand_over(char* buffer, std::size_t size);
  std::optional<std::size_t> drop_received();
  std::optional<std::size_t> drop_decrypted();

  static constexpr std::chrono::seconds greeting_patience{3};

  WireOwner& owner_;
  int fd_ = -1;
  SocketAddress server_{};
  std::uint64_t connection_ = 0;  ///< counts them
  bool fresh_ = false;
  bool flawed_ = false;         ///< is_flawed
  bool expires_ = false;        ///< expire_if_refused
  bool closing_ = false;        ///< the request that closes the session was sent
  bool ends_with_any_ = false;  ///< the next answer is that to this request
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
  /// A frame that is collected here, with its length, and how much of it has been received.
  std::string frame_{};
  std::size_t frame_taken_ = 0;
  bool long_ = false;  ///< it is a long answer, which the C client gets when it is complete
  Clock::time_point kept_alive_{};
  std::string head_{};         ///< received bytes of the C client's next frame
  std::string handed_over_{};  ///< what the C client gets next, and has been checked
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
};

}  // namespace zksh
