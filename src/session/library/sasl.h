// SASL: sessions that authenticate themselves through Cyrus SASL.
#pragma once

#include "session/session_library.h"

namespace zksh {

/// Keeps what the mechanism will ask for. Once, before any session. Throws UsageError when this
/// machine's SASL has no such mechanism.
void make_sasl(const SaslSettings& settings);

/// As open_handle; `hosts` is the servers' trying_order.
zhandle_t* open_with_sasl(const SaslSettings& settings, const ConnectString& servers,
                          const std::string& hosts, watcher_fn watcher, int timeout_ms,
                          void* context, int flags);

}  // namespace zksh
