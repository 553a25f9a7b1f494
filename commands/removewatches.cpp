// removewatches: remove this session's watches on a node.
#include "client/client.h"
#include "client/persistent_watches.h"
#include "command/command.h"
#include "command/line_history.h"
#include "config/settings.h"

namespace zksh::command_removewatches {
namespace {

struct Args {
  bool children = false;
  bool data = false;
  bool any = false;
  bool persistent = false;
  bool recursive = false;
  bool local = false;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The node.");
  o.flag("-c,--children", a.children, "Only the watch on its children (ls -w).");
  o.flag("-d,--data", a.data, "Only the watch on its data or existence (get -w, stat -w).");
  o.flag("-a,--all", a.any, "All watches; the default.");
  o.flag("-p,--persistent", a.persistent, "Only the watch of addWatch -m PERSISTENT.");
  o.flag("-r,--recursive", a.recursive, "Only the watch of addWatch -m PERSISTENT_RECURSIVE.");
  o.flag("-l,--local", a.local, "Remove watches locally if there is no connection.");
}

/// Removes the one-shot watch of one kind; returns the answer's code. `local`: without a
/// connection, only in this process; `state` is then Connecting.
int remove_one_shot(Context& cx, const std::string& path, WatchKind kind, bool local,
                    SessionState& state) {
  if (!local) cx.client.await_connection(path, cx.stop);
  const auto ask = [&] {
    const bool only_here = state == SessionState::Connecting;
    return cx.client.await(cx.client.start_remove_watches(path, kind, only_here), cx.stop).code;
  };
  const int result = ask();
  if (result != code::connection_loss || !local) return result;
  state = SessionState::Connecting;
  return ask();
}

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  // zkCli first checks whether its session has any watches; a session for one command has none.
  if (cx.services.settings.drop_in && cx.history.next() == 0) throw ZkError(code::no_watcher, path);
  auto state = SessionState::Connected;
  if (a.local && !is_connected(cx.client.current_state())) state = SessionState::Connecting;
  bool removed = false;
  const auto report = [&](Event::Type type) {
    removed = true;
    cx.services.watches.tell({.type = type, .path = path, .state = state});
  };
  const auto remove = [&](WatchKind kind, Event::Type type) {
    const int result = remove_one_shot(cx, path, kind, a.local, state);
    if (result == code::ok) return report(type);
    if (result != code::no_watcher) throw ZkError(result, path);
  };
  // Of several options, zkCli heeds the first of these.
  const bool persistent = !a.children && !a.data;
  const bool all = persistent && !a.persistent && !a.recursive;
  if (a.children || all) remove(WatchKind::OfChildren, Event::Type::ChildWatchRemoved);
  if ((a.data && !a.children) || all) remove(WatchKind::OfData, Event::Type::DataWatchRemoved);
  if (persistent) {
    if (!a.local) cx.client.await_connection(path, cx.stop);
    std::optional<WatchMode> mode;
    if (!all) mode = a.persistent ? WatchMode::Persistent : WatchMode::Recursive;
    if (cx.services.watches.remove(path, mode, cx.stop))
      report(Event::Type::PersistentWatchRemoved);
  }
  if (!removed) throw ZkError(code::no_watcher, path);
  return status::ok;
}

}  // namespace

extern const Command removewatches_command = make_command<Args>(
    {.name = "removewatches",
     .group = "Watches",
     .summary = "Remove this session's watches on a node",
     .keywords = {"event", "unwatch", "unsubscribe"},
     .details = "Each removed watch is reported as an event: ChildWatchRemoved, DataWatchRemoved "
                "or PersistentWatchRemoved. The status is 1 if there is none. Watches of other "
                "sessions, and those that zksh itself needs, stay.",
     .examples = {{"addWatch /app", "Watch everything below /app."},
                  {"removewatches /app", "Remove that watch."},
                  {"ls -w /app", "Watch the list of children."},
                  {"removewatches /app -c", "Remove only that one."}},
     .zkcli_syntax = "path [-c|-d|-a] [-l]"},
    declare, run);
}  // namespace zksh::command_removewatches
