// Session::Handle: a handle of the C client: its events, servers, TLS and SASL.
#include "session/handle.h"

#include "client/node_path.h"

namespace zksh {
namespace {

/// A server that starts or stops may break off a handshake or two.
constexpr int enough_tls_tries = 3;

/// How long a step of SASL may take: Kerberos itself waits for half a minute for a KDC.
constexpr std::chrono::seconds sasl_patience{8};

Event::Type event_type(int type) {
  if (type == ZOO_CREATED_EVENT) return Event::Type::Created;
  if (type == ZOO_DELETED_EVENT) return Event::Type::Deleted;
  if (type == ZOO_CHANGED_EVENT) return Event::Type::DataChanged;
  if (type == ZOO_CHILD_EVENT) return Event::Type::ChildrenChanged;
  return Event::Type::Session;
}

}  // namespace

std::optional<std::string> path_through(const std::string& chroot, std::string_view node) {
  if (chroot.empty() || !node.starts_with(chroot)) return std::nullopt;
  const auto rest = node.substr(chroot.size());
  if (rest.empty()) return "/";
  return rest.front() == '/' ? std::optional(std::string(rest)) : std::nullopt;
}

SessionState session_state(int state) {
  if (state == ZOO_CONNECTED_STATE) return SessionState::Connected;
  if (state == ZOO_READONLY_STATE) return SessionState::ConnectedReadOnly;
  if (state == ZOO_EXPIRED_SESSION_STATE) return SessionState::Expired;
  if (state == ZOO_AUTH_FAILED_STATE) return SessionState::AuthFailed;
  return SessionState::Connecting;
}

bool has_names(const ConnectString& servers) {
  return !std::ranges::all_of(servers.servers, is_address, &ServerAddress::host);
}

std::optional<SocketAddress> address_of_server(Session::Handle* handle) {
  SocketAddress address{.size = sizeof address.bytes};
  if (!handle) return std::nullopt;
  const Wire::Hold hold(handle->wire);
  if (!hold.get() || !zookeeper_get_connected_host(hold.get(), address.get(), &address.size))
    return std::nullopt;
  return address;
}

void Session::Handle::report(const Monitor::Held& held, const Event& event) {
  // Otherwise the handle is not in use yet, or has been replaced.
  if (session.state_->open_handle().get() == this) session.sink_(held, event);
}

void Session::Handle::note_state(const Monitor::Held& held, SessionState now, zhandle_t* from) {
  if (now == state || is_dead(state)) return;
  if (is_connected(state)) {
    if (now == SessionState::Connecting) watchers.end_all_persistent();
    lost = Clock::now();
    // A server that breaks the protocol is still the same server.
    if (!wire.socket().is_flawed()) session.known_servers().forget(address, connected_to);
    session.state_->opener.ring();  // for next_look_up
  }
  state = now;
  if (is_connected(now)) {
    ever_connected = true;
    seen_more = 0;
    session.known_servers().ask_again(address);
    const auto name = names.find(address);
    connected_to = name == names.end() ? address : name->second;
    session_id = zoo_client_id(from)->client_id;
    negotiated_timeout = zoo_recv_timeout(from);
    lease = of_session<SessionLease>(session_id);
    notes = of_session<AnswerNotes>(session_id);
  }
  if (!is_ending) report(held, {.path = {}, .state = now, .zxid = wire.socket().last_zxid()});
}

std::optional<std::string> Session::Handle::own_path(std::string_view whole) const {
  return servers.chroot.empty() ? std::string(whole) : path_through(servers.chroot, whole);
}

void Session::Handle::event_came(const WireEvent& event) {
  const auto type = event_type(event.type);
  if (type == Event::Type::Session) return;
  const auto path = own_path(event.path);
  if (!path || !path->starts_with('/')) return;
  const auto receivers = session.monitor_.with_lock(
      [&](const Monitor::Held&) { return watchers.receivers(*path, type); });
  for (const auto& mailbox : receivers)
    session.monitor_.change_of(mailbox.get(), [&](const Monitor::Held& held) {
      (*mailbox)(held).push_back(
          {.type = type, .path = *path, .persistent = true, .zxid = event.zxid});
    });
  // Up to 3.8, events have no zxid. What was reported would be found again after a lost connection.
  if (event.zxid <= 0 && !receivers.empty()) ask_zxid();
}

void Session::Handle::send_waiting(const std::string& path) {
  const Wire::Hold hold(wire);
  if (session.monitor_.with_lock([&](const Monitor::Held&) { return watchers.is_in_doubt(path); }))
    return;
  while (true) {
    auto next = waiting.extract(path);
    if (next.empty()) return;
    next.mapped()(hold.get());
  }
}

std::int64_t Session::Handle::czxid_of(const std::string& path) {
  const auto from = session.monitor().with_lock([&](const Monitor::Held&) { return notes; });
  return from ? from->take_creation(path) : 0;
}

/// The C client refuses a credential while it is between two attempts to connect (ZINVALIDSTATE),
/// and reports those that it keeps for the next attempt as lost when this one fails. It sends those
/// that it has again on every connection; doing that twice does no harm.
bool Session::Handle::authenticate() {
  std::vector<Credential> missing;
  std::vector<Pending<Nothing>> all;
  session.monitor_.with_lock([&](const Monitor::Held&) {
    for (const auto& credential : session.settings_.credentials)
      if (std::ranges::count(credentials, credential) == 0) missing.push_back(credential);
  });
  for (const auto& credential : missing) {
    const auto sent = session.add_auth_to(this, credential);
    const bool refused = session.monitor_.with_lock([&](const Monitor::Held& held) {
      const auto& answer = (*sent)(held);
      return answer && answer->code == code::invalid_state;
    });
    if (refused) return false;
    all.push_back(sent);
  }
  session.monitor_.with_lock([&](const Monitor::Held&) { authentication = std::move(all); });
  return true;
}

/// The C client removes as many letters as the chroot has, even from the configuration's path,
/// which may begin with the same letters only: through /zoo, that becomes "keeper/config".
std::string Session::Handle::watched_path(const char* reported) const {
  std::string path = reported ? reported : "";
  if (!path.empty() && path.front() != '/' && servers.chroot + path == config_node)
    path = config_node;
  return path;
}

void Session::Handle::on_event(zhandle_t* zh, int type, int state, const char* path,
                               void* context) {
  auto& handle = *static_cast<Handle*>(context);
  auto& session = handle.session;
  // The connection becomes known after its credentials have been sent, and so before any request.
  if (type == ZOO_SESSION_EVENT && is_connected(session_state(state)) && !handle.authenticate())
    return;
  session.monitor_.change([&](const Monitor::Held& held) {
    if (type == ZOO_SESSION_EVENT) return handle.note_state(held, session_state(state), zh);
    const Event event{.type = event_type(type),
                      .path = handle.watched_path(path),
                      .state = handle.state,
                      .printed = true};
    handle.watches_fired(held, type, event.path);
    if (event.type != Event::Type::Session) handle.report(held, event);
  });
}

void Session::Handle::on_private_watch(zhandle_t* zh, int type, int /*state*/, const char* path,
                                       void* context) {
  if (type == ZOO_SESSION_EVENT) return;  // waiters for watches check the session's state too
  auto& handle = *static_cast<Handle*>(const_cast<void*>(zoo_get_context(zh)));
  auto& monitor = handle.session.monitor_;
  const auto watched = handle.watched_path(path);
  const auto mailbox = monitor.with_lock([&](const Monitor::Held& held) -> Mailbox {
    handle.watches_fired(held, type, watched);
    const auto found = handle.mailboxes.find(context);
    return found == handle.mailboxes.end() ? nullptr : found->second;
  });
  if (!mailbox) return;
  monitor.change_of(mailbox.get(), [&](const Monitor::Held& held) {
    (*mailbox)(held).push_back({.type = event_type(type), .path = watched});
  });
}

void* Session::Handle::context_of(const Mailbox& mailbox) {
  return session.monitor_.with_lock([&](const Monitor::Held&) {
    // There are few at a time; removes those that nobody else uses.
    void* context = nullptr;
    std::erase_if(mailboxes, [&](const auto& entry) {
      if (entry.second == mailbox) context = entry.first;
      return entry.second.use_count() == 1;
    });
    if (context) return context;
    context = reinterpret_cast<void*>(++last_mailbox);  // NOLINT(performance-no-int-to-ptr)
    mailboxes.emplace(context, mailbox);
    return context;
  });
}

bool Session::Handle::takes_writes(const SocketAddress& server) {
  const bool is_known = session.monitor_.with_lock([&](const Monitor::Held&) {
    session.state_->wants_modes = true;
    return session.known_servers().writable.contains(server.server().text());
  });
  return session.call_opener() && is_known;  // else it stays at this server
}

/// Ends a step of SASL that takes too long.
void Session::Handle::limit_sasl() {
  if (Clock::now() >= sasl_until)
    finish_sasl(
        {.failed = true,
         .problem = SaslExchange::no_answer(session.settings_.security.sasl, sasl_patience)});
}

/// A server refuses a session that has seen a later zxid than its own last one: it closes the
/// connection (ZooKeeperServer.processConnectRequest). After a restore, or with empty disks, all
/// servers do, until other clients have written as much.
///
/// So once a session has been without a connection for a while, a new one is asked for, which has
/// seen nothing (ask_for_zxid). If its zxid is smaller than what this session has seen, the history
/// that this session belongs to is gone, and the session with it. A follower that merely lags
/// behind does not show such a zxid: the new session's creation is a transaction that the leader's
/// quorum has accepted, with a later zxid than all before it, and the follower has applied it when
/// it answers the sync that follows. Neither does a deposed leader, which gets no quorum. (With
/// local sessions the sync alone goes to the leader.) A server that wants SASL first shows no zxid;
/// then the session must also have been away for its timeout, after which no lease of it is left.
///
/// The session ends when a server then refuses it once more. Nobody believes that a lost lock is
/// held: its waiters and holders see an expired session, as they do when a server says so.
void Session::Handle::look_for_restored_servers() {
  constexpr std::chrono::seconds interval{2};
  const auto now = Clock::now();
  bool is_restored = false;
  const bool asks = session.monitor_.with_lock([&](const Monitor::Held&) {
    if (!ever_connected || is_connected(state) || is_dead(state) || now < lost + interval)
      return false;
    auto& known = session.known_servers().zxids[session.state_->server];
    const auto seen = wire.socket().last_zxid();
    if (known.learnt > lost &&
        (known.last > 0 ? known.last < seen
                        : now > lost + std::chrono::milliseconds(negotiated_timeout))) {
      seen_more = seen;
      is_restored = true;
    }
    if (is_restored || now < known.asked + interval) return false;
    known.asked = now;
    return session.state_->wants_zxid = true;
  });
  if (is_restored) wire.socket().expire_if_refused();
  if (asks) session.call_opener();  // else it is tried again
}

std::vector<std::string> Session::Handle::names_of(const Monitor::Held& /*held*/,
                                                   const std::string& server) const {
  std::vector<std::string> found;
  const auto [first, last] = names.equal_range(server);
  for (auto at = first; at != last; ++at) found.push_back(at->second);
  return found;
}

std::vector<std::string> Session::Handle::hosts_of(const std::string& server) const {
  std::vector<std::string> hosts;
  for (const auto& name : session.monitor_.with_lock(
           [&](const Monitor::Held& held) { return names_of(held, server); }))
    hosts.push_back(parse_connect_string(name).servers.front().host);
  return hosts;
}

std::unique_ptr<TlsConnection> Session::Handle::secure(const SocketAddress& server,
                                                       std::uint64_t connection) {
  const auto numeric = server.server().text();
  ++sasl_step;
  sasl_until = Clock::time_point::max();
  const bool is_unknown = session.monitor_.with_lock([&](const Monitor::Held& held) {
    address = numeric;
    return session.wants_version_of(held, numeric);
  });
  if (is_unknown) session.state_->opener.ring();
  if (!session.settings_.security.tls.on) return nullptr;
  auto made = std::make_unique<TlsConnection>(*tls(), hosts_of(numeric), numeric);
  const auto start = [this, id = wire.id(), connection] {
    Wire::with(id, [&] { wire.socket().start_tls(connection); });  // else the handle is gone
  };
  if (tls()->is_fresh() || !tls()->refresh(start)) made->start();
  return made;
}

void Session::Handle::tls_ended(const SocketAddress& server, const TlsConnection& connection) {
  session.monitor_.change([&](const Monitor::Held& held) {
    for (const auto& name : names_of(held, server.server().text())) {
      if (connection.failure().empty()) {
        tls_failures.erase(name);
        continue;
      }
      auto& known = tls_failures[name];
      known.reason = connection.failure();
      known.tries += connection.is_lasting() ? enough_tls_tries : 1;
    }
  });
}

bool Session::Handle::tls_failed_everywhere(const Monitor::Held& /*held*/) const {
  return !tls_failures.empty() &&
         std::ranges::all_of(servers.servers, [&](const ServerAddress& server) {
           const auto failure = tls_failures.find(server.text());
           return failure != tls_failures.end() && failure->second.tries >= enough_tls_tries;
         });
}

void Session::Handle::continue_sasl(const SocketAddress& server, std::uint64_t connection,
                                    const std::string* token, std::int32_t error) {
  const auto& settings = session.settings_.security.sasl;
  sasl_begins = token == nullptr;
  if (sasl_begins) {
    const auto hosts = hosts_of(server.server().text());
    sasl = std::make_shared<SaslExchange>(
        settings, hosts.empty() ? servers.servers.front().host : hosts.front());
    sasl_connection = connection;
    if (settings.mechanism == "GSSAPI")
      session.monitor_.with_lock(
          [&](const Monitor::Held&) { sasl_problem = "Kerberos has not answered yet"; });
  }
  if (error != 0) return finish_sasl({.failed = true});
  sasl_until = Clock::now() + sasl_patience;
  SaslExchange::advance(sasl, token ? std::optional(*token) : std::nullopt,
                        [this, number = ++sasl_step, id = wire.id()](const auto& step) {
                          Wire::with(id, [&] {  // else the handle is gone
                            if (number == sasl_step) finish_sasl(step);
                          });
                        });
}

/// Without a ticket for a server, a new session cannot begin. One that has begun tries again: a KDC
/// may be away for a moment, or the user may get a new ticket. With the wire's Hold.
void Session::Handle::finish_sasl(const SaslExchange::Step& step) {
  sasl_until = Clock::time_point::max();
  ++sasl_step;
  const bool retries = session.monitor_.with_lock([&](const Monitor::Held&) {
    if (step.is_over) kerberos_user = step.user;
    sasl_problem = step.problem;
    return sasl_begins && ever_connected;
  });
  if (step.token) wire.socket().send_sasl(sasl_connection, *step.token);
  if (step.is_over) {
    wire.socket().end_sasl(sasl_connection);
    wire.look_again();
  }
  if (!step.failed) return;
  if (retries) return wire.socket().drop_sasl(sasl_connection);
  session.monitor_.change(
      [&](const Monitor::Held& held) { note_state(held, SessionState::AuthFailed, nullptr); });
  wire.stop();
}

void Session::Handle::accepted(const Credential& credential) {
  session.monitor_.with_lock([&](const Monitor::Held&) {
    if (std::ranges::count(credentials, credential) == 0) credentials.push_back(credential);
  });
}

std::size_t WatcherTable::key_of(const std::string& path, WatchKind kind) {
  return std::hash<std::string>()(path) * 2 + (kind == WatchKind::OfChildren ? 1 : 0);
}

WatcherTable::Watchers::iterator WatcherTable::find(std::size_t key, Who who) {
  const auto [first, last] = watchers_.equal_range(key);
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.who == who; });
  return found == last ? watchers_.end() : found;
}

void WatcherTable::drop_if_idle(Watchers::iterator place) {
  if (place->second.asked <= 0 && !place->second.watches) watchers_.erase(place);
}

void WatcherTable::asked(const std::string& path, WatchKind kind, Who who) {
  const auto key = key_of(path, kind);
  auto place = find(key, who);
  if (place == watchers_.end()) place = watchers_.emplace(key, Watcher{.who = who});
  ++place->second.asked;
}

void WatcherTable::answered(const std::string& path, WatchKind kind, Who who, bool left) {
  const auto place = find(key_of(path, kind), who);
  if (place == watchers_.end()) return;
  --place->second.asked;
  place->second.watches = place->second.watches || left;
  if (left && who == named_) places_.insert({.path = path, .kind = kind});
  drop_if_idle(place);
}

void WatcherTable::fired(const std::string& path, WatchKind kind) {
  places_.erase({.path = path, .kind = kind});
  auto [place, last] = watchers_.equal_range(key_of(path, kind));
  while (place != last) {
    const auto one = place++;
    one->second.watches = false;
    drop_if_idle(one);
  }
}

void WatcherTable::forgotten(const std::string& path, WatchKind kind, Who who) {
  const auto place = find(key_of(path, kind), who);
  if (place == watchers_.end()) return;
  place->second.watches = false;
  drop_if_idle(place);
  if (who == named_) places_.erase({.path = path, .kind = kind});
}

OpenWatches WatcherTable::open(Who without) const {
  const auto others = std::ranges::count_if(watchers_, [&](const auto& entry) {
    const auto& watcher = entry.second;
    return watcher.watches && watcher.who != named_ && watcher.who != without;
  });
  return {.printed = {places_.begin(), places_.end()}, .others = static_cast<std::size_t>(others)};
}

WatcherTable::PersistentWatches::iterator WatcherTable::find(const std::string& path,
                                                             const Mailbox& mailbox) {
  const auto [first, last] = persistent_.equal_range(path);
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.mailbox == mailbox; });
  return found == last ? persistent_.end() : found;
}

void WatcherTable::asked(const std::string& path, WatchMode mode, const Mailbox& mailbox) {
  auto place = find(path, mailbox);
  if (place == persistent_.end()) place = persistent_.emplace(path, Persistent{.mailbox = mailbox});
  place->second.asked = mode;
  ++place->second.unanswered;
}

void WatcherTable::answered(const std::string& path, WatchMode mode, const Mailbox& mailbox,
                            bool is_granted) {
  const auto place = find(path, mailbox);
  // Else it has ended meanwhile, with the connection or because nobody wants it any more.
  if (place == persistent_.end() || place->second.unanswered == 0) return;
  auto& watch = place->second;
  if (is_granted) watch.granted = mode;
  if (--watch.unanswered == 0) watch.asked.reset();
  if (!watch.granted && !watch.asked) persistent_.erase(place);
}

bool WatcherTable::end_persistent(const std::string& path, const Mailbox& mailbox) {
  const auto place = find(path, mailbox);
  if (place == persistent_.end()) return false;
  persistent_.erase(place);
  return true;
}

bool WatcherTable::is_in_doubt(const std::string& path) const {
  const auto [first, last] = persistent_.equal_range(path);
  return std::any_of(first, last, [](const auto& entry) { return entry.second.asked.has_value(); });
}

bool WatcherTable::reports(std::string_view path, WatchKind kind, bool or_may) const {
  const auto [first, last] = persistent_.equal_range(path);
  const auto tells = [&](const std::optional<WatchMode>& mode) {
    return mode && (kind == WatchKind::OfData || *mode == WatchMode::Persistent);
  };
  return std::any_of(first, last, [&](const auto& entry) {
    return tells(entry.second.granted) || (or_may && tells(entry.second.asked));
  });
}

bool WatcherTable::agree(const std::string& path, WatchMode mode, const Mailbox& mailbox) const {
  const auto [first, last] = persistent_.equal_range(path);
  return std::all_of(first, last, [&](const auto& entry) {
    const auto& watch = entry.second;
    return watch.mailbox == mailbox || (watch.asked ? watch.asked : watch.granted) == mode;
  });
}

std::vector<Mailbox> WatcherTable::receivers(const std::string& path, Event::Type type) const {
  std::vector<Mailbox> all;
  if (persistent_.empty()) return all;
  for (std::string_view at = path;; at = parent_path(at)) {
    const auto tells = [&](const std::optional<WatchMode>& mode) {
      return mode == WatchMode::Recursive ? type != Event::Type::ChildrenChanged
                                          : mode && at.size() == path.size();
    };
    const auto [first, last] = persistent_.equal_range(at);
    for (auto entry = first; entry != last; ++entry) {
      const auto& [mailbox, granted, asked, unanswered] = entry->second;
      if ((tells(granted) || tells(asked)) && std::ranges::count(all, mailbox) == 0)
        all.push_back(mailbox);
    }
    if (at == "/") return all;
  }
}

bool WatcherTable::only(const std::string& path, WatchKind kind, Who who) const {
  const auto [first, last] = watchers_.equal_range(key_of(path, kind));
  return first != last &&
         std::all_of(first, last, [&](const auto& entry) { return entry.second.who == who; });
}

}  // namespace zksh
