// ReplyValidator: checks that servers send what ZooKeeper's C client takes for granted.
//
// The C client 3.8 does not check: a truncated answer leaves it with invalid pointers, and an
// unexpected one aborts the process. So its input is checked first. It takes for granted
// (zookeeper.c of 3.8, and master of 2026):
//
//  - recv_buffer: the length of a frame, which is allocated at once;
//  - the fields of the connect response, among them the session's id and timeout (check_events);
//  - a header in each frame, and an event's type, state and path (zookeeper_process);
//  - an outstanding request for each xid except -1, -2, -4 and -8 (assert(cptr));
//  - the form that belongs to the request, whose parsing is not checked (deserialize_response);
//  - in a transaction's answer one part per operation, each of its kind (assert(entry));
//  - that a refused credential was sent: a refusal fails everything unanswered.
// Source of the formats: zookeeper.jute and ZooDefs.OpCode of ZooKeeper 3.8.
#pragma once

#include "session/answer_notes.h"
#include "session/session_lease.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// A connection of a session after its connect request and response. Frames are passed without
/// their lengths.
class WireConversation {
 public:
  /// From now on, reports requests and answers to the session's lease, and puts what the C client
  /// does not pass on into `notes`. `timeout` is the session's; `patience` is request_patience.
  void tell(std::shared_ptr<SessionLease> lease, std::shared_ptr<AnswerNotes> notes,
            LeaseLogic::Duration timeout, LeaseLogic::Duration patience) {
    lease_ = std::move(lease);
    notes_ = std::move(notes);
    timeout_ = timeout;
    patience_ = patience;
  }
  /// Records a request that is sent.
  void note_request(std::string_view frame);
  /// What is wrong with a received frame, for the user; null if nothing. The request that it
  /// answers then counts as answered. The frame's memory must be writable: the content of a large
  /// answer is moved out of it (LargeAnswer).
  const char* flaw_of(std::string_view frame);
  /// Whether any request was answered correctly.
  bool has_answered() const { return answered_; }
  /// When to give up the connection unless an answer arrives; nullopt: never.
  ///
  /// No request waits longer than its patience while no answer arrives. The C client gives up a
  /// server that has sent no whole frame for two thirds of the session timeout, but any frame, such
  /// as a ping's answer or an event, prolongs that. A server answers a session's requests, pings
  /// included, in order. So the C client would cut off a server that is merely slow, or never give
  /// one up.
  ///
  /// A transaction that only checks nodes extends a lease (LockChecks). A lease that was renewed in
  /// time lasts for another 0.1 of the session timeout before a program under a lock is terminated
  /// (LockDeadlines). The C client's two thirds are too late for the lock, whether the server is
  /// silent or cut off from its leader.
  std::optional<LeaseLogic::Time> give_up_at() const;

 private:
  struct Request {
    std::int32_t xid = 0;
    std::int32_t operation = 0;
    std::string parts{};  ///< the operations of a transaction, one byte each
    LeaseLogic::Sent sent{};

    bool only_checks() const;
  };

  const char* move_content(std::string_view frame, std::int32_t operation);
  void leave_stub(std::string_view frame, std::string_view head, std::string stat,
                  LargeAnswer content);
  LeaseLogic::Sent note_sent(std::int32_t operation) const;
  void note_answer(const LeaseLogic::Sent& sent, bool done) const;

  std::deque<Request> outstanding_;
  LeaseLogic::Time waiting_since_;  ///< if there are outstanding requests: since the last answer
  bool answered_ = false;
  int credentials_ = 0;  ///< sent and not answered
  std::deque<LeaseLogic::Sent> pings_;
  std::deque<LeaseLogic::Time> checks_;  ///< when the outstanding checks were sent
  std::shared_ptr<SessionLease> lease_;  ///< null: not needed
  std::shared_ptr<AnswerNotes> notes_;   ///< null: not needed
  LeaseLogic::Duration timeout_{};
  LeaseLogic::Duration patience_{};  ///< 0: no limit
};

/// What is wrong with the length of a frame; null if nothing.
const char* flaw_of_length(std::int32_t length);
/// What is wrong with a connect response, or its beginning, including its length; null if nothing
/// so far. `fresh`: a new session was requested.
const char* flaw_of_greeting(std::string_view answer, bool fresh);
/// What a server grants.
struct Granted {
  std::int64_t session = 0;  ///< 0: none; the session is over
  std::int32_t timeout_ms = 0;
};
/// Parses a complete, valid connect response.
Granted granted_by(std::string_view answer);
/// What a client requests.
struct SessionRequest {
  bool fresh = true;  ///< a new session
  std::int32_t timeout_ms = 0;
};
/// Parses a connect request, without its length.
SessionRequest session_request(std::string_view greeting);
/// How long a request may remain unanswered: the session timeout, but not more than a minute unless
/// the user requested that. A server may grant any timeout, even centuries.
std::chrono::milliseconds request_patience(std::int32_t requested_ms, std::int32_t granted_ms);

}  // namespace zksh
