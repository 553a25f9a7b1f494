// Session's requests that the C client cannot make: many reads at once, persistent watches.
#include "session/answer_reader.h"
#include "session/handle.h"
#include "session/newer_requests.h"

#include <functional>
#include <iterator>
#include <new>
#include <type_traits>

namespace zksh {

namespace {

/// A request that the C client cannot make.
template <class T>
struct OwnCall : CallOf<T> {
  std::function<T(const AnswerHeader& answer)> result{};
};

template <class T>
void own_done(const AnswerHeader& answer, const void* data) {
  int rc = answer.code;
  const auto& call = static_cast<const OwnCall<T>&>(*static_cast<const CallOf<T>*>(data));
  // The server is not what it says it is, and closes the connection.
  if (rc == ZUNIMPLEMENTED) {
    call.handle->has_no_version();
    rc = ZCONNECTIONLOSS;
  }
  T value{};
  try {
    if (rc == ZOK) value = call.result(answer);
  } catch (const std::bad_alloc&) {
    rc = ZSYSTEMERROR;
  }
  conclude(data, rc, std::move(value));
}

/// `result` gets a valid answer, or what is behind its header.
template <class T, class Result>
Pending<T> ask_own(Session& session, Session::Handle* on, std::int32_t operation,
                   const std::string& body, Result result) {
  auto call = std::make_unique<OwnCall<T>>();
  if constexpr (std::is_invocable_v<Result, const AnswerHeader&>)
    call->result = std::move(result);
  else
    call->result = [result = std::move(result)](const AnswerHeader& answer) {
      return result(answer.body);
    };
  return start(session.monitor(), on, std::unique_ptr<CallOf<T>>(std::move(call)),
               [&](zhandle_t* /*zh*/, const void* data) {
                 return on->wire.ask(operation, body, own_done<T>, data);
               });
}

/// The reads of the parts, one after the other.
Reads joined(std::vector<Reads> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  using Answers = Answer<std::vector<ReadResult>>;
  const auto count = parts.size();
  auto join = [parts = std::move(parts)](const Monitor::Held& held) -> Answers::Value {
    Outcome<std::vector<ReadResult>> all;
    for (const auto& part : parts)
      if (!(*part.answer)(held)) return std::nullopt;
    for (const auto& part : parts) {
      auto& [code, results, culprit] = *(*part.answer)(held);
      if (code != code::ok) all.code = code;
      std::ranges::move(results, std::back_inserter(all.value));
    }
    return all;
  };
  return {.answer = std::make_shared<Answers>(std::move(join)), .requests = count};
}

}  // namespace

Reads Session::start_reads(const std::vector<ReadOp>& ops) {
  constexpr std::size_t most_bytes = 65536;  // servers refuse requests of more than jute.maxbuffer
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6) || ops.size() < 2) return Client::start_reads(ops);
  std::vector<Reads> parts;
  for (auto first = ops.begin(); first != ops.end();) {
    auto end = first;
    for (std::size_t bytes = 0; end != ops.end() && (end == first || bytes < most_bytes); ++end)
      bytes += multi_read::size_of(*end);
    std::vector<ReadOp> some(first, end);
    first = end;
    const auto body = multi_read::request(on->servers.chroot, some);
    auto answer =
        ask_own<std::vector<ReadResult>>(*this, on.get(), operation::multi_read, body,
                                         [some = std::move(some)](std::string_view bytes) {
                                           return multi_read::results(bytes, some);
                                         });
    parts.push_back({.answer = std::move(answer), .requests = 1});
  }
  return joined(std::move(parts));
}

void Session::Handle::ask_zxid() {
  const bool is_asked = zxid_question && session.monitor_.with_lock([&](const Monitor::Held& held) {
    return !(*zxid_question)(held).has_value();
  });
  if (is_asked) return;
  const auto without_watch = path_request(servers.chroot, "/") + '\0';
  zxid_question = ask_own<Nothing>(session, this, operation::exists, without_watch,
                                   [](std::string_view /*answer*/) { return Nothing(); });
}

Pending<std::vector<std::string>> Session::start_get_ephemerals(const std::string& prefix) {
  using Paths = std::vector<std::string>;
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6)) return Client::start_get_ephemerals(prefix);
  const auto& chroot = on->servers.chroot;
  return ask_own<Paths>(
      *this, on.get(), operation::get_ephemerals, path_request(chroot, prefix),
      [chroot](std::string_view answer) { return ephemerals_in(answer, chroot); });
}

Pending<std::int64_t> Session::start_count_descendants(const std::string& path) {
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6)) return Client::start_count_descendants(path);
  return ask_own<std::int64_t>(*this, on.get(), operation::count_descendants,
                               path_request(on->servers.chroot, path), number_in);
}

Pending<std::vector<Identity>> Session::start_who_am_i() {
  using Identities = std::vector<Identity>;
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 7)) return Client::start_who_am_i();
  return ask_own<Identities>(*this, on.get(), operation::who_am_i, "", identities_in);
}

namespace {

/// An answer without a request.
Pending<Nothing> settled(int code) {
  return std::make_shared<Answer<Nothing>>(
      [code](const Monitor::Held& /*held*/) { return Outcome<Nothing>{.code = code}; });
}

}  // namespace

/// Up to 3.8 a server has one mode for a session and a path: a one-shot watch would replace the
/// persistent one, and the other way round. So a one-shot watch is not sent if the persistent one
/// reports what it would (WireOwner::is_reported): the C client gets these events all the same. A
/// recursive one does not report the list of children; for that the server has modes apart, and
/// needs the one-shot watch after it.
Pending<std::int64_t> Session::start_add_watch(const std::string& path, WatchMode mode,
                                               const Mailbox& mailbox) {
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6)) return Client::start_add_watch(path, mode, mailbox);
  const bool keeps_modes = has_version(on.get(), 3, 9);
  const Wire::Hold hold(on->wire);  // what is noted is what is sent
  auto [first, last] = on->persistent.equal_range(path);
  const bool is_alone = std::all_of(first, last, [&](const auto& watch) {
    return watch.second.mailbox == mailbox || watch.second.mode == mode;
  });
  if (!is_alone && !keeps_modes) return Client::start_add_watch(path, mode, mailbox);
  const auto& chroot = on->servers.chroot;
  auto answer = ask_own<std::int64_t>(*this, on.get(), operation::add_watch,
                                      add_watch_request(chroot, path, mode),
                                      [](const AnswerHeader& header) { return header.zxid; });
  if (monitor_.with_lock([&](const Monitor::Held& held) { return (*answer)(held).has_value(); }))
    return answer;  // it was not sent
  const auto same =
      std::find_if(first, last, [&](const auto& watch) { return watch.second.mailbox == mailbox; });
  if (same == last)
    on->persistent.emplace(path, Handle::PersistentWatch{.mailbox = mailbox, .mode = mode});
  else
    same->second.mode = mode;
  const bool has_list = monitor_.with_lock(
      [&](const Monitor::Held&) { return on->watchers.has(path, WatchKind::OfChildren); });
  if (has_list && mode == WatchMode::Recursive)  // sets it, or sets it again
    ask_own<Nothing>(*this, on.get(), operation::children, watching_request(chroot, path),
                     [](std::string_view /*answer*/) { return Nothing(); });
  return answer;
}

Pending<Nothing> Session::start_end_watch(const std::string& path, const Mailbox& mailbox) {
  const auto on = open_handle();
  if (!on) return settled(code::no_watcher);
  const Wire::Hold hold(on->wire);
  auto [first, last] = on->persistent.equal_range(path);
  const auto found =
      std::find_if(first, last, [&](const auto& watch) { return watch.second.mailbox == mailbox; });
  if (found == last) return settled(code::no_watcher);
  on->persistent.erase(found);
  // The server would remove the one-shot watches too, and has only one for all who watch.
  const bool is_needed = on->persistent.contains(path) || monitor_.with_lock([&](const auto&) {
    return on->watchers.has(path, WatchKind::OfData) ||
           on->watchers.has(path, WatchKind::OfChildren);
  });
  if (is_needed) return settled(code::ok);
  return ask_own<Nothing>(*this, on.get(), operation::remove_watches,
                          remove_watches_request(on->servers.chroot, path),
                          [](std::string_view /*answer*/) { return Nothing(); });
}

std::int64_t Session::last_zxid(const Monitor::Held& /*held*/) {
  const auto open = state_->open_handle();
  return open ? open->wire.last_zxid() : 0;
}

void Session::learn_server(const std::string& path, const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{1};
  await_connection(path, stop);
  const auto on = open_handle();
  if (!on || has_version(on.get(), 0, 0)) return;
  monitor_.wait_until(stop, Clock::now() + patience, [&](const Monitor::Held&) {
    return found_in(known_servers().versions, on->address) || state_->open_handle() != on;
  });
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace zksh
