// removewatches: remove this session's watches on a node.
#include "client/persistent_watches.h"
#include "command/command.h"

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

/// Which of the node's watches to remove; of several options, zkCli uses the first of these.
struct Wanted {
  bool children = false;
  bool data = false;
  bool persistent = false;
  std::optional<WatchMode> mode{};
};

Wanted wanted(const Args& a) {
  if (a.children) return {.children = true};
  if (a.data) return {.data = true};
  if (a.persistent || a.recursive)
    return {.persistent = true,
            .mode = a.persistent ? WatchMode::Persistent : WatchMode::Recursive};
  return {.children = true, .data = true, .persistent = true};
}

class Remover {
 public:
  Remover(Context& cx, const std::string& path, bool may_be_local)
      : cx_(cx), path_(path), may_be_local_(may_be_local) {
    if (may_be_local_ && !is_connected(cx_.client.current_state()))
      state_ = SessionState::Connecting;
  }

  void remove_one_shot(WatchKind kind, Event::Type reported_as) {
    int result = ask(kind, state_ == SessionState::Connecting);
    if (result == code::connection_loss && may_be_local_) {
      state_ = SessionState::Connecting;
      result = ask(kind, true);
    }
    if (result == code::no_watcher) return;
    if (result != code::ok) throw ZkError(result, path_);
    tell(reported_as);
  }

  void remove_persistent(std::optional<WatchMode> mode) {
    if (!may_be_local_) cx_.client.await_connection(path_, cx_.stop);
    if (cx_.services.watches.remove(path_, mode, cx_.stop))
      tell(Event::Type::PersistentWatchRemoved);
  }

  bool removed_any() const { return removed_any_; }

 private:
  int ask(WatchKind kind, bool local) {
    if (!local && !may_be_local_) cx_.client.await_connection(path_, cx_.stop);
    return cx_.client.await(cx_.client.start_remove_watches(path_, kind, local), cx_.stop).code;
  }

  void tell(Event::Type type) {
    removed_any_ = true;
    cx_.services.watches.tell({.type = type, .path = path_, .state = state_});
  }

  Context& cx_;
  const std::string& path_;
  bool may_be_local_;
  SessionState state_ = SessionState::Connected;  ///< Connecting: the server could not be asked
  bool removed_any_ = false;
};

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  const auto what = wanted(a);
  Remover remover(cx, path, a.local);
  if (what.children) remover.remove_one_shot(WatchKind::OfChildren, Event::Type::ChildWatchRemoved);
  if (what.data) remover.remove_one_shot(WatchKind::OfData, Event::Type::DataWatchRemoved);
  if (what.persistent) remover.remove_persistent(what.mode);
  if (!remover.removed_any()) throw ZkError(code::no_watcher, path);
  return status::ok;
}

}  // namespace

extern const Command removewatches_command = make_command<Args>(
    {.name = "removewatches",
     .group = "Watches",
     .summary = "Remove this session's watches on a node",
     .keywords = {"event", "unwatch"},
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
