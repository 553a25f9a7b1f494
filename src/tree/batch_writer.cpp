// BatchWriter: sends a stream of writes in pipelined transactions.
#include "tree/batch_writer.h"

#include "base/mapped.h"
#include "client/client.h"
#include "client/patient_connection.h"
#include "tree/tree_record.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

// Half of the server's default request limit (jute.maxbuffer, 1 MiB).
constexpr std::size_t batch_bytes = 512U << 10U;
// Near the server, which applies one while the next ones are on their way. More would only take
// memory, and time after Ctrl-C: closing the session waits for what was sent.
constexpr std::size_t transactions_in_flight = 4;
constexpr std::size_t most_bytes_in_flight = 4U << 20U;
// What servers have been seen to do.
constexpr std::size_t writes_a_second = 400'000;
// The bytes of each operation in a transaction, besides path, value and ACL.
constexpr std::size_t bytes_of_header = 32;

std::size_t size_of(const Acl& acl) {
  std::size_t bytes = 4;
  for (const auto& entry : acl) bytes += 12 + entry.scheme.size() + entry.id.size();
  return bytes;
}

/// The size of the value that it writes.
std::size_t data_size(const Write& write) {
  return std::visit(
      [](const auto& op) -> std::size_t {
        if constexpr (requires { op.data; }) return op.data ? op.data->size() : 0;
        return 0;
      },
      write);
}

std::size_t size_of(const Write& write) {
  auto bytes = bytes_of_header + path_of(write).size() + data_size(write);
  if (const auto* op = std::get_if<CreateOp>(&write)) bytes += size_of(op->acl);
  if (const auto* op = std::get_if<SetAclOp>(&write)) bytes += size_of(op->acl);
  return bytes;
}

/// The operation in a transaction for a write that need not go alone.
Op as_op(const Write& write) {
  if (const auto* op = std::get_if<CreateOp>(&write)) return *op;
  if (const auto* op = std::get_if<RemoveOp>(&write)) return *op;
  return std::get<SetOp>(write);
}

bool can_be_sent_again(const Write& write) {
  const auto* op = std::get_if<CreateOp>(&write);
  return !op || !op->sequential;
}

}  // namespace

const std::string& path_of(const Write& write) {
  return std::visit([](const auto& op) -> const std::string& { return op.path; }, write);
}

ZkError error_of(const Write& write, const Written& result) {
  return {result.code, result.culprit.empty() ? path_of(write) : result.culprit, true,
          data_size(write)};
}

bool already_done(Client& client, const Write& write, int refusal, const std::stop_token& stop) {
  const auto& path = path_of(write);
  if (std::holds_alternative<RemoveOp>(write)) return refusal == code::no_node;
  if (refusal != code::node_exists && refusal != code::bad_version) return false;
  try {
    if (const auto* set = std::get_if<SetOp>(&write))
      return client.get(path, Watch::none(), stop).data == set->data;
    const auto acl = client.get_acl(path, stop).acl;
    if (const auto* set = std::get_if<SetAclOp>(&write)) return acl == set->acl;
    const auto& op = std::get<CreateOp>(write);
    const auto now = client.get(path, Watch::none(), stop);
    const NodeLife life{.kind = op.ttl > 0                         ? NodeKind::Ttl
                                : op.mode == CreateMode::Container ? NodeKind::Container
                                                                   : NodeKind::Persistent,
                        .ttl = op.ttl};
    return acl == op.acl && now.data == op.data && agree(life_of(now.stat), life);
  } catch (const ZkError& error) {
    if (error.code() == code::no_node || error.code() == code::no_auth) return false;
    throw;
  }
}

std::optional<int> BatchWriter::code_of(const PendingAnswer& answer, const Monitor::Held& held) {
  return std::visit(
      [&](const auto& pending) {
        const auto& outcome = (*pending)(held);
        return outcome ? std::optional(outcome->code) : std::nullopt;
      },
      answer);
}

/// With a count that keeps to the rate: a thousand writes at once and then a long pause would not
/// be a steady rate.
BatchWriter::Batching BatchWriter::paced(Batching batching) {
  constexpr std::size_t tenth = 10;
  if (batching.limits.rate > 0)
    batching.count = std::min(batching.count, batching.limits.rate / tenth);
  batching.count = std::max<std::size_t>(batching.count, 1);
  return batching;
}

BatchWriter::BatchWriter(Client& client, const Batching& batching, Done done, std::stop_token stop)
    : client_(client),
      batching_(paced(batching)),
      done_(std::move(done)),
      stop_(std::move(stop)),
      pace_(client, batching.limits.rate),
      window_(client,
              {.least = transactions_in_flight * batching_.count, .rate = writes_a_second}) {}

void BatchWriter::add(Write write) {
  const auto bytes = size_of(write);
  const auto* const creation = std::get_if<CreateOp>(&write);
  if (std::holds_alternative<SetAclOp>(write) || (creation && !fits_multi(*creation))) {
    send_collected();
    std::vector<Write> alone;
    alone.push_back(std::move(write));
    send(std::move(alone), bytes);
    return;
  }
  if (!collected_.empty() && collected_bytes_ + bytes > batch_bytes) send_collected();
  collected_.push_back(std::move(write));
  collected_bytes_ += bytes;
  if (collected_.size() >= batching_.count) send_collected();
}

void BatchWriter::finish() {
  send_collected();
  while (!sent_.empty()) take_answers();
}

void BatchWriter::send_collected() {
  if (collected_.empty()) return;
  send(std::exchange(collected_, {}), std::exchange(collected_bytes_, 0));
}

bool BatchWriter::has_room() {
  if (sent_.empty()) return true;
  const auto most = batching_.limits.window;
  return (most == 0 || sent_.size() < most) && in_flight_ < window_.now() &&
         bytes_in_flight_ < most_bytes_in_flight;
}

/// Whether the last request is known to be lost with its connection: servers would then get the
/// next one, on a new connection, before those to be sent again.
bool BatchWriter::last_was_lost() const {
  if (sent_.empty()) return false;
  return client_.monitor().with_lock([&](const Monitor::Held& held) {
    const auto code = code_of(sent_.back().answer, held);
    return code && is_connection_failure(*code);
  });
}

void BatchWriter::send(std::vector<Write> writes, std::size_t bytes) {
  if (stop_.stop_requested()) throw Cancelled();
  while (!has_room() || last_was_lost()) take_answers();
  pace_.take(writes.size(), stop_);
  // Requests in flight detect a lost connection themselves.
  if (sent_.empty()) client_.await_connection(path_of(writes.front()), stop_);
  // Asks whether the server supports containers before sending one, and what is below it.
  const auto* const op = std::get_if<CreateOp>(&writes.front());
  if (op && !fits_multi(*op) && !std::exchange(probed_, true))
    client_.await(client_.start_probe_newer(), stop_);
  in_flight_ += writes.size();
  bytes_in_flight_ += bytes;
  auto answer = start(writes);
  sent_.push_back({.writes = std::move(writes),
                   .bytes = bytes,
                   .in_flight = in_flight_,
                   .at = Clock::now(),
                   .answer = std::move(answer)});
}

BatchWriter::PendingAnswer BatchWriter::start(std::span<const Write> writes) {
  const auto* const create = std::get_if<CreateOp>(&writes.front());
  if (create && writes.size() == 1) return client_.start_create(*create);
  if (const auto* const acl = std::get_if<SetAclOp>(&writes.front()))
    return client_.start_set_acl(acl->path, acl->acl, acl->version);
  return client_.start_multi(mapped(writes, as_op));
}

BatchWriter::Reply BatchWriter::await(const PendingAnswer& answer) {
  const auto* const transaction = std::get_if<Pending<std::vector<OpResult>>>(&answer);
  if (!transaction)
    return std::visit(
        [&](const auto& pending) -> Reply {
          auto outcome = client_.await(pending, stop_);
          return {.code = outcome.code, .culprit = std::move(outcome.culprit)};
        },
        answer);
  auto outcome = client_.await(*transaction, stop_);
  const auto failed = std::ranges::find_if(
      outcome.value, [&](const OpResult& one) { return one.code == outcome.code; });
  Reply reply{.code = outcome.code, .culprit = std::move(outcome.culprit)};
  if (reply.culprit.empty() && failed != outcome.value.end())
    reply.failed = static_cast<std::size_t>(failed - outcome.value.begin());
  return reply;
}

void BatchWriter::take_answers() {
  // Waiting for one in the middle saves wake-ups; those before it are then answered too.
  const auto count = (sent_.size() + 1) / 2;
  const auto answered = [&](const Monitor::Held& held) {
    return code_of(sent_[count - 1].answer, held).has_value();
  };
  if (!client_.monitor().wait(stop_, answered)) throw Cancelled();
  for (std::size_t i = 0; i < count; ++i) {
    auto first = std::move(sent_.front());
    sent_.pop_front();
    bytes_in_flight_ -= first.bytes;
    window_.learn(first.in_flight, Clock::now() - first.at);
    settle(std::move(first));
  }
}

void BatchWriter::report(const Write& write, const Written& result) {
  --in_flight_;
  done_(write, result);
}

void BatchWriter::settle(Sent sent) {
  const auto reply = await(sent.answer);
  const bool lost = is_connection_failure(reply.code);
  // A write that overtook another may have failed only because of that.
  const bool misjudged = sent.overtook && reply.code != code::ok;
  if (!lost && !misjudged && conclude(sent.writes, reply, false)) return;
  if (lost) await_reconnection(client_, path_of(sent.writes.front()), last_answer_, stop_);
  for (auto& later : sent_) later.overtook = true;
  send_again(std::move(sent.writes), lost);
}

/// Reports the writes; returns false, and reports none, if a transaction failed because of one of
/// them.
bool BatchWriter::conclude(std::span<const Write> writes, const Reply& reply, bool sent_before) {
  // A connection that breaks at every request must not renew the time to wait for it.
  if (!is_connection_failure(reply.code)) last_answer_ = Clock::now();
  const bool is_shared = reply.code != code::ok && reply.failed && writes.size() > 1;
  if (is_shared && !(batching_.fails_all && batching_.fails_all(reply.code))) return false;
  for (std::size_t i = 0; i < writes.size(); ++i)
    report(writes[i],
           {.code = is_shared && i != *reply.failed ? code::runtime_inconsistency : reply.code,
            .culprit = reply.culprit,
            .sent_before = sent_before});
  return true;
}

/// Sends the writes of a failed or lost transaction again: those before the one that fails, that
/// one, then the rest; after several failures, each alone.
void BatchWriter::send_again(std::vector<Write> writes, bool sent_before) {
  constexpr int most_failures = 3;
  if (sent_before) report_lost(writes, writes.size());
  std::deque<std::size_t> parts{writes.size()};  // sizes of the next transactions
  for (int failures = 0; !writes.empty() && failures < most_failures;) {
    if (parts.empty()) parts.push_back(writes.size());
    const auto count = parts.front();
    parts.pop_front();
    if (count == 0) continue;
    const auto part = std::span(writes).first(count);
    pace_.take(count, stop_);
    const auto reply = await(start(part));
    if (is_connection_failure(reply.code)) {
      report_lost(writes, count);
      return send_alone(std::move(writes), true);
    }
    if (conclude(part, reply, sent_before)) {
      writes.erase(writes.begin(), writes.begin() + static_cast<std::ptrdiff_t>(count));
      continue;
    }
    ++failures;
    parts.assign({*reply.failed, 1});
  }
  send_alone(std::move(writes), sent_before);
}

/// Sends each in a request of its own, without waiting in between. Servers close the connection
/// when a request is too large, and those behind it are lost with it. So after a loss, the first
/// goes with nothing else under way, then two, then four.
void BatchWriter::send_alone(std::vector<Write> writes, bool sent_before) {
  constexpr int tries = 2;
  std::vector<Single> singles;
  singles.reserve(writes.size());
  for (auto& write : writes)
    singles.push_back({.write = std::move(write), .sent_before = sent_before});
  std::span<Single> left = singles;
  int losses = 0;  // of the first, with nothing else under way
  bool is_lost = sent_before;
  for (std::size_t together = left.size(); !left.empty(); together = is_lost ? 1 : 2 * together) {
    if (is_lost) await_reconnection(client_, path_of(left.front().write), last_answer_, stop_);
    const auto some = left.first(std::min(together, left.size()));
    is_lost = send_singles(some, some.size() == 1 && losses + 1 == tries);
    losses = is_lost && some.size() == 1 ? losses + 1 : 0;
    for (; !left.empty() && left.front().reply; left = left.subspan(1), losses = 0) {
      auto& done = left.front();
      conclude({&done.write, 1}, *done.reply, done.sent_before);
    }
  }
}

/// Sends those that have no reply, and sets the replies that are to be reported. Returns whether
/// one was lost.
bool BatchWriter::send_singles(std::span<Single> singles, bool is_last_try) {
  for (auto& one : singles) {
    if (one.reply) continue;
    pace_.take(1, stop_);
    one.answer = start({&one.write, 1});
  }
  bool is_lost = false;
  for (auto& one : singles) {
    if (one.reply) continue;
    const auto reply = await(one.answer);
    const bool no_answer = is_connection_failure(reply.code);
    is_lost = is_lost || no_answer;
    one.sent_before = one.sent_before || no_answer;
    const bool is_final = is_last_try || (no_answer && !can_be_sent_again(one.write));
    // A write that overtook a lost one may have failed only because of that.
    if (!is_lost || reply.code == code::ok || is_final) one.reply = reply;
  }
  return is_lost;
}

/// Removes those of the first writes that must not be sent twice, and reports their outcome as
/// unknown.
void BatchWriter::report_lost(std::vector<Write>& writes, std::size_t count) {
  const auto end = writes.begin() + static_cast<std::ptrdiff_t>(count);
  const auto lost = std::stable_partition(writes.begin(), end, can_be_sent_again);
  for (auto write = lost; write != end; ++write)
    report(*write, {.code = code::connection_loss, .sent_before = true});
  writes.erase(lost, end);
}

}  // namespace zksh
