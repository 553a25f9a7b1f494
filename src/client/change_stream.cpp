// ChangeStream: following the events of a WatchedTree, and the session's life.
#include "client/change_stream.h"

#include "client/patient_connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace zksh {
namespace {

std::int64_t wall_clock() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

ChangeStream::ChangeStream(Client& client, Wish wish)
    : client_(client), wish_(std::move(wish)), tree_(client, mailbox_) {}

ChangeStream::~ChangeStream() {
  listener_.reset();
  for (const auto& path : wish_.paths) tree_.remove(path, std::nullopt);
}

/// Session events come to the mailbox too, in their place among those of the watches.
void ChangeStream::hear(const Monitor::Held& held) {
  const auto now = client_.state(held);
  if (now == std::exchange(state_, now)) return;
  (*mailbox_)(held).push_back({.path = {}, .state = now});
}

std::vector<NodeChange> ChangeStream::begin(const std::stop_token& stop) {
  client_.await_connection(wish_.paths.front(), stop);
  server_ = client_.server();
  state_ = client_.current_state();
  listener_.emplace(client_.monitor(), [this](const Monitor::Held& held, const void* subject) {
    if (!subject) hear(held);
  });
  for (const auto& path : wish_.paths)
    tree_.add(path, wish_.recursive ? WatchMode::Recursive : WatchMode::Persistent);
  const int result = tree_.catch_up(stop);
  if (result != code::ok) throw ZkError(result, wish_.paths.front());
  std::vector<NodeChange> present;
  tell(Mood::Initial, present, stop);
  std::ranges::sort(present, {}, &NodeChange::path);
  return present;
}

std::vector<NodeChange> ChangeStream::next(const std::stop_token& stop) {
  std::vector<NodeChange> changes;
  while (changes.empty()) {
    await_news(stop);
    const auto events = client_.monitor().look(
        [&](const Monitor::Held& held) { return std::exchange((*mailbox_)(held), {}); });
    for (const auto& event : events) follow(event, changes, stop);
    if (lost_) continue;
    tree_.resolve_doubts();
    tree_.catch_up(stop);
    tell(Mood::Live, changes, stop);
  }
  return changes;
}

void ChangeStream::await_news(const std::stop_token& stop) {
  const auto has_news = [&](const Monitor::Held& held) {
    return (!lost_ && tree_.in_doubt()) || !(*mailbox_)(held).empty();
  };
  while (lost_ && !client_.monitor().look(has_news)) {
    const bool gone = client_.monitor().look([&](const Monitor::Held& held) {
      return client_.state(held) == SessionState::Expired || client_.session_id(held) == 0;
    });
    if (!gone) break;
    // Only a request opens a session in an expired one's place.
    await_connection_patiently(client_, wish_.paths.front(), stop);
  }
  if (!client_.monitor().wait(stop, has_news)) throw Cancelled();
}

void ChangeStream::follow(const Event& event, std::vector<NodeChange>& changes,
                          const std::stop_token& stop) {
  if (event.type == Event::Type::Session)
    follow_session(event.state, changes, stop);
  else
    tree_.note(event);
}

void ChangeStream::follow_session(SessionState state, std::vector<NodeChange>& changes,
                                  const std::stop_token& stop) {
  if (is_connected(state)) {
    if (client_.server() != server_)
      throw Error("the session is one with other servers now: " + client_.server());
    if (!std::exchange(lost_, false)) return;
    const auto now = wall_clock();
    changes.push_back({.type = NodeChange::Type::Gap,
                       .time = now,
                       .expired = std::exchange(expired_, false),
                       .since = lost_since_});
    tree_.note({.path = {}, .state = state});
    tree_.resolve_doubts();
    tree_.catch_up(stop);
    tell(Mood::AfterGap, changes, stop);
    return;
  }
  if (state == SessionState::AuthFailed || (state == SessionState::Closed && !expired_))
    throw ZkError(code::invalid_state, wish_.paths.front());
  expired_ = expired_ || state == SessionState::Expired;
  if (std::exchange(lost_, true)) return;
  lost_since_ = wall_clock();
  // An expired session's watches are lost as a connection's are, but it is to be told what changed.
  tree_.note({.path = {}, .state = SessionState::Connecting});
}

void ChangeStream::tell(Mood mood, std::vector<NodeChange>& changes, const std::stop_token& stop) {
  auto events = std::exchange(untold_, {});
  for (auto& event : tree_.take_events()) events.push_back(std::move(event));
  if (events.empty()) return;
  // What is read now is the state after the last deletion of a node; states before it are gone.
  std::unordered_map<std::string, std::size_t> last_deleted;
  Readings readings;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].type == Event::Type::Deleted) {
      last_deleted[events[i].path] = i;
      readings.erase(events[i].path);
    } else {
      readings.try_emplace(events[i].path);
    }
  }
  if (!read(readings, stop)) {
    untold_ = std::move(events);
    return;
  }
  const auto now = wall_clock();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    const auto end = last_deleted.find(event.path);
    const bool lasts = end == last_deleted.end() || end->second < i;
    const auto reading = lasts ? readings.find(event.path) : readings.end();
    auto change = change_of(event, reading != readings.end() && reading->second.found
                                       ? &*reading->second.found
                                       : nullptr);
    if (!change) continue;
    change->time = now;
    change->missed = mood == Mood::AfterGap;
    if (mood == Mood::Initial) change->type = NodeChange::Type::Present;
    changes.push_back(std::move(*change));
  }
}

}  // namespace zksh
