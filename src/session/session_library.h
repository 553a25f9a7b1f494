// Session library: what depends on how the C client was built: as in Debian, or with TLS and SASL.
//
// library/plain.cpp is for Debian's library; the other files are for one built from source.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/security.h"

#include <zookeeper/zookeeper.h>

#include <map>
#include <string>

namespace zksh {

/// The version of the C client that the program was built with: "3.8.0".
std::string client_library_version();

/// Prepares what sessions need: reads certificates, looks for mechanisms. Call it once per process,
/// before any session. Throws UsageError for a file that cannot be used. Blocks.
void prepare_security(const Security& security);

/// Why the last TLS connection to each server failed, by ServerAddress::text(); empty without TLS.
std::map<std::string, std::string> tls_failures(const Monitor::Held& held);
/// Whether TLS has failed with all of these servers since a session was opened with them, for a
/// permanent reason or several times.
bool tls_failed_everywhere(const Monitor::Held& held, const ConnectString& servers);

/// Ends TLS handshakes in progress, because a handle is about to be closed. From any thread.
void hang_up_handshakes();

/// As zookeeper_init for a new session, using what prepare_security has prepared if `security`
/// requests it; null, with errno, if that fails. With SASL, the watcher is notified of its failure.
/// `hosts` is the servers' trying_order. Blocks while names resolve.
zhandle_t* open_handle(Monitor& monitor, const Security& security, const ConnectString& servers,
                       const std::string& hosts, watcher_fn watcher, int timeout_ms, void* context,
                       int flags);

}  // namespace zksh
