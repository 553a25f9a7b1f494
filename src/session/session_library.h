// Session library: what depends on how the C client was built, as Debian does or with TLS and SASL.
//
// library/plain.cpp is for Debian's library; the others for one that is built from source.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/security.h"
#include "session/trying_order.h"

#include <zookeeper/zookeeper.h>

#include <map>
#include <string>

namespace zksh {

/// "3.8.0": of the C client that the program was built with.
std::string client_library_version();

/// Makes ready what sessions ask for: certificates are read, mechanisms looked for. For each
/// process once, before any session. Throws UsageError for a file that cannot be used. Blocks.
void prepare_security(const Security& security);

/// Why the last TLS connection to each server failed, by ServerAddress::text(); empty without TLS.
const std::map<std::string, std::string>& tls_failures(const Monitor::Held& held);
/// Whether TLS failed with every one of these servers since a session was opened with them, for a
/// reason that lasts or several times.
bool tls_failed_everywhere(const Monitor::Held& held, const ConnectString& servers);

/// Lets TLS handshakes end that are under way, since a handle is to be closed. Any thread.
void hang_up_handshakes();

/// As zookeeper_init for a new session, with what prepare_security made ready when `security` asks
/// for it: null, and errno, when it fails. With SASL, the watcher hears of its failure. Blocks
/// while names resolve, and puts those into `names`.
zhandle_t* open_handle(Monitor& monitor, const Security& security, const ConnectString& servers,
                       AddressNames& names, watcher_fn watcher, int timeout_ms, void* context,
                       int flags);

}  // namespace zksh
