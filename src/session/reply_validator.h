// ReplyValidator: whether what a server sends has the form that ZooKeeper's C client takes for
// granted.
//
// The C client 3.8 does not look: an answer that ends early leaves it with pointers to nowhere, and
// one that nobody asked for ends the process (an assert). Its input is looked at before it is.
// Source of the formats: zookeeper.jute and ZooDefs.OpCode of ZooKeeper 3.8.
#pragma once

#include "session/creations.h"
#include "session/session_lease.h"

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
  /// those who wait for that. `timeout`: the session's.
  void tell(std::shared_ptr<SessionLease> lease, std::shared_ptr<Creations> creations,
            LeaseLogic::Duration timeout) {
    lease_ = std::move(lease);
    creations_ = std::move(creations);
    timeout_ = timeout;
  }
  /// Takes note of a request that is sent.
  void note_request(std::string_view frame);
  /// What is wrong with a frame that came, for the user; null: nothing. The request that it
  /// answers counts as answered.
  const char* flaw_of(std::string_view frame);
  /// When the connection is to be given up unless an answer comes; none: never. A transaction that
  /// only checks nodes is what extends a lease (LockChecks). A lease that was renewed in time lasts
  /// for 0.1 of the session timeout before a program under a lock is told to end (LockDeadlines).
  /// The C client waits for two thirds of the timeout before it asks another server: too late for
  /// the lock, be it that the server is silent or that it is cut off from its leader.
  std::optional<LeaseLogic::Time> give_up_at() const {
    if (checks_.empty()) return std::nullopt;
    return checks_.front() + timeout_ / 16;
  }

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
  std::deque<LeaseLogic::Sent> pings_;
  std::deque<LeaseLogic::Time> checks_;   ///< when those among the outstanding were sent
  std::shared_ptr<SessionLease> lease_;   ///< null: nobody asks for it
  std::shared_ptr<Creations> creations_;  ///< likewise
  LeaseLogic::Duration timeout_{};
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
/// Whether a client's greeting, without its length, asks for a new session.
bool asks_for_new_session(std::string_view greeting);

}  // namespace zksh
