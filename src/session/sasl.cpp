// Sasl: authenticates a connection through Cyrus SASL.
#include "session/sasl.h"

#include "base/error.h"
#include "base/shared_library.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sasl/sasl.h>

namespace zksh {
namespace {

/// The library's functions, with its names.
struct CyrusSasl {
  decltype(&::sasl_client_init) sasl_client_init = nullptr;
  decltype(&::sasl_client_new) sasl_client_new = nullptr;
  decltype(&::sasl_client_start) sasl_client_start = nullptr;
  decltype(&::sasl_client_step) sasl_client_step = nullptr;
  decltype(&::sasl_dispose) sasl_dispose = nullptr;
  decltype(&::sasl_errdetail) sasl_errdetail = nullptr;
  decltype(&::sasl_global_listmech) sasl_global_listmech = nullptr;
  decltype(&::sasl_set_mutex) sasl_set_mutex = nullptr;
};

const CyrusSasl& cyrus_sasl() {
  static const CyrusSasl functions = [] {
    SharedLibrary library("libsasl2.so.2");
    CyrusSasl found;
    library.find("sasl_client_init", found.sasl_client_init);
    library.find("sasl_client_new", found.sasl_client_new);
    library.find("sasl_client_start", found.sasl_client_start);
    library.find("sasl_client_step", found.sasl_client_step);
    library.find("sasl_dispose", found.sasl_dispose);
    library.find("sasl_errdetail", found.sasl_errdetail);
    library.find("sasl_global_listmech", found.sasl_global_listmech);
    library.find("sasl_set_mutex", found.sasl_set_mutex);
    if (!library.problem().empty())
      throw UsageError(fmt::format(
          "SASL needs Cyrus SASL, which cannot be loaded: {} (Debian: the package libsasl2-2)",
          library.problem()));
    return found;
  }();
  return functions;
}

/// The data for the callbacks. The library only refers to it, so it lives as long as the process.
struct Answers {
  std::string user;
  sasl_secret_t* password = nullptr;
  std::array<sasl_callback_t, 5> callbacks{};
};

Answers& answers() {
  static auto& one = *new Answers;
  return one;
}

int give_user(void* /*context*/, int /*id*/, const char** result, unsigned* length) {
  *result = answers().user.c_str();
  if (length) *length = static_cast<unsigned>(answers().user.size());
  return SASL_OK;
}

int give_password(sasl_conn_t* /*connection*/, void* /*context*/, int /*id*/,
                  sasl_secret_t** result) {
  *result = answers().password;
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
  for (const char** name = cyrus_sasl().sasl_global_listmech(); name && *name; ++name)
    if (wanted == *name) return true;
  return false;
}

/// Several sessions may authenticate at once, each on a thread of its own.
void use_mutexes() {
  cyrus_sasl().sasl_set_mutex([]() -> void* { return new std::mutex; },
                              [](void* mutex) {
                                static_cast<std::mutex*>(mutex)->lock();
                                return SASL_OK;
                              },
                              [](void* mutex) {
                                static_cast<std::mutex*>(mutex)->unlock();
                                return SASL_OK;
                              },
                              [](void* mutex) { delete static_cast<std::mutex*>(mutex); });
}

constexpr std::string_view digest = "DIGEST-MD5";

}  // namespace

void prepare_sasl(const SaslSettings& settings) {
  auto& own = answers();
  own.user = settings.user;
  own.password = secret_of(settings.password);
  own.callbacks = {{{SASL_CB_GETREALM, as_callback(give_realm), nullptr},
                    {SASL_CB_USER, as_callback(give_user), nullptr},
                    {SASL_CB_AUTHNAME, as_callback(give_user), nullptr},
                    {SASL_CB_PASS, as_callback(give_password), nullptr},
                    {SASL_CB_LIST_END, nullptr, nullptr}}};
  static const std::array<sasl_callback_t, 2> of_all{
      {{SASL_CB_LOG, as_callback(drop_log), nullptr}, {SASL_CB_LIST_END, nullptr, nullptr}}};
  use_mutexes();
  if (cyrus_sasl().sasl_client_init(of_all.data()) != SASL_OK)
    throw Error("Cyrus SASL cannot be used");
  if (!has_mechanism(settings.mechanism))
    throw UsageError(
        fmt::format("this machine's SASL has no mechanism {} (Debian: libsasl2-modules, and "
                    "libsasl2-modules-gssapi-mit for GSSAPI)",
                    settings.mechanism));
}

SaslExchange::SaslExchange(const SaslSettings& settings, const std::string& host)
    : mechanism_(settings.mechanism) {
  // ZooKeeper's servers use this name for DIGEST-MD5, whatever their machine; for Kerberos they use
  // the machine's.
  const auto* const name = mechanism_ == digest ? "zk-sasl-md5" : host.c_str();
  if (cyrus_sasl().sasl_client_new("zookeeper", name, nullptr, nullptr, answers().callbacks.data(),
                                   0, &connection_) != SASL_OK)
    connection_ = nullptr;
}

SaslExchange::~SaslExchange() {
  if (connection_) cyrus_sasl().sasl_dispose(&connection_);
}

std::optional<SaslExchange::Step> SaslExchange::begin() {
  if (!connection_) return std::nullopt;
  const char* bytes = nullptr;
  const char* chosen = nullptr;
  unsigned size = 0;
  const int result = cyrus_sasl().sasl_client_start(connection_, mechanism_.c_str(), nullptr,
                                                    &bytes, &size, &chosen);
  auto first = step(result, bytes, mechanism_ == digest ? 0 : size);
  if (first) first->is_over = false;  // the server answers in any case
  return first;
}

std::optional<SaslExchange::Step> SaslExchange::proceed(std::string_view token) {
  if (expects_last_) return Step{.is_over = true};
  const char* bytes = nullptr;
  unsigned size = 0;
  const int result = cyrus_sasl().sasl_client_step(
      connection_, token.data(), static_cast<unsigned>(token.size()), nullptr, &bytes, &size);
  return step(result, bytes, size);
}

std::optional<SaslExchange::Step> SaslExchange::step(int result, const char* bytes, unsigned size) {
  if (result != SASL_OK && result != SASL_CONTINUE) {
    if (const char* const detail = cyrus_sasl().sasl_errdetail(connection_)) problem_ = detail;
    return std::nullopt;
  }
  Step next;
  if (result == SASL_CONTINUE || size > 0) next.token.emplace(bytes ? bytes : "", size);
  expects_last_ = result == SASL_OK && mechanism_ == "GSSAPI";
  next.is_over = result == SASL_OK && !expects_last_;
  return next;
}

}  // namespace zksh
