// Client: the blocking members, each of which waits for an asynchronous request.
#include "client/client.h"

#include "base/mapped.h"
#include "client/patient_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

namespace zksh {
namespace {

std::size_t size_of(const Data& data) { return data ? data->size() : 0; }

ReadResult result_of(Outcome<Node>& read) {
  return {.code = read.code, .data = std::move(read.value.data), .stat = read.value.stat};
}
ReadResult result_of(Outcome<Children>& read) {
  return {.code = read.code, .stat = read.value.stat, .names = std::move(read.value.names)};
}
ReadResult result_of(const Outcome<Stat>& read) { return {.code = read.code, .stat = read.value}; }

}  // namespace

/// Whether a read that failed with this code is to be sent again; if so, returns once it can be.
bool Client::await_repeat(int code, const std::string& path, Clock::time_point last_answer,
                          const std::stop_token& stop) {
  if (!is_repeatable_failure(code)) return false;
  const auto asked = server();
  await_reconnection(*this, path, last_answer, stop);
  return server() == asked;
}

Reads Client::read_singly(const std::vector<ReadOp>& ops, const Watch& watch) {
  using Part = std::variant<Pending<Node>, Pending<Children>, Pending<Stat>>;
  auto parts = mapped(ops, [&](const ReadOp& op) -> Part {
    if (op.what == ReadOp::What::Value) return start_get(op.path, Watch::none());
    if (op.what == ReadOp::What::Stat) return start_exists(op.path, Watch::none());
    return start_children(op.path, watch);
  });
  const auto count = parts.size();
  using Answers = Answer<std::vector<ReadResult>>;
  auto gather = [parts = std::move(parts),
                 there = std::size_t{0}](const Monitor::Held& held) mutable -> Answers::Value {
    const auto is_there = [&](const auto& sent) { return (*sent)(held).has_value(); };
    while (there < parts.size() && std::visit(is_there, parts[there])) ++there;
    if (there < parts.size()) return std::nullopt;
    Outcome<std::vector<ReadResult>> all;
    all.value.reserve(parts.size());
    for (const auto& part : parts) {
      all.value.push_back(
          std::visit([&](const auto& sent) { return result_of(*(*sent)(held)); }, part));
      if (is_connection_failure(all.value.back().code)) all.code = all.value.back().code;
    }
    return all;
  };
  return {.answer = std::make_shared<Answers>(std::move(gather)), .requests = count};
}

Created Client::create(const CreateOp& op, const std::stop_token& stop) {
  await_connection(op.path, stop);
  return written(start_create(op), op.path, size_of(op.data), stop);
}

void Client::remove(const RemoveOp& op, const std::stop_token& stop) {
  await_connection(op.path, stop);
  written(start_remove(op), op.path, 0, stop);
}

Stat Client::set(const SetOp& op, const std::stop_token& stop) {
  await_connection(op.path, stop);
  return written(start_set(op), op.path, size_of(op.data), stop);
}

std::optional<Stat> Client::exists(const std::string& path, const Watch& watch,
                                   const std::stop_token& stop) {
  await_connection(path, stop);
  const auto outcome = ask(
      path, [&] { return start_exists(path, watch); }, stop);
  if (outcome.code == code::no_node) return std::nullopt;
  check(outcome, path, false);
  return outcome.value;
}

Node Client::get(const std::string& path, const Watch& watch, const std::stop_token& stop) {
  return read_now(path, stop, [&] { return start_get(path, watch); });
}

Children Client::children(const std::string& path, const Watch& watch,
                          const std::stop_token& stop) {
  return read_now(path, stop, [&] { return start_children(path, watch); });
}

NodeAcl Client::get_acl(const std::string& path, const std::stop_token& stop) {
  return read_now(path, stop, [&] { return start_get_acl(path); });
}

Outcome<Stat> Client::set_acl(const std::string& path, const Acl& acl, std::int32_t version,
                              const std::stop_token& stop) {
  await_connection(path, stop);
  // The C client's setAcl returns no Stat, so a read follows it; a session keeps the order.
  const auto set = start_set_acl(path, acl, version);
  const auto stat = start_exists(path, Watch::none());
  written(set, path, 0, stop);
  return await(stat, stop);
}

void Client::add_auth(const std::string& scheme, const std::string& auth,
                      const std::stop_token& stop) {
  await_connection("", stop);
  const auto pending = start_add_auth(scheme, auth);
  // Unlike a request, a credential survives a lost connection: the C client sends it again on the
  // next one. If it is refused, the answer arrives before the session's end is known.
  constexpr std::chrono::milliseconds longest{60000};  // the server chooses the session timeout
  const auto patience = std::min(std::chrono::milliseconds(negotiated_timeout()), longest);
  const bool settled =
      monitor().wait_until(stop, Clock::now() + patience, [&](const Monitor::Held& held) {
        const auto& outcome = (*pending)(held);
        return !is_connected(state(held)) || (outcome && outcome->code != code::auth_failed);
      });
  if (!settled && stop.stop_requested()) throw Cancelled();
  if (!settled)
    throw Error(fmt::format("the server has not answered within the session timeout ({}); the "
                            "credential may still be accepted",
                            short_time(patience)),
                status::no_connection);
  const int code = monitor().with_lock([&](const Monitor::Held& held) {
    if (state(held) == SessionState::AuthFailed) return code::auth_failed;
    if (state(held) == SessionState::Expired) return code::session_expired;
    const auto& outcome = (*pending)(held);
    return outcome ? outcome->code : code::connection_loss;
  });
  if (code != code::ok) throw ZkError(code, "");
}

Node Client::get_config(const Watch& watch, const std::stop_token& stop) {
  return read_now("/zookeeper/config", stop, [&] { return start_get_config(watch); });
}

Node Client::reconfigure(const Reconfiguration& change, const std::stop_token& stop) {
  await_connection("", stop);
  try {
    auto outcome = await(start_reconfigure(change), stop);
    check(outcome, "", true);
    return std::move(outcome.value);
  } catch (const Cancelled&) {
    throw Cancelled("interrupted; the reconfiguration was sent and may still be applied");
  }
}

Outcome<std::vector<OpResult>> Client::try_multi(const std::vector<Op>& ops,
                                                 const std::stop_token& stop) {
  if (ops.empty()) return {};
  await_connection(path_of(ops.front()), stop);
  return await_write(start_multi(ops), path_of(ops.front()), stop);
}

std::vector<OpResult> Client::multi(const std::vector<Op>& ops, const std::stop_token& stop) {
  auto outcome = try_multi(ops, stop);
  for (std::size_t i = 0; outcome.code != code::ok && i < outcome.value.size(); ++i)
    if (outcome.value[i].code == outcome.code) throw ZkError(outcome.code, path_of(ops[i]), true);
  check(outcome, ops.empty() ? "" : path_of(ops.front()), true);
  return std::move(outcome.value);
}

}  // namespace zksh
