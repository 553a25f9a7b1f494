// SASL calls: what the C client's zk_sasl.c calls in place of Cyrus SASL.
//
// When a connection is lost in the last step of GSSAPI, the C client of 3.8.0 takes the first
// answer on the next one for the last, and goes on unauthenticated (ZOOKEEPER-4614). Its source is
// left as it is; the build includes this header before it.
#ifndef ZKSH_SESSION_LIBRARY_SASL_CALLS_H
#define ZKSH_SESSION_LIBRARY_SASL_CALLS_H

#include <sasl/sasl.h>

/// zoo_sasl_connect, which has `sc`, makes one for each connection.
#define sasl_client_new(...) (sc->is_last_packet = 0, sasl_client_new(__VA_ARGS__))

#endif
