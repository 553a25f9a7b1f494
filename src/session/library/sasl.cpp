// SASL: authenticates sessions through Cyrus SASL.
#include "session/library/sasl.h"

#include "base/error.h"
#include "session/library/tls_calls.h"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sasl/sasl.h>
#include <string_view>

extern "C" {
void zoo_sasl_mark_failed(zhandle_t* zh);
}

namespace zksh {
namespace {

/// The data for the callbacks. The C client only refers to it, so it lives as long as the process.
struct Answers {
  std::string user;
  sasl_secret_t* password = nullptr;
  std::array<sasl_callback_t, 5> callbacks{};
} answers;

std::atomic<watcher_fn> session_watcher{nullptr};

int give_user(void* /*context*/, int /*id*/, const char** result, unsigned* length) {
  *result = answers.user.c_str();
  if (length) *length = static_cast<unsigned>(answers.user.size());
  return SASL_OK;
}

int give_password(sasl_conn_t* /*connection*/, void* /*context*/, int /*id*/,
                  sasl_secret_t** result) {
  *result = answers.password;
  return SASL_OK;
}

int give_realm(void* /*context*/, int /*id*/, const char** available, const char** result) {
  // The server's first, which is the JAAS file's DigestLoginModule's.
  *result = available && available[0] ? available[0] : "";
  return SASL_OK;
}

/// Cyrus SASL logs to syslog by default.
int drop_log(void* /*context*/, int /*level*/, const char* /*message*/) { return SASL_OK; }

sasl_secret_t* secret_of(const std::string& password) {
  auto* const secret =
      static_cast<sasl_secret_t*>(std::malloc(sizeof(sasl_secret_t) + password.size()));
  if (!secret) throw std::bad_alloc();
  secret->len = password.size();
  std::memcpy(secret->data, password.c_str(), password.size() + 1);
  return secret;
}

template <class F>
int (*as_callback(F function))() {
  // Cyrus SASL calls each with the arguments of its kind.
  return reinterpret_cast<int (*)()>(reinterpret_cast<void*>(function));
}

bool has_mechanism(std::string_view wanted) {
  for (const char** name = sasl_global_listmech(); name && *name; ++name)
    if (wanted == *name) return true;
  return false;
}

}  // namespace

bool has_sasl() { return true; }

void make_sasl(const SaslSettings& settings) {
  answers.user = settings.user;
  answers.password = secret_of(settings.password);
  answers.callbacks = {{{SASL_CB_GETREALM, as_callback(give_realm), nullptr},
                        {SASL_CB_USER, as_callback(give_user), nullptr},
                        {SASL_CB_AUTHNAME, as_callback(give_user), nullptr},
                        {SASL_CB_PASS, as_callback(give_password), nullptr},
                        {SASL_CB_LIST_END, nullptr, nullptr}}};
  static const std::array<sasl_callback_t, 2> of_all{
      {{SASL_CB_LOG, as_callback(drop_log), nullptr}, {SASL_CB_LIST_END, nullptr, nullptr}}};
  if (sasl_client_init(of_all.data()) != SASL_OK) throw Error("Cyrus SASL cannot be used");
  if (!has_mechanism(settings.mechanism))
    throw UsageError(
        fmt::format("this machine's SASL has no mechanism {} (Debian: libsasl2-modules, and "
                    "libsasl2-modules-gssapi-mit for GSSAPI)",
                    settings.mechanism));
}

zhandle_t* open_with_sasl(const SaslSettings& settings, const ConnectString& servers,
                          const std::string& hosts, watcher_fn watcher, int timeout_ms,
                          void* context, int flags) {
  session_watcher = watcher;
  // ZooKeeper servers use this name for DIGEST-MD5, whatever their machine; for Kerberos they use
  // the machine's.
  const bool digest = settings.mechanism == "DIGEST-MD5";
  const auto host = digest ? "zk-sasl-md5" : servers.servers.front().host;
  zoo_sasl_params_t parameters{.service = "zookeeper",
                               .host = host.c_str(),
                               .mechlist = settings.mechanism.c_str(),
                               .callbacks = answers.callbacks.data()};
  return zookeeper_init_sasl(hosts.c_str(), watcher, timeout_ms, nullptr, context, flags, nullptr,
                             &parameters);
}

}  // namespace zksh

void zksh_sasl_mark_failed(zhandle_t* zh) {
  zoo_sasl_mark_failed(zh);
  const auto watcher = zksh::session_watcher.load();
  if (watcher)
    watcher(zh, ZOO_SESSION_EVENT, ZOO_AUTH_FAILED_STATE, "",
            const_cast<void*>(zoo_get_context(zh)));
}
