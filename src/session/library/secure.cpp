// Secure: the C client built from source with TLS, and with SASL if Cyrus SASL is available.
#include "session/library/tls.h"
#include "session/session_library.h"

#include <memory>

#ifdef HAVE_CYRUS_SASL_H
#include "session/library/sasl.h"
#endif

namespace zksh {

bool has_tls() { return true; }
std::string client_library_version() { return ZOO_VERSION; }

void prepare_security(const Security& security) {
  if (security.tls.on) tls() = std::make_unique<Tls>(security.tls);
#ifdef HAVE_CYRUS_SASL_H
  if (!security.sasl.mechanism.empty()) make_sasl(security.sasl);
#endif
}

zhandle_t* open_handle(Monitor& monitor, const Security& security, const ConnectString& servers,
                       const std::string& hosts, watcher_fn watcher, int timeout_ms, void* context,
                       int flags) {
#ifdef HAVE_CYRUS_SASL_H
  if (!security.sasl.mechanism.empty())
    return open_with_sasl(security.sasl, servers, hosts, watcher, timeout_ms, context, flags);
#endif
  if (!security.tls.on)
    return zookeeper_init(hosts.c_str(), watcher, timeout_ms, nullptr, context, flags);
  tls()->add(monitor, servers);
  // The process's own context already has the contents of these files.
  return zookeeper_init_ssl(hosts.c_str(), "ca,certificate,key,", watcher, timeout_ms, nullptr,
                            context, flags);
}

#ifndef HAVE_CYRUS_SASL_H
bool has_sasl() { return false; }
#endif

}  // namespace zksh
