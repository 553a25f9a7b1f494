// lock_client: the lock recipe over libzookeeper_mt, as fast as its threads allow: whatever follows
// an answer or an event is sent by the client's own thread that brings it, and nobody else is
// woken.
#include "lock_task.h"

#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

namespace zksh_bench {
namespace {

/// One contender, with its own handle. Its rounds go on in the handle's completion thread.
class Contender {
 public:
  Contender(const std::string& server, const Task& task) : task_(task) {
    zh_ = zookeeper_init(server.c_str(), on_event, session_timeout_ms, nullptr, this, 0);
    if (!zh_) throw std::runtime_error("no handle for " + server);
    zoo_set_servers_resolution_delay(zh_, -1);  // else it resolves on every turn of its loop
  }
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender() { zookeeper_close(zh_); }

  void await_connected() { await(connected_); }
  void make_parent() {
    const int rc = zoo_create(zh_, task_.path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT,
                              nullptr, 0);
    if (rc != ZOK && rc != ZNODEEXISTS) throw std::runtime_error(task_.path + ": " + zerror(rc));
  }
  void begin() { next_round(); }
  /// Blocks until the last round is over. Throws what went wrong.
  std::vector<Round> await_rounds() {
    await(ended_);
    if (failure_ != ZOK) throw std::runtime_error(zerror(failure_));
    return rounds_;
  }

 private:
  static Contender& of(const void* context) {
    return *const_cast<Contender*>(static_cast<const Contender*>(context));
  }

  void await(const bool& what) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return what; });
  }
  void note(bool& what) {
    const std::lock_guard lock(mutex_);
    what = true;
    changed_.notify_all();
  }
  void end(int rc) {
    failure_ = rc;
    note(ended_);
  }
  /// False: it ends here.
  bool goes_on(int rc) {
    if (rc != ZOK) end(rc);
    return rc == ZOK;
  }

  void next_round() {
    if (rounds_.size() == static_cast<std::size_t>(task_.rounds)) return end(ZOK);
    rounds_.push_back({.asked = now()});
    const auto path = task_.path + "/" + own_prefix();
    if (goes_on(zoo_acreate(zh_, path.c_str(), "floor", 5, &ZOO_OPEN_ACL_UNSAFE,
                            ZOO_EPHEMERAL_SEQUENTIAL, on_created, this)))
      list();
  }
  void list() { goes_on(zoo_aget_children(zh_, task_.path.c_str(), 0, on_listed, this)); }
  void look(const String_vector& names) {
    const std::vector<std::string> all(names.data, names.data + names.count);
    const auto* const ahead = nearest_before(own_, all);
    if (!ahead) return hold();
    const auto path = task_.path + "/" + *ahead;
    goes_on(zoo_awget(zh_, path.c_str(), on_event, this, on_watched, this));
  }
  void hold() {
    auto& round = rounds_.back();
    round.acquired = round.releasing = now();
    goes_on(zoo_adelete(zh_, own_.c_str(), -1, on_deleted, this));
  }

  static void on_event(zhandle_t* /*zh*/, int type, int state, const char* /*path*/,
                       void* context) {
    auto& self = of(context);
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) self.note(self.connected_);
    if (type == ZOO_DELETED_EVENT) self.list();
  }
  static void on_created(int rc, const char* path, const void* context) {
    if (of(context).goes_on(rc)) of(context).own_ = path;
  }
  static void on_listed(int rc, const String_vector* names, const void* context) {
    if (of(context).goes_on(rc)) of(context).look(*names);
  }
  static void on_watched(int rc, const char* /*data*/, int /*size*/, const Stat* /*stat*/,
                         const void* context) {
    if (rc == ZNONODE) return of(context).list();
    of(context).goes_on(rc);
  }
  static void on_deleted(int rc, const void* context) {
    auto& self = of(context);
    if (!self.goes_on(rc)) return;
    self.rounds_.back().released = now();
    self.next_round();
  }

  const Task& task_;
  zhandle_t* zh_ = nullptr;
  std::string own_;
  std::vector<Round> rounds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  bool ended_ = false;
  int failure_ = ZOK;
};

}  // namespace

std::vector<std::vector<Round>> contend_by_client(const std::string& server, const Task& task) {
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));
  std::deque<Contender> contenders;
  for (int i = 0; i < task.contenders; ++i) contenders.emplace_back(server, task);
  for (auto& contender : contenders) contender.await_connected();
  contenders.front().make_parent();
  for (auto& contender : contenders) contender.begin();
  std::vector<std::vector<Round>> rounds;
  rounds.reserve(contenders.size());
  for (auto& contender : contenders) rounds.push_back(contender.await_rounds());
  return rounds;
}

}  // namespace zksh_bench
