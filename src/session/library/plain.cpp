// Plain: the C client as Debian builds it, without TLS and SASL.
#include "session/session_library.h"

namespace zksh {

bool has_tls() { return false; }
bool has_sasl() { return false; }
std::string client_library_version() { return ZOO_VERSION; }

void prepare_security(const Security& security) {
  if (security.tls.on) refuse_missing("TLS is asked for", "TLS");
  if (!security.sasl.mechanism.empty()) refuse_missing("SASL is asked for", "SASL");
}

const std::map<std::string, std::string>& tls_failures(const Monitor::Held& /*held*/) {
  static const std::map<std::string, std::string> none;
  return none;
}

bool tls_failed_everywhere(const Monitor::Held& /*held*/, const ConnectString& /*servers*/) {
  return false;
}

void hang_up_handshakes() {}

zhandle_t* open_handle(Monitor& /*monitor*/, const Security& /*security*/,
                       const ConnectString& /*servers*/, const std::string& hosts,
                       watcher_fn watcher, int timeout_ms, void* context, int flags) {
  return zookeeper_init(hosts.c_str(), watcher, timeout_ms, nullptr, context, flags);
}

}  // namespace zksh
