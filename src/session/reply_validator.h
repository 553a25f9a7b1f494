// ReplyValidator: checks that servers send what ZooKeeper's C client takes for granted.
//
// The C client 3.8 does not check: a truncated answer leaves it with invalid pointers, and an
// unexpected one aborts the process. So its input is checked first. Its reply paths (zookeeper.c of
// 3.8.0 unless named; master of 2026 is alike): what each takes for granted, what checks it, and
// the modes of tests/hostile that break it.
//
//  recv_buffer: a frame's length, allocated at once flaw_of_length    "a frame of N"
//  recv_buffer: bytes that arrive                   its own limit     "it says nothing"
//  check_events: the connect response's fields      flaw_of_greeting  "a greeting of N"
//  check_events: a password of 16 bytes, copied     flaw_of_greeting  "a password of N"
//  check_events: a timeout that can be doubled      flaw_of_greeting  "a session timeout of N"
//  check_events: a response at all                  WireSocket        "silent"
//  zookeeper_process: 16 bytes of header            flaw_of           "less than a header"
//  zookeeper_process: assert(cptr), a request       flaw_of           "the number N"
//  zookeeper_process: answers in order              flaw_of           "another's answer"
//  zookeeper_process: a code of servers             flaw_of           "the code N"
//  zookeeper_process: an event's path               flaw_of_event     "an event without a path"
//  collectWatchers: a type of servers               flaw_of_event     "an event of type N"
//  auth_completion_func: a credential, logged       flaw_of_another   "an answer to no credential"
//  handle_error: a refusal that was asked for       flaw_of_another   "a refusal of no credential"
//  (SASL, which is not the C client's)              flaw_of           tests/tls/test_sasl.py
//  deserialize_response: the form of the operation  walk_answer       "nothing behind the header"
//  deserialize_String_vector, _ACL_vector: a count  Walk::list        "lengths of 2 GiB within"
//  ia_deserialize_buffer, _string: a length         Walk::data, text  "negative lengths within"
//  (marshalling.h, not the C client's)              walk_answer, answers_reads
//  deserialize_multi: assert(entry), a part each    answers_parts     "a transaction of …"
//  deserialize_multi: a part that says why          answers_parts     "a transaction failed …"
//  sub_string: a created path below the chroot      Creations::take   "creates somewhere else"
//  zookeeper_interest: any frame proves an answer   give_up_at        "events for ever"
//  ping_rw_server: an answer to isro                takes_writes      "a read-only session"
//  zookeeper_close: the last request's answer       1.5 s, its own    "it closes"
//  flush_send_queue: a server that reads            its own limit     "it reads nothing"
//  (a TLS handshake that ends)                      WireSocket        tests/tls
//
// addrvec.c and zk_hashtable.c assert on their own lists and memory alone.
// Source of the formats: zookeeper.jute and ZooDefs.OpCode of ZooKeeper 3.8.
#pragma once

#include "session/session_lease.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Filled on the connection's thread before the C client gets the answer. Answers reach this object
/// and the completions of their calls in the same order.
///
/// Provides a new node's czxid, which is its lock's fencing token, without another request. The
/// answers to create and to transactions have only the path; that to create2, which ZooKeeper 3.4
/// does not support, has the Stat. But each answer's header has the last zxid that the server had
/// applied, and servers apply transactions one by one: FinalRequestProcessor applies a transaction
/// and writes its answer before it takes the next (3.4.13, 3.8, 3.9; CommitProcessor has other
/// threads for reads only; ClickHouse Keeper writes the request's own zxid). So the zxid in the
/// answer to a creation is that of the creation. The C client does not expose it, but
/// WireConversation sees it.
class AnswerNotes {
 public:
  /// Records an answered creation; for a transaction, its first node. `path` is the server's,
  /// including the chroot.
  void note_creation(std::string_view path, std::int64_t zxid);
  /// Returns the zxid that created this node, and forgets it and earlier ones; 0 if it is not
  /// known.
  std::int64_t take_creation(std::string_view path);

 private:
  struct Creation {
    std::string path;
    std::int64_t zxid = 0;
  };
  /// Limits what remains of calls that are never completed, such as those of a closed handle.
  static constexpr std::size_t most_creations = 10000;

  std::mutex mutex_;
  std::deque<Creation> creations_;
};

/// A change that a server reports.
struct WireEvent {
  std::int32_t type = 0;  ///< as the protocol has it
  std::string path{};     ///< with the chroot
  std::int64_t zxid = -1;
};

/// A connection of a session after its connect request and response. Frames are passed without
/// their lengths.
class WireConversation {
 public:
  /// From now on, reports requests and answers to the session's lease, and puts what the C client
  /// does not pass on into `notes`. `timeout` is the session's; `patience` is request_patience;
  /// `greeting_took` is the time to the answer to the connect request.
  void tell(std::shared_ptr<SessionLease> lease, std::shared_ptr<AnswerNotes> notes,
            SessionLease::Duration timeout, SessionLease::Duration patience,
            SessionLease::Duration greeting_took) {
    lease_ = std::move(lease);
    notes_ = std::move(notes);
    timeout_ = timeout;
    patience_ = patience;
    took_ = round_trip_ = greeting_took;
  }
  /// Records a request that is sent.
  void note_request(std::string_view frame);
  /// Records that a part of a frame has arrived, which may take longer than any request may wait:
  /// an answer of megabytes over a slow link.
  void note_part(std::size_t bytes);
  /// The session's timeout; 0: not known.
  SessionLease::Duration timeout() const { return timeout_; }
  /// What is wrong with a received frame, for the user; null if nothing. The request that it
  /// answers then counts as answered.
  const char* flaw_of(std::string_view frame);
  /// The event in the last frame, if it was one.
  std::optional<WireEvent> take_event() { return std::exchange(event_, std::nullopt); }
  /// The greatest zxid in a frame so far.
  std::int64_t last_zxid() const { return last_zxid_; }
  /// The shortest time in which a request, or the connect request, was answered; 0: not known.
  SessionLease::Duration round_trip() const { return round_trip_; }
  /// Whether any request was answered correctly.
  bool has_answered() const { return answered_; }
  /// Whether an answer to any request is still to come.
  bool expects_answers() const {
    return !outstanding_.empty() || !pings_.empty() || credentials_ > 0 || watch_sets_ > 0;
  }
  /// When to give up the connection unless an answer arrives; nullopt: never.
  ///
  /// A request may wait for its patience, counted from the last answer. While an answer is
  /// arriving, each kilobyte of it adds 0.25 s, up to the patience counted from the last kilobyte:
  /// otherwise a server that sends a little now and then would never be given up. The C client
  /// gives up a server that has sent no whole frame for two thirds of the session timeout, but any
  /// frame, such as a ping's answer or an event, prolongs that. A server answers a session's
  /// requests, pings included, in order. So the C client would cut off a server that is merely
  /// slow, or never give one up.
  ///
  /// A transaction that only checks nodes extends a lease (LockChecks). Near the servers, a lease
  /// that was renewed in time lasts for another 0.1 of the session timeout before a program under a
  /// lock is terminated (ProgramDeadlines). The C client's two thirds are too late for the lock,
  /// whether the server is silent or cut off from its leader. So a check waits for
  /// LeaseRenewal::longest_silence, counted from when its answer would have come if it took as long
  /// as the last, or from a later answer to an earlier request: a link whose answers come steadily
  /// is slow, and nothing better is known.
  std::optional<SessionLease::Time> give_up_at() const;

 private:
  struct Request {
    std::int32_t xid = 0;
    std::int32_t operation = 0;
    std::string parts{};                   ///< the operations of a transaction, one byte each
    std::vector<std::string> creations{};  ///< the paths of nodes to create
    SessionLease::Sent sent{};

    bool only_checks() const;
  };

  std::deque<Request> outstanding_;
  SessionLease::Time waiting_since_;  ///< if there are outstanding requests: since the last answer
  bool answered_ = false;
  SessionLease::Time answered_at_;       ///< when a request was last answered
  SessionLease::Duration took_{};        ///< how long the last answer took
  SessionLease::Duration round_trip_{};  ///< see round_trip
  std::size_t part_ = 0;                 ///< bytes of the frame that is arriving
  SessionLease::Time part_at_;           ///< when its last whole kilobyte was complete
  std::optional<WireEvent> event_;
  std::int64_t last_zxid_ = 0;
  int credentials_ = 0;  ///< sent and not answered
  int watch_sets_ = 0;   ///< sent and not answered
  std::deque<SessionLease::Sent> pings_;
  std::deque<SessionLease::Time> checks_;  ///< when the outstanding checks were sent
  std::shared_ptr<SessionLease> lease_;    ///< null: not needed
  std::shared_ptr<AnswerNotes> notes_;     ///< null: not needed
  SessionLease::Duration timeout_{};
  SessionLease::Duration patience_{};  ///< 0: no limit
};

/// What is wrong with the length of a frame; null if nothing.
const char* flaw_of_length(std::int32_t length);
/// What is wrong with a connect response, or its beginning, including its length; null if nothing
/// so far. `fresh`: a new session was requested.
const char* flaw_of_greeting(std::string_view answer, bool fresh);
/// What a server grants.
struct Granted {
  std::int32_t timeout_ms = 0;
  std::int64_t session = 0;  ///< 0: none; the session is over
};
/// Parses a complete, valid connect response.
Granted granted_by(std::string_view answer);
/// The answer to a connect request, without its length, that says that the session is over.
std::string expired_greeting();
/// What a client requests.
struct SessionRequest {
  std::int64_t last_zxid = 0;  ///< the last that it has seen
  std::int32_t timeout_ms = 0;
  bool fresh = true;  ///< a new session
};
/// Parses a connect request, without its length.
SessionRequest session_request(std::string_view greeting);
/// A ping, without its length.
std::string ping_request();
/// The answer to a ping, without its length.
std::string ping_answer();
/// A connect request, without its length, that says that this zxid was the last seen.
std::string with_last_zxid(std::string_view greeting, std::int64_t zxid);
struct AnswerHeader {
  std::int32_t xid = 0;
  std::int64_t zxid = 0;
  std::int32_t code = 0;
  std::string_view body{};       ///< what follows
  std::string* frame = nullptr;  ///< the frame it is in, which may be moved from; null: unknown
};
/// Parses the header of a valid answer, without its length.
AnswerHeader answer_header(std::string_view frame);
/// How long a request may remain unanswered: the session timeout, but not more than a minute unless
/// the user requested that. A server may grant any timeout, even centuries.
std::chrono::milliseconds request_patience(std::int32_t requested_ms, std::int32_t granted_ms);

}  // namespace zksh
