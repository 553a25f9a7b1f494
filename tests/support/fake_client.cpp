// FakeClient: a Client on an in-memory tree, whose calls can be made to fail, for unit tests.
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

void FakeClient::end(const Monitor::Held& held, SessionState state) {
  if (session_ == 0) return;
  data_watches_.clear();
  child_watches_.clear();
  missed_.clear();
  state_ = state;
  tree_.end_session(held, std::exchange(session_, 0));
  if (sink_) sink_(held, {.path = {}, .state = state});
}

void FakeClient::open(const std::string& /*server*/) {
  monitor().change([&](const Monitor::Held& held) {
    end(held, SessionState::Closed);
    begin(held);
  });
}

void FakeClient::close() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::Closed); });
}

void FakeClient::expire() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::Expired); });
}

void FakeClient::fail_authentication() {
  monitor().change([&](const Monitor::Held& held) { end(held, SessionState::AuthFailed); });
}

void FakeClient::disconnect() {
  monitor().change([&](const Monitor::Held& held) {
    state_ = SessionState::Connecting;
    if (sink_) sink_(held, {.path = {}, .state = state_});
  });
}

void FakeClient::reconnect() {
  monitor().change([&](const Monitor::Held& held) {
    state_ = SessionState::Connected;
    if (sink_) sink_(held, {.path = {}, .state = state_});
    for (const auto& [type, path] : std::exchange(missed_, {})) hear(held, type, path);
  });
}

void FakeClient::await_connection(const std::string& path, const std::stop_token& stop) {
  const auto waits = [&](const Monitor::Held&) { return state_ == SessionState::Connecting; };
  if (!monitor().wait(stop, [&](const Monitor::Held& held) { return !waits(held); }))
    throw Cancelled();
  const auto now = current_state();
  if (now == SessionState::Expired) throw ZkError(code::session_expired, path);
  if (now != SessionState::Connected) throw ZkError(code::invalid_state, path);
}

SessionState FakeClient::state(const Monitor::Held& /*held*/) { return state_; }

std::int64_t FakeClient::session_id() {
  return monitor().look([&](const Monitor::Held&) { return session_; });
}

void FakeClient::fail_request(std::size_t number, When when, int code) {
  monitor().look([&](const Monitor::Held&) {
    failures_.push_back({requests_ + number, when, code});
  });
}

void FakeClient::before_request(std::size_t number, std::function<void()> action) {
  monitor().look(
      [&](const Monitor::Held&) { actions_.emplace(requests_ + number, std::move(action)); });
}

template <class T, class Apply>
Pending<T> FakeClient::request(Apply&& apply) {
  auto pending = std::make_shared<Answer<T>>();
  std::function<void()> action;
  const auto number = monitor().look([&](const Monitor::Held&) {
    ++requests_;
    if (const auto found = actions_.find(requests_); found != actions_.end())
      action = std::move(found->second);
    return requests_;
  });
  if (action) action();
  monitor().change([&](const Monitor::Held& held) {
    const auto failure = std::ranges::find(failures_, number, &Failure::request);
    const bool fails = failure != failures_.end();
    Outcome<T> outcome;
    if (session_ == 0)
      outcome.code = code::invalid_state;
    else if (state_ == SessionState::Connecting)
      outcome.code = code::connection_loss;
    else if (!fails || failure->when == When::AfterItWasApplied)
      outcome = apply(held);
    if (fails) outcome = Outcome<T>{failure->code, {}};
    (*pending)(held) = std::move(outcome);
  });
  return pending;
}

void FakeClient::leave(std::map<std::string, Listeners>& watches, const std::string& path,
                       const Watch& watch) {
  if (!watch.is_set()) return;
  auto& listeners = watches[path];
  if (std::ranges::find(listeners, watch.mailbox()) == listeners.end())
    listeners.push_back(watch.mailbox());
}

void FakeClient::hear(const Monitor::Held& held, Event::Type type, const std::string& path) {
  Listeners fired;
  const auto fire = [&](std::map<std::string, Listeners>& watches) {
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
    if (mailbox)
      (*mailbox)(held).push_back(event);
    else if (sink_)
      sink_(held, event);
  }
}

Pending<Created> FakeClient::start_create(const CreateOp& op) {
  return request<Created>(
      [&](const Monitor::Held& held) { return tree_.create(held, op, session_); });
}

Pending<Nothing> FakeClient::start_remove(const RemoveOp& op) {
  return request<Nothing>([&](const Monitor::Held& held) { return tree_.remove(held, op); });
}

Pending<Stat> FakeClient::start_set(const SetOp& op) {
  return request<Stat>([&](const Monitor::Held& held) { return tree_.set(held, op); });
}

Pending<Stat> FakeClient::start_exists(const std::string& path, const Watch& watch) {
  return request<Stat>([&](const Monitor::Held&) {
    leave(data_watches_, path, watch);
    return tree_.exists(path);
  });
}

Pending<Node> FakeClient::start_get(const std::string& path, const Watch& watch) {
  return request<Node>([&](const Monitor::Held&) {
    auto outcome = tree_.get(path);
    if (outcome.code == code::ok) leave(data_watches_, path, watch);
    return outcome;
  });
}

Pending<Children> FakeClient::start_children(const std::string& path, const Watch& watch) {
  return request<Children>([&](const Monitor::Held&) {
    auto outcome = tree_.children(path);
    if (outcome.code == code::ok) leave(child_watches_, path, watch);
    return outcome;
  });
}

Pending<NodeAcl> FakeClient::start_get_acl(const std::string& path) {
  return request<NodeAcl>([&](const Monitor::Held&) { return tree_.get_acl(path); });
}

Pending<Nothing> FakeClient::start_set_acl(const std::string& path, const Acl& acl,
                                           std::int32_t version) {
  return request<Nothing>([&](const Monitor::Held&) { return tree_.set_acl(path, acl, version); });
}

Pending<Nothing> FakeClient::start_sync(const std::string& /*path*/) {
  return request<Nothing>([](const Monitor::Held&) { return Outcome<Nothing>{}; });
}

Pending<std::vector<OpResult>> FakeClient::start_multi(const std::vector<Op>& ops) {
  return request<std::vector<OpResult>>([&](const Monitor::Held& held) {
    const bool possible = std::ranges::all_of(ops, [](const Op& op) {
      const auto* created = std::get_if<CreateOp>(&op);
      return !created || fits_multi(*created);
    });
    if (!possible) return Outcome<std::vector<OpResult>>{code::unimplemented, {}};
    auto outcome = tree_.multi(held, ops, session_);
    for (std::size_t i = 0; i < ops.size(); ++i)  // as in the C client's answer
      if (std::holds_alternative<CreateOp>(ops[i])) outcome.value[i].stat = {};
    return outcome;
  });
}

Pending<Nothing> FakeClient::start_add_auth(const std::string& /*scheme*/,
                                            const std::string& /*auth*/) {
  return request<Nothing>([](const Monitor::Held&) { return Outcome<Nothing>{}; });
}

Pending<Node> FakeClient::start_get_config(const Watch& /*watch*/) {
  return request<Node>([](const Monitor::Held&) { return Outcome<Node>{code::unimplemented, {}}; });
}

Pending<Node> FakeClient::start_reconfigure(const Reconfiguration& /*change*/) {
  return request<Node>([](const Monitor::Held&) { return Outcome<Node>{code::unimplemented, {}}; });
}

Pending<Nothing> FakeClient::start_remove_watches(const std::string& path, WatchKind kind,
                                                  bool /*local*/) {
  return request<Nothing>([&](const Monitor::Held&) {
    auto& watches = kind == WatchKind::OfChildren ? child_watches_ : data_watches_;
    const bool removed = std::erase(watches[path], nullptr) != 0;
    return Outcome<Nothing>{removed ? code::ok : code::no_watcher, {}};
  });
}

void FakeClient::forget_watches(const std::string& path, const Mailbox& mailbox) {
  monitor().look([&](const Monitor::Held&) {
    std::erase(data_watches_[path], mailbox);
    std::erase(child_watches_[path], mailbox);
  });
}

}  // namespace zksh
