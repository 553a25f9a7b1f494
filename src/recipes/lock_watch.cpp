// LockWatch: setting watches, waiting for their events.
#include "recipes/lock_watch.h"

#include <utility>

namespace zksh {
void LockWatch::arm(const std::string& path, WatchKind kind) {
  if (path != path_ || kind != kind_) drop();
  path_ = path;
  kind_ = kind;
  session_ = requests_.client().session_id();
  // What an event before this would tell is in the answer to what is sent now.
  requests_.strand().monitor().look([&](const Monitor::Held& held) { (*mailbox_)(held).clear(); });
}

Watch LockWatch::on_children(const std::string& path) {
  arm(path, WatchKind::OfChildren);
  return Watch::into(mailbox_);
}

Flow<Outcome<Node>> LockWatch::get(std::string path) {
  arm(path, WatchKind::OfData);
  auto& client = requests_.client();
  auto sent = requests_.send([&] { return "getData with a watch " + path; },
                             [&] { return client.start_get(path, Watch::into(mailbox_)); });
  auto outcome = co_await requests_.answer(std::move(sent));
  if (outcome.code == code::no_auth) {
    auto existing =
        requests_.send([&] { return "exists with a watch " + path; },
                       [&] { return client.start_exists(path, Watch::into(mailbox_)); });
    const auto existence = co_await requests_.answer(std::move(existing));
    outcome.code = existence.code;
    // Unlike getData, it leaves a watch on a node that is not there.
    if (existence.code == code::no_node) drop();
  }
  if (outcome.code != code::ok) path_.clear();
  co_return outcome;
}

Flow<bool> LockWatch::event() {
  const bool woken = co_await requests_.strand().until(
      [&](const Monitor::Held& held) {
        return !(*mailbox_)(held).empty() ||
               requests_.client().state(held) != SessionState::Connected ||
               requests_.client().session_id(held) != session_;
      },
      requests_.deadline(), mailbox_.get());
  const auto events = requests_.take_events(mailbox_);
  if (!events.empty()) path_.clear();
  co_return woken;
}

void LockWatch::drop() {
  if (!path_.empty()) requests_.client().drop_watches(std::exchange(path_, {}), mailbox_, kind_);
}

}  // namespace zksh
