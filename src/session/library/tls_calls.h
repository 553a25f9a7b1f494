// TLS calls: replacements for the OpenSSL calls in the C client's source, so that zksh's options
// apply.
//
// The C client itself also trusts the system's authorities beside the given one, does not check the
// name in a certificate, requires a client certificate, waits for a silent server indefinitely,
// leaves answers unread that arrive in one record with another, and reports only that a failure
// occurred. Its source is unchanged; the build includes this header before those of its files that
// make the calls.
#ifndef ZKSH_SESSION_LIBRARY_TLS_CALLS_H
#define ZKSH_SESSION_LIBRARY_TLS_CALLS_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A reference to the process's context, which has its authorities and certificate.
SSL_CTX* zksh_tls_context(void);
/// As SSL_connect, but checks the server's name, and ends in bounded time.
int zksh_tls_connect(SSL* ssl);
/// As SSL_read and SSL_write, but sets errno as read and write do.
int zksh_tls_read(SSL* ssl, void* buffer, int size);
int zksh_tls_write(SSL* ssl, const void* bytes, int size);
/// As poll, but a socket whose TLS has unread bytes is readable.
int zksh_tls_poll(struct pollfd* sockets, nfds_t count, int timeout_ms);
struct _zhandle;
/// As zoo_sasl_mark_failed, but notifies the session's watcher.
void zksh_sasl_mark_failed(struct _zhandle* zh);

#ifdef __cplusplus
}
#endif

#ifdef ZKSH_INSIDE_THE_C_CLIENT
#define SSL_CTX_new(method) ((void)(method), zksh_tls_context())
#undef SSL_CTX_set_default_passwd_cb_userdata
#define SSL_CTX_set_verify(context, mode, callback) ((void)(context))
#define SSL_CTX_load_verify_locations(context, file, directory) ((void)(context), 1)
#define SSL_CTX_set_default_verify_paths(context) ((void)(context), 1)
#define SSL_CTX_use_certificate_chain_file(context, file) ((void)(context), 1)
#define SSL_CTX_set_default_passwd_cb_userdata(context, data) ((void)(context))
#define SSL_CTX_use_PrivateKey_file(context, file, type) ((void)(context), 1)
#define SSL_CTX_check_private_key(context) ((void)(context), 1)
#define SSL_connect zksh_tls_connect
#define SSL_read zksh_tls_read
#define SSL_write zksh_tls_write
#define poll zksh_tls_poll
#undef FIPS_mode
#define FIPS_mode() 0  // OpenSSL 3 has none any more; the C client only logs it
#ifdef HAVE_CYRUS_SASL_H
#define zoo_sasl_mark_failed zksh_sasl_mark_failed
#endif
#endif

#endif
