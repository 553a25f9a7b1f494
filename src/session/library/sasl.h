// SASL: authenticates sessions through Cyrus SASL.
#pragma once

#include "session/session_library.h"

namespace zksh {

/// Stores what the mechanism needs. Call it once, before any session. Throws UsageError if this
/// machine's SASL does not support the mechanism.
void make_sasl(const SaslSettings& settings);

/// As open_handle; `hosts` is the servers' trying_order.
zhandle_t* open_with_sasl(const SaslSettings& settings, const ConnectString& servers,
                          const std::string& hosts, watcher_fn watcher, int timeout_ms,
                          void* context, int flags);

}  // namespace zksh
