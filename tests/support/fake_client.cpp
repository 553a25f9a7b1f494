// FakeClient: a Client on an in-memory tree, whose requests can be made to fail, for unit tests.
#include "fake_client.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace zksh {

FakeClient::FakeClient(FakeTree& tree, EventSink sink) : tree_(tree), sink_(std::move(sink)) {
  monitor().change([&](const Monitor::Held& held) { begin(held); });
}

FakeClient::~FakeClient() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::Closed); });
}

bool FakeClient::alive() const {
  return state_ == SessionState::Connected || (state_ == SessionState::Connecting && !wanted_);
}

void FakeClient::begin(const Monitor::Held& held) {
  session_ = tree_.begin_session(
      held, [this](const Monitor::Held& now, Event::Type type, const std::string& path) {
        if (state_ == SessionState::Connecting)
          missed_.emplace_back(type, path);
        else
          hear(now, type, path);
      });
  state_ = SessionState::Connected;
  if (sink_) sink_(held, {.path = {}, .state = state_});
}

void FakeClient::end(const Monitor::Held& held, SessionState state, bool buried) {
  if (!alive()) return;
  fail_deliveries(held, state == SessionState::Expired ? code::session_expired : code::closing);
  held_back_.clear();
  data_watches_.clear();
  child_watches_.clear();
  lasting_.clear();
  missed_.clear();
  state_ = state;
  tree_.forget_listener(held, session_);
  if (buried)
    tree_.end_session(held, session_);
  else
    unburied_.push_back(session_);
  if (state == SessionState::Closed) session_ = 0;
  if (sink_) sink_(held, {.path = {}, .state = state});
}

void FakeClient::open(const std::string& /*server*/) {
  monitor().change([&](const Monitor::Held& held) {
    end(held, SessionState::Closed);
    begin(held);
  });
}

void FakeClient::ensure_session() {
  monitor().change([&](const Monitor::Held& held) {
    if (state_ == SessionState::Expired) renew(held);
  });
}

void FakeClient::renew(const Monitor::Held& held) {
  if (has_names_) {
    wanted_ = false;
    return begin(held);
  }
  wanted_ = true;
  state_ = SessionState::Connecting;
  session_ = 0;
}

void FakeClient::lose_names() {
  monitor().with_lock([&](const Monitor::Held&) { has_names_ = false; });
}

void FakeClient::find_names() {
  monitor().change([&](const Monitor::Held& held) {
    has_names_ = true;
    if (wanted_) renew(held);
  });
}

void FakeClient::replace_session(const std::string& server, const std::function<void()>& before_end,
                                 const std::stop_token& /*stop*/) {
  before_end();
  open(server);
}

void FakeClient::close() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::Closed); });
}

void FakeClient::expire() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::Expired); });
}

void FakeClient::bury() {
  monitor().change([&](const Monitor::Held& held) {
    for (const auto session : std::exchange(unburied_, {})) tree_.end_session(held, session);
  });
}

void FakeClient::fail_authentication() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::AuthFailed); });
}

void FakeClient::lose_connection(const Monitor::Held& held) {
  if (state_ != SessionState::Connected) return;
  fail_deliveries(held, code::connection_loss);
  state_ = SessionState::Connecting;
  lasting_.clear();
  if (sink_) sink_(held, {.path = {}, .state = state_, .zxid = last_zxid(held)});
}

void FakeClient::disconnect() {
  monitor().change([&](const Monitor::Held& held) { lose_connection(held); });
}

void FakeClient::reconnect() {
  monitor().change([&](const Monitor::Held& held) {
    if (state_ != SessionState::Connecting || wanted_) return;
    state_ = SessionState::Connected;
    if (sink_) sink_(held, {.path = {}, .state = state_});
    for (const auto& [type, path] : std::exchange(missed_, {})) hear(held, type, path);
  });
}

void FakeClient::suffer(const Monitor::Held& held, Loss loss) {
  if (loss == Loss::OfConnection) lose_connection(held);
  if (loss == Loss::OfSession) end(held, SessionState::Expired);
  if (loss == Loss::OfSessionUnburied) end(held, SessionState::Expired, false);
}

void FakeClient::hold_back() {
  monitor().with_lock([&](const Monitor::Held&) { holds_back_ = true; });
}

bool FakeClient::deliver() {
  return monitor().change([&](const Monitor::Held& held) {
    if (held_back_.empty()) return false;
    const auto next = std::move(held_back_.front());
    held_back_.pop_front();
    next.arrive(held);
    return true;
  });
}

void FakeClient::deliver_all() {
  monitor().with_lock([&](const Monitor::Held&) { holds_back_ = false; });
  while (deliver()) continue;
}

void FakeClient::send(const Monitor::Held& held, Delivery delivery) {
  if (holds_back_)
    held_back_.push_back(std::move(delivery));
  else
    delivery.arrive(held);
}

/// Answers are lost, but not events: the server reports changes after reconnection.
void FakeClient::fail_deliveries(const Monitor::Held& held, int code) {
  for (const auto& delivery : held_back_)
    if (delivery.fail) delivery.fail(held, code);
  std::erase_if(held_back_, [](const Delivery& delivery) { return !!delivery.fail; });
}

void FakeClient::await_connection(const std::string& path, const std::stop_token& stop) {
  if (!monitor().wait(stop,
                      [&](const Monitor::Held&) { return state_ != SessionState::Connecting; }))
    throw Cancelled();
  ensure_session();
  if (current_state() != SessionState::Connected) throw ZkError(code::invalid_state, path);
}

SessionState FakeClient::state(const Monitor::Held& /*held*/) { return state_; }

std::int64_t FakeClient::session_id(const Monitor::Held& /*held*/) { return session_; }

void FakeClient::fail_request(std::size_t number, When when, int code) {
  monitor().with_lock([&](const Monitor::Held&) {
    failures_.push_back({requests_ + number, when, Loss::OfAnswer, code});
  });
}

void FakeClient::lose(std::size_t number, When when, Loss loss) {
  const bool session = loss == Loss::OfSession || loss == Loss::OfSessionUnburied;
  monitor().with_lock([&](const Monitor::Held&) {
    failures_.push_back(
        {requests_ + number, when, loss, session ? code::session_expired : code::connection_loss});
  });
}

void FakeClient::before_request(std::size_t number, std::function<void()> action) {
  monitor().with_lock(
      [&](const Monitor::Held&) { actions_.emplace(requests_ + number, std::move(action)); });
}

std::size_t FakeClient::watches() {
  return monitor().with_lock([&](const Monitor::Held&) {
    std::size_t count = 0;
    for (const auto* watches : {&data_watches_, &child_watches_})
      for (const auto& [path, listeners] : *watches) count += listeners.size();
    return count;
  });
}

std::size_t FakeClient::requests() {
  return monitor().with_lock([&](const Monitor::Held&) { return requests_; });
}

template <class T, class Apply>
Pending<T> FakeClient::request(bool changes, Apply&& apply) {
  auto pending = std::make_shared<Answer<T>>();
  std::function<void()> action;
  const auto number = monitor().with_lock([&](const Monitor::Held&) {
    ++requests_;
    if (const auto found = actions_.find(requests_); found != actions_.end())
      action = std::move(found->second);
    return requests_;
  });
  if (action) action();
  monitor().change([&](const Monitor::Held& held) {
    if (!alive() || state_ == SessionState::Connecting) {
      (*pending)(held) = Outcome<T>{alive() ? code::connection_loss : code::invalid_state, {}};
      return;
    }
    const auto failure = std::ranges::find(failures_, number, &Failure::request);
    if (failure != failures_.end()) {
      if (changes && failure->when == When::AfterItWasApplied) apply(held);
      (*pending)(held) = Outcome<T>{failure->code, {}};
      suffer(held, failure->loss);
      return;
    }
    send(held, {.arrive = [pending, outcome = apply(held)](
                              const Monitor::Held& now) { (*pending)(now) = outcome; },
                .fail =
                    [pending](const Monitor::Held& now, int code) {
                      (*pending)(now) = Outcome<T>{code, {}};
                    }});
  });
  return pending;
}

void FakeClient::leave(Watches& watches, const std::string& path, const Watch& watch) {
  if (!watch.is_set()) return;
  auto& listeners = watches[path];
  if (std::ranges::find(listeners, watch.mailbox()) == listeners.end())
    listeners.push_back(watch.mailbox());
}

FakeClient::Watches& FakeClient::watches_of(WatchKind kind) {
  return kind == WatchKind::OfChildren ? child_watches_ : data_watches_;
}

void FakeClient::hear(const Monitor::Held& held, Event::Type type, const std::string& path) {
  for (const auto& [place, mode] : lasting_) {
    const auto& [root, mailbox] = place;
    const bool is_below = path.starts_with(root == "/" ? root : root + '/');
    const bool is_its = mode == WatchMode::Persistent
                            ? path == root
                            : type != Event::Type::ChildrenChanged && (path == root || is_below);
    if (!is_its) continue;
    const Event event{
        .type = type, .path = path, .persistent = true, .zxid = tree_.last_zxid(held)};
    send(held, {.arrive = [to = mailbox, event](const Monitor::Held& now) {
           (*to)(now).push_back(event);
         }});
  }
  Listeners fired;
  const auto fire = [&](Watches& watches) {
    const auto found = watches.find(path);
    if (found == watches.end()) return;
    for (const auto& listener : found->second)
      if (std::ranges::find(fired, listener) == fired.end()) fired.push_back(listener);
    watches.erase(found);
  };
  if (type != Event::Type::ChildrenChanged) fire(data_watches_);
  if (type == Event::Type::ChildrenChanged || type == Event::Type::Deleted) fire(child_watches_);
  for (const auto& mailbox : fired) {
    const Event event{.type = type, .path = path, .state = state_, .printed = !mailbox};
    send(held, {.arrive = [this, mailbox, event](const Monitor::Held& now) {
           if (mailbox)
             (*mailbox)(now).push_back(event);
           else if (sink_)
             sink_(now, event);
         }});
  }
}

Pending<Created> FakeClient::start_create(const CreateOp& op) {
  return request<Created>(true, [&](const Monitor::Held& held) {
    if (old_ && !fits_multi(op)) return Outcome<Created>{code::unimplemented, {}};
    auto created = tree_.create(held, op, session_);
    if (old_) created.value.stat = {};
    return created;
  });
}

void FakeClient::serve_as_old() {
  monitor().with_lock([&](const Monitor::Held&) { old_ = true; });
}

Pending<Nothing> FakeClient::start_probe_newer() {
  return request<Nothing>(false, [&](const Monitor::Held&) {
    return Outcome<Nothing>{old_ ? code::unimplemented : code::ok, {}};
  });
}

Pending<Nothing> FakeClient::start_remove(const RemoveOp& op) {
  return request<Nothing>(true, [&](const Monitor::Held& held) { return tree_.remove(held, op); });
}

Pending<Stat> FakeClient::start_set(const SetOp& op) {
  return request<Stat>(true, [&](const Monitor::Held& held) { return tree_.set(held, op); });
}

Pending<Stat> FakeClient::start_exists(const std::string& path, const Watch& watch) {
  return request<Stat>(false, [&](const Monitor::Held&) {
    leave(data_watches_, path, watch);
    return tree_.exists(path);
  });
}

Pending<Node> FakeClient::start_get(const std::string& path, const Watch& watch) {
  return request<Node>(false, [&](const Monitor::Held&) {
    auto outcome = tree_.get(path);
    if (outcome.code == code::ok) leave(data_watches_, path, watch);
    return outcome;
  });
}

Pending<Children> FakeClient::start_children(const std::string& path, const Watch& watch) {
  return request<Children>(false, [&](const Monitor::Held&) {
    auto outcome = tree_.children(path);
    if (outcome.code == code::ok) leave(child_watches_, path, watch);
    return outcome;
  });
}

std::int64_t FakeClient::last_zxid(const Monitor::Held& held) { return tree_.last_zxid(held); }

Pending<std::int64_t> FakeClient::start_add_watch(const std::string& path, WatchMode mode,
                                                  const Mailbox& mailbox) {
  if (!persistent_watches_) return Client::start_add_watch(path, mode, mailbox);
  return request<std::int64_t>(false, [&](const Monitor::Held& held) {
    lasting_[{path, mailbox}] = mode;
    return Outcome<std::int64_t>{code::ok, tree_.last_zxid(held)};
  });
}

Pending<Nothing> FakeClient::start_end_watch(const std::string& path, const Mailbox& mailbox) {
  return request<Nothing>(true, [&](const Monitor::Held&) {
    const bool was_there = lasting_.erase({path, mailbox}) > 0;
    return Outcome<Nothing>{was_there ? code::ok : code::no_watcher, {}};
  });
}

Reads FakeClient::start_reads(const std::vector<ReadOp>& ops) {
  using What = ReadOp::What;
  if (!batches_ || ops.size() < 2) return Client::start_reads(ops);
  const auto read = [this](const ReadOp& op) {
    ReadResult result;
    if (op.what != What::Names) {
      auto node = tree_.get(op.path);
      result.code = node.code;
      result.stat = node.value.stat;
      if (op.what == What::Value) result.data = std::move(node.value.data);
    }
    if (op.what != What::Names && op.what != What::Listing) return result;
    auto children = tree_.children(op.path);
    result.code = children.code;
    result.names = std::move(children.value.names);
    return result;
  };
  return {.answer = request<std::vector<ReadResult>>(false,
                                                     [&](const Monitor::Held&) {
                                                       Outcome<std::vector<ReadResult>> all;
                                                       for (const auto& op : ops)
                                                         all.value.push_back(read(op));
                                                       return all;
                                                     }),
          .requests = 1};
}

Pending<NodeAcl> FakeClient::start_get_acl(const std::string& path) {
  return request<NodeAcl>(false, [&](const Monitor::Held&) { return tree_.get_acl(path); });
}

Pending<Nothing> FakeClient::start_set_acl(const std::string& path, const Acl& acl,
                                           std::int32_t version) {
  return request<Nothing>(true,
                          [&](const Monitor::Held&) { return tree_.set_acl(path, acl, version); });
}

Pending<Nothing> FakeClient::start_sync(const std::string& /*path*/) {
  return request<Nothing>(true, [](const Monitor::Held&) { return Outcome<Nothing>{}; });
}

Pending<std::vector<OpResult>> FakeClient::start_multi(const std::vector<Op>& ops) {
  return request<std::vector<OpResult>>(true, [&](const Monitor::Held& held) {
    const bool possible = std::ranges::all_of(ops, [](const Op& op) {
      const auto* created = std::get_if<CreateOp>(&op);
      return !created || fits_multi(*created);
    });
    if (!possible) return Outcome<std::vector<OpResult>>{code::unimplemented, {}};
    auto outcome = tree_.multi(held, ops, session_);
    if (proofs_wanted_ > 0) --proofs_wanted_;
    for (std::size_t i = 0; i < ops.size(); ++i)  // as in the C client's answer
      if (std::holds_alternative<CreateOp>(ops[i])) outcome.value[i].stat = {};
    return outcome;
  });
}

Lease FakeClient::lease() {
  return monitor().with_lock([&](const Monitor::Held&) {
    const std::chrono::milliseconds timeout(negotiated_timeout());
    const auto end = lease_end_.value_or(BootClock::now() + timeout);
    return Lease{.end = proofs_wanted_ > 0 ? BootClock::time_point() : end, .timeout = timeout};
  });
}

void FakeClient::set_lease_end(BootClock::time_point end) {
  monitor().change([&](const Monitor::Held&) { lease_end_ = end; });
}

bool FakeClient::lease_lasts(BootClock::duration reserve) {
  return lease().end >= BootClock::now() + reserve;
}

Pending<Nothing> FakeClient::start_add_auth(const std::string& /*scheme*/,
                                            const std::string& /*auth*/) {
  return request<Nothing>(true, [](const Monitor::Held&) { return Outcome<Nothing>{}; });
}

Pending<Node> FakeClient::start_get_config(const Watch& /*watch*/) {
  return request<Node>(false, [](const Monitor::Held&) {
    return Outcome<Node>{code::unimplemented, {}};
  });
}

Pending<Node> FakeClient::start_reconfigure(const Reconfiguration& /*change*/) {
  return request<Node>(false, [](const Monitor::Held&) {
    return Outcome<Node>{code::unimplemented, {}};
  });
}

Pending<Nothing> FakeClient::start_remove_watches(const std::string& path, WatchKind kind,
                                                  bool /*local*/) {
  return request<Nothing>(true, [&](const Monitor::Held&) {
    const bool removed = std::erase(watches_of(kind)[path], nullptr) != 0;
    return Outcome<Nothing>{removed ? code::ok : code::no_watcher, {}};
  });
}

void FakeClient::forget_watches(const std::string& path, const Mailbox& mailbox) {
  drop_watches(path, mailbox, WatchKind::OfData);
  drop_watches(path, mailbox, WatchKind::OfChildren);
}

void FakeClient::drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) {
  monitor().with_lock([&](const Monitor::Held&) { std::erase(watches_of(kind)[path], mailbox); });
}

}  // namespace zksh
