// BatchWriter: a stream of writes, in transactions that are sent without waiting for one another.
#pragma once

#include "client/client.h"
#include "client/work_limits.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace zksh {

struct SetAclOp {
  std::string path;
  Acl acl;
  std::int32_t version = -1;  ///< of the ACL; -1: any
};

/// A write of a stream.
using Write = std::variant<CreateOp, RemoveOp, SetOp, SetAclOp>;
const std::string& path_of(const Write& write);
/// The bytes of the value that it writes.
std::size_t data_size(const Write& write);

/// What became of a write.
struct Written {
  int code = code::ok;
  std::string culprit{};  ///< as Outcome's
  /// It was sent before, the connection was lost, and nobody knows what became of that: node_exists
  /// and no_node may be its own doing, and so may bad_version.
  bool sent_before = false;
};

/// What the user is told of a write that failed: it names the node that the servers name, and a
/// write that was lost as one whose outcome is unknown.
ZkError error_of(const Write& write, const Written& result);

/// Sends writes in transactions bounded by count and by bytes, several in flight. They are applied
/// in the order in which they were added, each as if it had been sent alone: a transaction that
/// fails is sent again without what made it fail. What no transaction can carry (an ACL, a
/// container, a TTL) is sent alone, in its place.
///
/// After a lost connection the writes without an answer are sent again, up to three times each,
/// which is safe for those that say what is to be; not for sequential nodes: those are told as lost
/// (connection_loss), and whether they exist is not known.
///
/// Used on one thread. Blocks; throws Cancelled on a stop, ZkError when the connection is gone for
/// good: what is still in flight then may be done or not (in_flight).
class BatchWriter {
 public:
  /// Called on the caller's thread, in order.
  using Done = std::function<void(const Write& write, const Written& result)>;

  struct Batching {
    /// Operations in a transaction; fewer below a rate: those of a tenth of a second.
    std::size_t count = 1000;
    WorkLimits limits{};
  };

  /// `client` outlives it.
  BatchWriter(Client& client, Batching batching, Done done, std::stop_token stop);

  void add(Write write);
  /// Sends what is left; returns when everything is answered.
  void finish();
  /// The writes that were sent and have no answer.
  std::size_t in_flight() const { return in_flight_; }

 private:
  struct Sent {
    std::vector<Write> writes{};
    std::size_t bytes = 0;
    Pending<std::vector<OpResult>> transaction{};  ///< or one of these, of a single write
    Pending<Created> created{};
    Pending<Nothing> done{};
    bool sent_before = false;  ///< of a single write
    bool overtook = false;     ///< the servers saw it before one that was to go first
  };
  struct Reply {
    int code = code::ok;
    std::size_t failed = 0;   ///< the write that has the code
    bool all_failed = false;  ///< nobody knows which of them it is about
    std::string culprit{};
  };

  bool has_room() const;
  bool last_was_lost() const;
  void send(std::vector<Write> writes, std::size_t bytes);
  void send_collected();
  Sent start(std::vector<Write> writes);
  void take_answers();
  Reply await(Sent& sent);
  void settle(Sent sent);
  bool conclude(const std::vector<Write>& writes, const Reply& reply, bool sent_before);
  void send_again(std::vector<Write> writes, bool sent_before);
  void send_alone(std::vector<Write> writes, bool sent_before);
  Reply insist(Sent& sent);
  void tell_lost(std::vector<Write>& writes);
  Sent start_first(std::vector<Write>& writes, std::size_t count);
  static void put_back(std::vector<Write>& writes, std::vector<Write> first);
  void report(const Write& write, const Written& result);

  Client& client_;
  Batching batching_;
  Done done_;
  std::stop_token stop_;
  Pace pace_;
  std::vector<Write> collected_;
  std::size_t collected_bytes_ = 0;
  std::deque<Sent> sent_;
  std::size_t in_flight_ = 0;  ///< writes
  bool probed_ = false;        ///< the server, for what came with ZooKeeper 3.5
  std::size_t bytes_in_flight_ = 0;
  Clock::time_point last_answer_ = Clock::now();
};

}  // namespace zksh
