// BatchWriter: sends a stream of writes in pipelined transactions.
#pragma once

#include "client/nodes.h"
#include "client/work_limits.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace zksh {

class Client;

struct SetAclOp {
  std::string path;
  Acl acl;
  std::int32_t version = -1;  ///< of the ACL; -1: any
};

/// A write in the stream.
using Write = std::variant<CreateOp, RemoveOp, SetOp, SetAclOp>;
const std::string& path_of(const Write& write);

/// The result of a write.
struct Written {
  int code = code::ok;
  std::string culprit{};  ///< as Outcome::culprit
  /// It was sent before and its answer was lost, so node_exists, no_node or bad_version may be its
  /// own effect.
  bool sent_before = false;
};

/// The error for a failed write: names the node that the servers name, and says if the outcome is
/// unknown because the connection was lost.
ZkError error_of(const Write& write, const Written& result);

/// Whether the node already is as a write, which was refused with this code, would make it: the
/// effect of an earlier attempt whose answer was lost, or of somebody else who wants the same.
/// Blocks; throws ZkError, Cancelled.
bool already_done(Client& client, const Write& write, int refusal, const std::stop_token& stop);

/// Sends writes in transactions that are limited in count and bytes, several in flight. They are
/// applied in the order in which they were added, each as if sent alone: a transaction that fails
/// is sent again without the operation that failed. If that `fails_all`, the others are reported as
/// runtime_inconsistency, as by the servers. What no transaction can do (ACLs, containers, TTLs) is
/// sent alone, in order.
///
/// After a lost connection, writes without an answer are sent again, at last each in a request of
/// its own, until one is lost twice with nothing else under way: it may be the cause. That is safe
/// for all but sequential nodes, which are reported as lost (connection_loss); whether they exist
/// is not known.
///
/// Used on one thread. Blocks; throws Cancelled on a stop, ZkError if the connection does not come
/// back. Whether writes still in flight (in_flight) are done is then unknown.
class BatchWriter {
 public:
  /// Called on the caller's thread, in the order of the writes.
  using Done = std::function<void(const Write& write, const Written& result)>;

  struct Batching {
    /// Operations per transaction; fewer with a rate limit: at most a tenth of a second's.
    std::size_t count = 1000;
    WorkLimits limits{};
    /// Whether a failure with this code fails the whole transaction; empty: never.
    std::function<bool(int code)> fails_all{};
  };

  /// `client` must outlive it.
  BatchWriter(Client& client, const Batching& batching, Done done, std::stop_token stop);

  void add(Write write);
  /// Sends what is left; returns when everything is answered.
  void finish();
  /// The number of writes that were sent and not answered.
  std::size_t in_flight() const { return in_flight_; }

 private:
  /// Of a transaction, of a create, or of a set of an ACL.
  using PendingAnswer =
      std::variant<Pending<std::vector<OpResult>>, Pending<Created>, Pending<Nothing>>;
  struct Sent {
    std::vector<Write> writes{};
    std::size_t bytes = 0;
    std::size_t in_flight = 0;  ///< writes, with these
    Clock::time_point at{};     ///< when they were sent
    PendingAnswer answer{};
    bool overtook = false;  ///< reached the servers before a write that should have come first
  };
  struct Reply {
    int code = code::ok;
    /// Index of the write with the code; nullopt: not known which it is.
    std::optional<std::size_t> failed{};
    std::string culprit{};
  };
  /// A write in a request of its own.
  struct Single {
    Write write;
    bool sent_before = false;
    PendingAnswer answer{};
    std::optional<Reply> reply{};  ///< to be reported
  };

  /// nullopt: it has not arrived.
  static std::optional<int> code_of(const PendingAnswer& answer, const Monitor::Held& held);
  static Batching paced(Batching batching);
  bool has_room();
  bool last_was_lost() const;
  void send(std::vector<Write> writes, std::size_t bytes);
  void send_collected();
  PendingAnswer start(std::span<const Write> writes);
  void take_answers();
  Reply await(const PendingAnswer& answer);
  void settle(Sent sent);
  bool conclude(std::span<const Write> writes, const Reply& reply, bool sent_before);
  void send_again(std::vector<Write> writes, bool sent_before);
  void send_alone(std::vector<Write> writes, bool sent_before);
  bool send_singles(std::span<Single> singles, bool is_last_try);
  void report_lost(std::vector<Write>& writes, std::size_t count);
  void report(const Write& write, const Written& result);

  Client& client_;
  Batching batching_;
  Done done_;
  std::stop_token stop_;
  Pace pace_;
  FlightWindow window_;  ///< for operations
  std::vector<Write> collected_;
  std::size_t collected_bytes_ = 0;
  std::deque<Sent> sent_;
  std::size_t in_flight_ = 0;  ///< writes
  bool probed_ = false;        ///< asked whether the server supports ZooKeeper 3.5's operations
  std::size_t bytes_in_flight_ = 0;
  Clock::time_point last_answer_ = Clock::now();
};

}  // namespace zksh
