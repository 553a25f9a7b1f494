// Tls: certificates and keys as OpenSSL takes them, handshakes, and what goes wrong in these.
#include "client/tls.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/shared_library.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <system_error>
#include <thread>
#include <utility>

namespace zksh {
namespace {

// OpenSSL's functions, from the shared library, which is loaded when TLS is first needed: loading
// it with the program would take a fifth of a one-shot command's time.
#define ZKSH_OPEN_SSL(each)                                                                        \
  each(ASN1_OCTET_STRING_free) each(ASN1_STRING_get0_data) each(ASN1_STRING_length) each(          \
      BIO_ctrl_pending) each(BIO_free) each(BIO_new) each(BIO_new_mem_buf) each(BIO_read)          \
      each(BIO_s_mem) each(BIO_write) each(ERR_clear_error) each(ERR_peek_error)                   \
          each(ERR_peek_last_error) each(ERR_reason_error_string) each(EVP_PKEY_free) each(        \
              GENERAL_NAMES_free) each(OPENSSL_cipher_name) each(OPENSSL_sk_free)                  \
              each(OPENSSL_sk_num) each(OPENSSL_sk_pop_free) each(OPENSSL_sk_value) each(          \
                  OSSL_PROVIDER_try_load) each(PKCS12_free) each(PKCS12_parse) each(SSL_CTX_ctrl)  \
                  each(SSL_CTX_free) each(SSL_CTX_get_cert_store) each(                            \
                      SSL_CTX_load_verify_locations) each(SSL_CTX_new)                             \
                      each(SSL_CTX_set_cipher_list) each(SSL_CTX_set_ciphersuites) each(           \
                          SSL_CTX_set_default_passwd_cb)                                           \
                          each(SSL_CTX_set_default_passwd_cb_userdata) each(                       \
                              SSL_CTX_set_default_verify_paths) each(SSL_CTX_set_options)          \
                              each(SSL_CTX_set_verify) each(SSL_CTX_use_PrivateKey) each(          \
                                  SSL_CTX_use_PrivateKey_file) each(SSL_CTX_use_certificate)       \
                                  each(SSL_CTX_use_certificate_chain_file) each(SSL_ctrl) each(    \
                                      SSL_do_handshake) each(SSL_free)                             \
                                      each(SSL_get0_peer_certificate) each(SSL_get_error) each(    \
                                          SSL_get_verify_result) each(SSL_new) each(SSL_pending)   \
                                          each(SSL_read) each(SSL_set_bio)                         \
                                              each(SSL_set_connect_state) each(SSL_write) each(    \
                                                  TLS_client_method) each(X509_STORE_add_cert)     \
                                                  each(X509_STORE_set_flags) each(X509_check_host) \
                                                      each(X509_check_ip_asc) each(X509_free)      \
                                                          each(X509_get_ext_by_NID)                \
                                                              each(X509_get_ext_d2i) each(         \
                                                                  X509_verify_cert_error_string)   \
                                                                  each(a2i_IPADDRESS)              \
                                                                      each(d2i_PKCS12_bio)

struct OpenSsl {
  ZKSH_OPEN_SSL(ZKSH_DECLARE)
};

/// Loads the library at the first call, which blocks for a moment. Throws UsageError, naming the
/// package, if it is not installed. From any thread.
const OpenSsl& open_ssl() {
  static const OpenSsl functions = [] {
    // libssl loads libcrypto, whose functions are then found, too.
    SharedLibrary library(fmt::format("libssl.so.{}", OPENSSL_SHLIB_VERSION).c_str());
    OpenSsl found;
    ZKSH_OPEN_SSL(ZKSH_FIND)
    if (!library.problem().empty())
      throw UsageError(
          fmt::format("TLS needs OpenSSL {}, which cannot be loaded: {} (Debian: the "
                      "package libssl3, or libssl3t64)",
                      OPENSSL_VERSION_MAJOR, library.problem()));
    return found;
  }();
  return functions;
}

/// The reason of OpenSSL's last failure, or the system's.
std::string last_reason() {
  const auto first = open_ssl().ERR_peek_error();
  if (ERR_GET_LIB(first) == ERR_LIB_SYS) return std::strerror(ERR_GET_REASON(first));
  const char* const text = open_ssl().ERR_reason_error_string(open_ssl().ERR_peek_last_error());
  return text ? text : "no reason is given";
}

[[noreturn]] void refuse(const std::string& what, const std::string& file,
                         std::string_view why = last_reason()) {
  throw UsageError(fmt::format("{} {} cannot be used: {}", what, file, why));
}

struct KeyPassword {
  const std::string& text;
  bool wanted = false;
};

/// A key's password is never prompted for.
int give_password(char* buffer, int size, int /*writing*/, void* user) {
  auto& password = *static_cast<KeyPassword*>(user);
  password.wanted = true;
  if (password.text.size() >= static_cast<std::size_t>(size)) return -1;
  std::ranges::copy(password.text, buffer);
  return static_cast<int>(password.text.size());
}

std::string wrong_password(const Password& given) {
  if (!given.text.empty())
    return fmt::format("its password is another one than that of {}, or it is damaged", given.from);
  return given.from.starts_with("--")
             ? fmt::format("it has a password; {} names a file whose first line it is", given.from)
             : fmt::format("it has a password; set {}", given.from);
}

bool is_pem(std::string_view bytes) { return bytes.find("-----BEGIN") != std::string_view::npos; }

constexpr std::string_view old_cipher =
    "it is encrypted with an old cipher (RC2-40, of Java before 8u301 and OpenSSL before 3), which "
    "OpenSSL reads only with its legacy provider; convert it once with\n"
    "  keytool -importkeystore -srckeystore {file} -destkeystore store.p12 -deststoretype PKCS12\n"
    "of a newer Java, or, where that provider is (Debian: the package openssl-provider-legacy), "
    "with\n"
    "  openssl pkcs12 -legacy -in {file} -nodes | openssl pkcs12 -export -out store.p12\n"
    "and name store.p12 here";

/// A PKCS#12 file: a key and its certificate, and the certificates of authorities.
class Pkcs12 {
 public:
  Pkcs12(const std::string& what, const std::string& file, const std::string& bytes,
         const Password& password) {
    ssl_.ERR_clear_error();
    auto* const source = ssl_.BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()));
    auto* const store = ssl_.d2i_PKCS12_bio(source, nullptr);
    ssl_.BIO_free(source);
    if (store == nullptr)
      refuse(what, file, "it is neither PEM nor PKCS#12 (no certificate in it)");
    const auto parse = [&] {
      return ssl_.PKCS12_parse(store, password.text.c_str(), &key_, &certificate_, &others_) == 1;
    };
    const bool parsed = parse() || (is_cipher_missing() && use_old_ciphers() && parse());
    ssl_.PKCS12_free(store);
    if (parsed) return;
    refuse(what, file,
           is_cipher_missing() ? fmt::format(fmt::runtime(old_cipher), fmt::arg("file", file))
                               : wrong_password(password));
  }
  Pkcs12(const Pkcs12&) = delete;
  Pkcs12& operator=(const Pkcs12&) = delete;
  ~Pkcs12() {
    ssl_.EVP_PKEY_free(key_);
    ssl_.X509_free(certificate_);
    for (int i = 0; i < count(); ++i) ssl_.X509_free(other(i));
    ssl_.OPENSSL_sk_free(stack());
  }

  EVP_PKEY* key() const { return key_; }
  X509* certificate() const { return certificate_; }
  int count() const { return others_ == nullptr ? 0 : ssl_.OPENSSL_sk_num(stack()); }
  X509* other(int i) const { return static_cast<X509*>(ssl_.OPENSSL_sk_value(stack(), i)); }

 private:
  /// Whether parsing has failed because of that. The password was right then: the authentication
  /// code over everything is checked first.
  bool is_cipher_missing() const {
    return ERR_GET_REASON(ssl_.ERR_peek_error()) == ERR_R_UNSUPPORTED;
  }

  /// Lets OpenSSL 3 decrypt what older programs have encrypted; false if it cannot.
  bool use_old_ciphers() const {
#ifdef ZKSH_PORTABLE
    return false;  // the provider is a library, and would bring another libcrypto with it
#else
    if (ssl_.OSSL_PROVIDER_try_load(nullptr, "legacy", 1) == nullptr) return false;
    ssl_.ERR_clear_error();
    return true;
#endif
  }

  OPENSSL_STACK* stack() const { return reinterpret_cast<OPENSSL_STACK*>(others_); }

  const OpenSsl& ssl_ = open_ssl();
  EVP_PKEY* key_ = nullptr;
  X509* certificate_ = nullptr;
  STACK_OF(X509) * others_ = nullptr;
};

constexpr std::string_view conversion =
    "it is one of Java's own keystores, which only Java reads; convert it once with\n"
    "  keytool -importkeystore -srckeystore {} -destkeystore store.p12 -deststoretype PKCS12\n"
    "and name store.p12 here";

/// The bytes of a file in one of the two formats.
std::string store_of(const std::string& what, const std::string& file) {
  std::string bytes;
  try {
    bytes = read_file(file);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", what, error.what()));
  }
  // Java's own formats: JKS and JCEKS.
  if (bytes.starts_with("\xfe\xed\xfe\xed") || bytes.starts_with("\xce\xce\xce\xce"))
    refuse(what, file, fmt::format(fmt::runtime(conversion), file));
  return bytes;
}

void load_authorities(SSL_CTX* context, const TlsSettings& settings) {
  const auto& ssl = open_ssl();
  constexpr auto what = "the file of authorities";
  const auto bytes = settings.ca.empty() ? "" : store_of(what, settings.ca);
  const bool revokes = bytes.find("-----BEGIN X509 CRL-----") != std::string::npos;
  if (settings.must_revoke && !revokes)
    throw UsageError(fmt::format(
        "zookeeper.ssl.crl=true needs revocation lists, which zksh does not download: append them "
        "(PEM) to the file of the authorities{}{}",
        settings.ca.empty() ? "" : ", ", settings.ca));
  if (settings.ca.empty()) {
    ssl.SSL_CTX_set_default_verify_paths(context);
    return;
  }
  if (is_pem(bytes)) {
    if (ssl.SSL_CTX_load_verify_locations(context, settings.ca.c_str(), nullptr) != 1)
      refuse(what, settings.ca);
    if (revokes)
      ssl.X509_STORE_set_flags(ssl.SSL_CTX_get_cert_store(context),
                               X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return;
  }
  const Pkcs12 store(what, settings.ca, bytes, settings.ca_password);
  auto* const trusted = ssl.SSL_CTX_get_cert_store(context);
  for (int i = 0; i < store.count(); ++i) ssl.X509_STORE_add_cert(trusted, store.other(i));
  if (store.certificate() != nullptr) ssl.X509_STORE_add_cert(trusted, store.certificate());
  if (store.count() == 0 && store.certificate() == nullptr)
    refuse(what, settings.ca, "it has no certificate");
}

void load_key(SSL_CTX* context, const TlsSettings& settings) {
  const auto& ssl = open_ssl();
  constexpr auto what = "the client certificate's key";
  const auto bytes = store_of(what, settings.key);
  if (settings.key == settings.certificate && bytes.find("PRIVATE KEY-----") == std::string::npos)
    throw UsageError(fmt::format(
        "the client certificate {} has no key in its file; name the key's file with tls-key "
        "(--tls-key FILE), or add the key to the file",
        settings.certificate));
  KeyPassword password{.text = settings.key_password.text};
  ssl.SSL_CTX_set_default_passwd_cb(context, give_password);
  ssl.SSL_CTX_set_default_passwd_cb_userdata(context, &password);
  ssl.ERR_clear_error();
  const bool loaded =
      ssl.SSL_CTX_use_PrivateKey_file(context, settings.key.c_str(), SSL_FILETYPE_PEM) == 1;
  ssl.SSL_CTX_set_default_passwd_cb(context, nullptr);
  ssl.SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (loaded) return;
  // One in 256 wrong passwords yields valid padding, and then another error follows. If the key was
  // read but does not match the certificate, the password was right.
  if (password.wanted && ERR_GET_LIB(ssl.ERR_peek_last_error()) != ERR_LIB_X509)
    refuse(what, settings.key, wrong_password(settings.key_password));
  refuse(what, settings.key);
}

void load_certificate(SSL_CTX* context, const TlsSettings& settings) {
  const auto& ssl = open_ssl();
  constexpr auto what = "the client certificate";
  const auto bytes = store_of(what, settings.certificate);
  if (is_pem(bytes)) {
    if (ssl.SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1)
      refuse(what, settings.certificate);
    return load_key(context, settings);
  }
  const Pkcs12 store(what, settings.certificate, bytes, settings.key_password);
  if (store.certificate() == nullptr || store.key() == nullptr)
    refuse(what, settings.certificate, "it has no key with a certificate");
  ssl.ERR_clear_error();
  if (ssl.SSL_CTX_use_certificate(context, store.certificate()) != 1 ||
      ssl.SSL_CTX_use_PrivateKey(context, store.key()) != 1)
    refuse(what, settings.certificate);
  for (int i = 0; i < store.count(); ++i)
    ssl.SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, store.other(i));
}

/// The cipher suites, and the versions that remain with these.
void restrict_ciphers(SSL_CTX* context, const TlsSettings& settings, bool& tls12, bool& tls13) {
  const auto& ssl = open_ssl();
  if (settings.ciphers.empty()) return;
  std::string old_names;  // OpenSSL has its own names for those of TLS 1.2
  std::string new_names;
  for (const auto& name : settings.ciphers) {
    if (name == "TLS_EMPTY_RENEGOTIATION_INFO_SCSV") continue;
    const std::string known = ssl.OPENSSL_cipher_name(name.c_str());
    if (known == "(NONE)") throw UsageError("zookeeper.ssl.ciphersuites: OpenSSL has no " + name);
    auto& names = name.find("_WITH_") == std::string::npos ? new_names : old_names;
    names += (names.empty() ? "" : ":") + known;
  }
  tls12 = tls12 && !old_names.empty();
  tls13 = tls13 && !new_names.empty();
  const bool usable = (tls12 || tls13) &&
                      (!tls12 || ssl.SSL_CTX_set_cipher_list(context, old_names.c_str()) == 1) &&
                      (!tls13 || ssl.SSL_CTX_set_ciphersuites(context, new_names.c_str()) == 1);
  if (!usable)
    throw UsageError(
        "zookeeper.ssl.ciphersuites has none that OpenSSL uses with the versions that "
        "zookeeper.ssl.enabledProtocols or zookeeper.ssl.protocol allows");
}

std::shared_ptr<SSL_CTX> make_context(const TlsSettings& settings) {
  const auto& ssl = open_ssl();
  ssl.ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(ssl.SSL_CTX_new(ssl.TLS_client_method()), ssl.SSL_CTX_free);
  if (!context) throw Error("OpenSSL cannot be used: " + last_reason());
  ssl.SSL_CTX_set_verify(context.get(), settings.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                         nullptr);
  auto tls12 = settings.tls12;
  auto tls13 = settings.tls13;
  restrict_ciphers(context.get(), settings, tls12, tls13);
  if (!tls13)
    ssl.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  if (!tls12)
    ssl.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, nullptr);
  // A server that asks for a new handshake would take a request's place, and could show another
  // certificate, whose name nobody has checked.
  ssl.SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  load_authorities(context.get(), settings);
  if (!settings.certificate.empty()) load_certificate(context.get(), settings);
  return context;
}

/// Whether a host is an address in the form that certificates use.
bool is_certificate_address(const std::string& host) {
  ASN1_OCTET_STRING* const bytes = open_ssl().a2i_IPADDRESS(host.c_str());
  open_ssl().ASN1_OCTET_STRING_free(bytes);
  return bytes != nullptr;
}

/// A host as certificates and TLS's server name have it: without the final dot of a fully qualified
/// name, or the interface of a link-local address.
std::string certified_form(std::string host) {
  if (host.find(':') != std::string::npos) return host.substr(0, host.find('%'));
  if (host.size() > 1 && host.ends_with('.')) host.pop_back();
  return host;
}

/// Whether a certificate is for a host, as OpenSSL compares them. Its SSL_set1_host would do the
/// same in the handshake, but cannot take an address or a name, whichever fits, nor ignore the
/// subject only where the certificate has alternative names.
bool is_for(X509* certificate, const std::string& host) {
  const auto& ssl = open_ssl();
  if (is_certificate_address(host)) return ssl.X509_check_ip_asc(certificate, host.c_str(), 0) == 1;
  unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
  if (ssl.X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0)
    flags |= X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
  return ssl.X509_check_host(certificate, host.c_str(), 0, flags, nullptr) == 1;
}

/// The first names in a certificate, which may be an impostor's: escapes them for terminals.
std::string names_in(X509* certificate) {
  constexpr int most = 5;
  const auto& ssl = open_ssl();
  std::string text;
  auto* const names = static_cast<GENERAL_NAMES*>(
      ssl.X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  if (names == nullptr) return text;
  const auto* const stack = reinterpret_cast<const OPENSSL_STACK*>(names);
  for (int i = 0; i < std::min(ssl.OPENSSL_sk_num(stack), most); ++i) {
    const auto* const name = static_cast<const GENERAL_NAME*>(ssl.OPENSSL_sk_value(stack, i));
    if (name->type != GEN_DNS) continue;
    const std::string_view bytes(
        reinterpret_cast<const char*>(ssl.ASN1_STRING_get0_data(name->d.dNSName)),
        static_cast<std::size_t>(ssl.ASN1_STRING_length(name->d.dNSName)));
    if (!text.empty()) text += ", ";
    for (const char byte : bytes.substr(0, 255)) text += byte > ' ' && byte < 0x7f ? byte : '?';
  }
  ssl.GENERAL_NAMES_free(names);
  return text;
}

/// What helps if a certificate is refused for this; "" if nothing on this side does.
std::string_view remedy_of(long verified) {
  switch (verified) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CERT_REVOKED:
      return "";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return "; the file of --tls-ca needs a revocation list of each authority that is in force";
    default:
      return "; --tls-ca names the authorities to trust";
  }
}

constexpr std::string_view hang_up =
    "TLS: the server hangs up during the handshake; is this its TLS port?";

std::unique_ptr<Tls>& process_tls() {
  static auto& one = *new std::unique_ptr<Tls>;  // threads may use it until the process ends
  return one;
}

}  // namespace

Tls::Tls(TlsSettings settings)
    : settings_(std::move(settings)), read_(state_of_files()), context_(make_context(settings_)) {}

/// The sizes and times of the files.
std::string Tls::state_of_files() const {
  std::string state;
  for (const auto& file : {settings_.ca, settings_.certificate, settings_.key}) {
    std::error_code none;
    if (file.empty()) continue;
    const auto changed = std::filesystem::last_write_time(file, none).time_since_epoch().count();
    state += fmt::format("{} {};", changed, std::filesystem::file_size(file, none));
  }
  return state;
}

std::shared_ptr<ssl_ctx_st> Tls::context() {
  const std::lock_guard lock(mutex_);
  return context_;
}

bool Tls::is_fresh() {
  constexpr std::chrono::milliseconds moment{100};
  const std::lock_guard lock(mutex_);
  return Clock::now() < looked_at_ + moment;
}

bool Tls::refresh(std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  if (!serving_) {
    try {
      const SignalsBlocked blocked;
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      return false;
    }
    serving_ = true;
  }
  waiting_.push_back(std::move(then));
  return true;
}

void Tls::await_fresh(Clock::time_point deadline) {
  if (is_fresh()) return;
  const auto done = std::make_shared<std::promise<void>>();
  if (refresh([done] { done->set_value(); })) done->get_future().wait_until(deadline);
}

/// Runs on the thread until there is nothing more to do.
void Tls::serve() {
  while (true) {
    std::vector<std::function<void()>> served;
    {
      const std::lock_guard lock(mutex_);
      served = std::exchange(waiting_, {});
      serving_ = !served.empty();
    }
    if (served.empty()) return;
    read_again();
    for (const auto& then : served) then();
  }
}

void Tls::read_again() {
  const auto now = Clock::now();
  auto state = state_of_files();
  std::shared_ptr<SSL_CTX> changed;
  if (state != read_) {
    try {
      changed = make_context(settings_);
      read_ = std::move(state);
    } catch (const Error&) {
      // One of them is being written, perhaps.
    }
  }
  const std::lock_guard lock(mutex_);
  if (changed) context_ = std::move(changed);
  looked_at_ = now;
}

void TlsConnection::Free::operator()(ssl_st* ssl) const { open_ssl().SSL_free(ssl); }

TlsConnection::TlsConnection(Tls& tls, std::vector<std::string> hosts, std::string address)
    : tls_(tls), hosts_(std::move(hosts)), address_(std::move(address)) {
  for (auto& host : hosts_) host = certified_form(std::move(host));
}

void TlsConnection::start() {
  if (ssl_) return;
  const auto& ssl = open_ssl();
  context_ = tls_.context();
  ssl_.reset(ssl.SSL_new(context_.get()));
  auto* const in = ssl.BIO_new(ssl.BIO_s_mem());
  auto* const out = ssl.BIO_new(ssl.BIO_s_mem());
  if (!ssl_ || in == nullptr || out == nullptr) throw std::bad_alloc();
  ssl.SSL_set_bio(ssl_.get(), in, out);  // which frees them
  ssl.SSL_set_connect_state(ssl_.get());
  const auto name = std::ranges::find_if_not(hosts_, is_certificate_address);
  if (name != hosts_.end())
    ssl.SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name->data());
  in_ = in;
  out_ = out;
  proceed();
  if (const auto early = std::exchange(early_, {}); !early.empty()) receive(early);
}

void TlsConnection::collect_output() {
  const auto& ssl = open_ssl();
  const auto size = ssl.BIO_ctrl_pending(out_);
  if (size == 0) return;
  const auto before = output_.size();
  output_.resize(before + size);
  ssl.BIO_read(out_, output_.data() + before, static_cast<int>(size));
}

/// Proceeds with the handshake.
void TlsConnection::proceed() {
  const auto& ssl = open_ssl();
  ssl.ERR_clear_error();
  const int result = ssl.SSL_do_handshake(ssl_.get());
  const int kind = result == 1 ? SSL_ERROR_NONE : ssl.SSL_get_error(ssl_.get(), result);
  // Also after a failure: an alert tells the server.
  collect_output();
  if (kind == SSL_ERROR_WANT_READ) {
    if (closed_) fail(std::string(hang_up), false);
    return;
  }
  if (kind != SSL_ERROR_NONE) return fail(reason(), true);
  if (auto wrong = wrong_name(); !wrong.empty()) return fail(std::move(wrong), true);
  ready_ = true;
  write(std::exchange(waiting_, {}));
}

/// What went wrong, from OpenSSL's errors.
std::string TlsConnection::reason() const {
  const auto& ssl = open_ssl();
  const auto error = ssl.ERR_peek_last_error();
  const bool is_from_ssl = ERR_GET_LIB(error) == ERR_LIB_SSL;
  const auto verified = ssl.SSL_get_verify_result(ssl_.get());
  if (tls_.settings().verify && verified != X509_V_OK && is_from_ssl &&
      ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return fmt::format("TLS: the server's certificate is refused: {}{}",
                       ssl.X509_verify_cert_error_string(verified), remedy_of(verified));
  }
  if (is_from_ssl && ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER)
    return std::string(no_tls_here);
  const char* const text = ssl.ERR_reason_error_string(error);
  const bool by_server = is_from_ssl && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
  const bool without = tls_.settings().certificate.empty() &&
                       ERR_GET_REASON(error) != SSL_R_TLSV1_ALERT_PROTOCOL_VERSION;
  return fmt::format("TLS: {}{}", by_server ? "the server refuses: " : "",
                     text ? text : "the handshake failed") +
         (by_server && without ? "; it may want a client certificate: --tls-cert" : "");
}

void TlsConnection::fail(std::string why, bool lasting) {
  if (!failure_.empty()) return;
  failure_ = std::move(why);
  lasting_ = lasting;
  ready_ = false;
}

void TlsConnection::give_up() {
  fail("TLS: the server does not answer the handshake; is this its TLS port?", true);
}

/// Why the server's certificate is not for the intended name; empty if it is.
std::string TlsConnection::wrong_name() const {
  if (!tls_.settings().verify_name) return {};
  X509* const certificate = open_ssl().SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr) return "TLS: the server shows no certificate";
  std::string wanted;
  for (const auto& host : hosts_) {
    if (is_for(certificate, host)) return {};
    wanted += (wanted.empty() ? "" : " or ") + host;
  }
  const auto names = names_in(certificate);
  return fmt::format("TLS: the server's certificate is not for {}{}",
                     wanted.empty() ? address_ : wanted,
                     names.empty() ? "" : fmt::format(", but for {}", names));
}

void TlsConnection::receive(std::string_view bytes) {
  if (bytes.empty()) closed_ = true;
  if (!ssl_) {
    constexpr std::size_t most = 4096;  // of a server that speaks before it is spoken to
    early_ += bytes;
    if (closed_) fail(std::string(hang_up), false);
    if (early_.size() > most) fail(std::string(no_tls_here), true);
    return;
  }
  open_ssl().BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
  if (!ready_ && failure_.empty()) proceed();
}

void TlsConnection::write(std::string_view bytes) {
  if (!ready_) {
    waiting_ += bytes;
    return;
  }
  if (bytes.empty()) return;
  open_ssl().ERR_clear_error();
  // Into memory, which takes all. A failure shows when the answer is read.
  open_ssl().SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  collect_output();
}

ssize_t TlsConnection::read(char* buffer, std::size_t size) {
  errno = ECONNRESET;
  if (!failure_.empty()) return -1;
  errno = EAGAIN;
  if (!ready_) return -1;
  const auto& ssl = open_ssl();
  ssl.ERR_clear_error();
  constexpr std::size_t most = 1U << 30U;
  const int result = ssl.SSL_read(ssl_.get(), buffer, static_cast<int>(std::min(size, most)));
  collect_output();  // an answer to the server's own messages
  if (result > 0) {
    spoke_ = true;
    return result;
  }
  const int kind = ssl.SSL_get_error(ssl_.get(), result);
  if (kind == SSL_ERROR_ZERO_RETURN) {
    ended_ = true;
    return 0;
  }
  if (kind == SSL_ERROR_WANT_READ) {
    errno = EAGAIN;
    return closed_ ? 0 : -1;
  }
  // In TLS 1.3 a server checks the client's certificate after the client considers the handshake
  // complete.
  if (!spoke_) fail(reason(), true);
  errno = ECONNRESET;
  return -1;
}

bool TlsConnection::may_have_unread() const {
  const auto& ssl = open_ssl();
  return ready_ && (ssl.SSL_pending(ssl_.get()) > 0 || ssl.BIO_ctrl_pending(in_) > 0);
}

Tls* tls() { return process_tls().get(); }

void use_tls(const TlsSettings& settings) { process_tls() = std::make_unique<Tls>(settings); }

}  // namespace zksh
