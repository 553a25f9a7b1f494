// ReplyValidator: whether what a server sends has the form that ZooKeeper's C client takes for
// granted.
//
// The C client 3.8 does not look: an answer that ends early leaves it with pointers to nowhere, and
// one that nobody asked for ends the process (an assert). Its input is looked at before it is. What
// it takes for granted (zookeeper.c of 3.8, and master of 2026):
//
//  - recv_buffer: the length of a frame, which is allocated at once;
//  - the primer's fields, the session's number and timeout among them (check_events);
//  - a header in each frame, and of an event type, state and path (zookeeper_process);
//  - an outstanding request for each number but -1, -2, -4 and -8 (assert(cptr));
//  - the form that belongs to the request, for its result is not checked (deserialize_response);
//  - in a transaction's answer as many parts as it had, each of its kind (assert(entry));
//  - that a refused credential is one that was sent: it fails all that is unanswered.
// Source of the formats: zookeeper.jute and ZooDefs.OpCode of ZooKeeper 3.8.
#pragma once

#include "session/creations.h"
#include "session/session_lease.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// One connection of a session, after its greeting. Frames are without their lengths.
class WireConversation {
 public:
  /// From now on requests and answers are told to the session's lease, and what creations made to
  /// those who wait for that. `timeout`: the session's; `patience`: request_patience.
  void tell(std::shared_ptr<SessionLease> lease, std::shared_ptr<Creations> creations,
            LeaseLogic::Duration timeout, LeaseLogic::Duration patience) {
    lease_ = std::move(lease);
    creations_ = std::move(creations);
    timeout_ = timeout;
    patience_ = patience;
  }
  /// Takes note of a request that is sent.
  void note_request(std::string_view frame);
  /// What is wrong with a frame that came, for the user; null: nothing. The request that it
  /// answers counts as answered.
  const char* flaw_of(std::string_view frame);
  /// Whether a request was answered as it should be.
  bool has_answered() const { return answered_; }
  /// When the connection is to be given up unless an answer comes; none: never.
  ///
  /// No request waits for longer than its patience while no answer comes. The C client gives up a
  /// server of which no whole frame has come for two thirds of the session timeout, but any frame,
  /// a ping's answer or an event, makes it wait on. A server answers what one session asks, pings
  /// too, in turn: one that is merely slow is cut off by the C client, or not at all.
  ///
  /// A transaction that only checks nodes is what extends a lease (LockChecks). A lease that was
  /// renewed in time lasts for 0.1 of the session timeout before a program under a lock is told to
  /// end (LockDeadlines). The C client's two thirds are too late for the lock, be it that the
  /// server is silent or that it is cut off from its leader.
  std::optional<LeaseLogic::Time> give_up_at() const;

 private:
  struct Request {
    std::int32_t xid = 0;
    std::int32_t operation = 0;
    std::string parts{};  ///< the operations of a transaction, a byte each
    LeaseLogic::Sent sent{};

    bool only_checks() const;
  };

  LeaseLogic::Sent note_sent(std::int32_t operation) const;
  void note_answer(const LeaseLogic::Sent& sent, bool done) const;

  std::deque<Request> outstanding_;
  LeaseLogic::Time waiting_since_;  ///< while there are such: when the last answer came
  bool answered_ = false;
  int credentials_ = 0;  ///< that were sent and not answered
  std::deque<LeaseLogic::Sent> pings_;
  std::deque<LeaseLogic::Time> checks_;   ///< when those among the outstanding were sent
  std::shared_ptr<SessionLease> lease_;   ///< null: nobody asks for it
  std::shared_ptr<Creations> creations_;  ///< likewise
  LeaseLogic::Duration timeout_{};
  LeaseLogic::Duration patience_{};  ///< 0: without an end
};

/// What is wrong with the length of a frame; null: nothing.
const char* flaw_of_length(std::int32_t length);
/// What is wrong with the beginning, or the whole, of the answer to a greeting; null: nothing yet.
/// With its length in front. `fresh`: a new session was asked for.
const char* flaw_of_greeting(std::string_view answer, bool fresh);
/// What a server grants.
struct Granted {
  std::int64_t session = 0;  ///< 0: none, the session is over
  std::int32_t timeout_ms = 0;
};
/// Reads it out of a whole answer to a greeting, in which there is no flaw.
Granted granted_by(std::string_view answer);
/// What a client asks for.
struct SessionRequest {
  bool fresh = true;  ///< a new session
  std::int32_t timeout_ms = 0;
};
/// Reads it out of a client's greeting, without its length.
SessionRequest session_request(std::string_view greeting);
/// How long a request may go without an answer: the session timeout. A server may
/// grant any, for centuries too: more than a minute counts only when it was asked for.
std::chrono::milliseconds request_patience(std::int32_t wanted_ms, std::int32_t granted_ms);

}  // namespace zksh
