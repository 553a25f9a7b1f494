// Plain: the C client as Debian builds it, without TLS and SASL.
#include "session/session_library.h"

namespace zksh {

bool has_tls() { return false; }
bool has_sasl() { return false; }
std::string client_library_version() { return ZOO_VERSION; }

void prepare_security(const Security& /*security*/) {}
void hang_up_handshakes() {}
std::map<std::string, std::string> tls_failures(const Monitor::Held& /*held*/) { return {}; }

bool tls_failed_everywhere(const Monitor::Held& /*held*/, const ConnectString& /*servers*/) {
  return false;
}

zhandle_t* open_handle(Monitor& /*monitor*/, const Security& /*security*/,
                       const ConnectString& /*servers*/, const std::string& hosts,
                       watcher_fn watcher, int timeout_ms, void* context, int flags) {
  return zookeeper_init(hosts.c_str(), watcher, timeout_ms, nullptr, context, flags);
}

}  // namespace zksh
