// Session opening: a new handle of the C client, with or without TLS and SASL.
#pragma once

#include "session/session_library.h"

#include <zookeeper/zookeeper.h>

namespace zksh {

/// As zookeeper_init for a new session, with what prepare_security made ready when `security` asks
/// for it: null, and errno, when it fails. With SASL, the watcher hears of its failure. Blocks
/// while names resolve.
zhandle_t* open_handle(Monitor& monitor, const Security& security, const ConnectString& servers,
                       watcher_fn watcher, int timeout_ms, void* context, int flags);

}  // namespace zksh
