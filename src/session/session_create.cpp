// Session: creations, and what is learnt of a server before it is sent what older ones do not know.
#include "base/afterwards.h"
#include "session/known_servers.h"
#include "session/session_calls.h"

#include <string>
#include <sys/socket.h>
#include <utility>

namespace zksh {
namespace {

/// The server that a handle is connected to, as bytes; empty when it is not connected.
std::string connected_server(zhandle_t* zh) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!zh || !zookeeper_get_connected_host(zh, generic, &size)) return {};
  return {reinterpret_cast<const char*>(&address), size};
}

/// The read of /zookeeper/config.
struct LearningCall : CallOf<Nothing> {
  std::string server;
  std::function<void(bool newer)> go;
  std::function<void(const Monitor::Held&, int rc)> fail;

  void settle_error(const Monitor::Held& held, int rc) override {
    if (fail) std::exchange(fail, {})(held, rc);
    CallOf<Nothing>::settle_error(held, rc);
  }
};

void config_read(int rc, const char* /*bytes*/, int /*size*/, const ::Stat* /*stat*/,
                 const void* data) {
  auto& call = const_cast<LearningCall&>(
      static_cast<const LearningCall&>(*static_cast<const CallOf<Nothing>*>(data)));
  auto& session = call.handle->session;
  const bool answered = rc == ZOK || rc == ZNONODE || rc == ZNOAUTH;
  const auto go = std::exchange(call.go, {});
  const auto fail = std::exchange(call.fail, {});
  session.monitor().change([&](const Monitor::Held& held) {
    if (answered)
      session.known_servers().learn(held, call.server, rc != ZNONODE);
    else if (fail)
      fail(held, rc);
  });
  // Before this call is settled: who closes the handle waits until none is left.
  if (answered && go) go(rc != ZNONODE);
  answer<Nothing>(data, rc, {});
}

}  // namespace

std::optional<bool> Session::server_is_newer(Handle* on) {
  zhandle_t* const zh = monitor_.look([&](const Monitor::Held&) { return on ? on->zh : nullptr; });
  const auto server = connected_server(zh);
  return monitor_.look(
      [&](const Monitor::Held& held) { return known_servers().is_newer(held, server); });
}

void learn_of_server(Session& session, Session::Handle* on, std::function<void(bool newer)> go,
                     std::function<void(const Monitor::Held&, int rc)> fail) {
  auto call = std::make_unique<LearningCall>();
  auto& learning = *call;
  learning.go = std::move(go);
  learning.fail = std::move(fail);
  start(session.monitor(), on, std::unique_ptr<CallOf<Nothing>>(std::move(call)),
        [&](zhandle_t* zh, const void* data) {
          learning.server = connected_server(zh);
          const int rc = zoo_awgetconfig(zh, nullptr, nullptr, config_read, data);
          if (rc == ZOK) return rc;
          config_read(rc, nullptr, 0, nullptr, data);
          return static_cast<int>(ZOK);
        });
}

Pending<Created> Session::start_create(const CreateOp& op) {
  auto call = std::make_unique<CallOf<Created>>();
  if (op.mode == CreateMode::Container || op.ttl > 0)
    return start_newer<Created>(std::move(call), [op](zhandle_t* zh, const void* data) {
      const auto done = [](int rc, const char* path, const ::Stat* stat, const void* sent) {
        answer<Created>(sent, rc, {.path = path ? path : "", .stat = stat_of(stat)});
      };
      return zoo_acreate2_ttl(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                              AclView(op.acl).get(), mode_of(op), op.ttl > 0 ? op.ttl : -1, done,
                              data);
    });
  const Use on(*this);
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    const auto done = [](int rc, const char* path, const void* sent) {
      Created created{.path = path ? path : "", .stat = {}};
      auto& handle = *static_cast<const CallOf<Created>*>(sent)->handle;
      if (rc == ZOK) created.stat.czxid = handle.czxid_of(created.path);
      answer<Created>(sent, rc, std::move(created));
    };
    return zoo_acreate(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                       AclView(op.acl).get(), mode_of(op), done, data);
  });
}

Pending<Nothing> Session::start_probe_newer() {
  return start_newer<Nothing>(std::make_unique<CallOf<Nothing>>(),
                              [](zhandle_t* /*zh*/, const void* data) {
                                answer<Nothing>(data, ZOK, {});
                                return static_cast<int>(ZOK);
                              });
}

}  // namespace zksh
