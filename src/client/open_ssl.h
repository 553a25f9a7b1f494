// OpenSsl: OpenSSL's functions, from the shared library, which is loaded when TLS is first needed:
// loading it with the program would take a fifth of a one-shot command's time.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace zksh {

// The names are OpenSSL's.
#define ZKSH_OPEN_SSL(each)                                                                        \
  each(ASN1_OCTET_STRING_free) each(ASN1_STRING_get0_data) each(ASN1_STRING_length) each(          \
      BIO_ctrl_pending) each(BIO_free) each(BIO_new) each(BIO_new_mem_buf) each(BIO_read)          \
      each(BIO_s_mem) each(BIO_write) each(ERR_clear_error) each(ERR_peek_error) each(             \
          ERR_peek_last_error) each(ERR_reason_error_string) each(EVP_PKEY_free)                   \
          each(GENERAL_NAMES_free) each(OPENSSL_sk_free) each(OPENSSL_sk_num) each(                \
              OPENSSL_sk_pop_free) each(OPENSSL_sk_value) each(PKCS12_free) each(PKCS12_parse)     \
              each(SSL_CTX_ctrl) each(SSL_CTX_free) each(SSL_CTX_get_cert_store)                   \
                  each(SSL_CTX_load_verify_locations) each(SSL_CTX_new) each(                      \
                      SSL_CTX_set_default_passwd_cb) each(SSL_CTX_set_default_passwd_cb_userdata)  \
                      each(SSL_CTX_set_default_verify_paths) each(SSL_CTX_set_verify)              \
                          each(SSL_CTX_use_PrivateKey) each(SSL_CTX_use_PrivateKey_file) each(     \
                              SSL_CTX_use_certificate) each(SSL_CTX_use_certificate_chain_file)    \
                              each(SSL_ctrl) each(SSL_do_handshake) each(SSL_free)                 \
                                  each(SSL_get0_peer_certificate) each(SSL_get_error) each(        \
                                      SSL_get_verify_result) each(SSL_new) each(SSL_pending)       \
                                      each(SSL_read) each(SSL_set_bio) each(SSL_set_connect_state) \
                                          each(SSL_write) each(TLS_client_method)                  \
                                              each(X509_STORE_add_cert) each(X509_check_host)      \
                                                  each(X509_check_ip_asc) each(X509_free)          \
                                                      each(X509_get_ext_d2i)                       \
                                                          each(X509_verify_cert_error_string)      \
                                                              each(a2i_IPADDRESS)                  \
                                                                  each(d2i_PKCS12_bio)

// NOLINTBEGIN(bugprone-macro-parentheses): a name that is declared has none.
struct OpenSsl {
#define ZKSH_DECLARE(name) decltype(&::name) name = nullptr;
  ZKSH_OPEN_SSL(ZKSH_DECLARE)
#undef ZKSH_DECLARE
};
// NOLINTEND(bugprone-macro-parentheses)

/// Loads the library at the first call, which blocks for a moment. Throws UsageError, naming the
/// package, if it is not installed. From any thread.
const OpenSsl& open_ssl();

}  // namespace zksh
