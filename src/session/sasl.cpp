// Sasl: authenticates a connection through Cyrus SASL.
#include "session/sasl.h"

#include "base/error.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "base/time.h"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sasl/sasl.h>
#include <sasl/saslplug.h>
#include <system_error>
#include <thread>

#ifdef ZKSH_PORTABLE
// Cyrus SASL loads mechanisms as plugins: here it gets the one that is in the program. These are
// all the functions that dlopen.c of 2.1.28 defines, so that the archive's own, which wants every
// plugin, is not linked.
// NOLINTBEGIN(readability-identifier-naming): Cyrus SASL's.
extern "C" {
int digestmd5_client_plug_init(const sasl_utils_t* utils, int most_version, int* version,
                               sasl_client_plug_t** plugins, int* count);
int _sasl_load_plugins(const void* /*entries*/, const void* /*path*/, const void* /*verify*/) {
  return sasl_client_add_plugin("DIGEST-MD5", digestmd5_client_plug_init);
}
int _sasl_get_plugin(const char* /*file*/, const void* /*verify*/, void** /*library*/) {
  return SASL_FAIL;
}
int _sasl_locate_entry(void* /*library*/, const char* /*name*/, void** /*entry*/) {
  return SASL_FAIL;
}
int _sasl_done_with_plugins() { return SASL_OK; }
}
// NOLINTEND(readability-identifier-naming)
#endif

namespace zksh {
namespace {

#define ZKSH_CYRUS_SASL(each)                                                                 \
  each(sasl_client_init) each(sasl_client_new) each(sasl_client_start) each(sasl_client_step) \
      each(sasl_dispose) each(sasl_errdetail) each(sasl_getprop) each(sasl_global_listmech)   \
          each(sasl_set_mutex)

/// The library's functions, with its names.
struct CyrusSasl {
  ZKSH_CYRUS_SASL(ZKSH_DECLARE)
};

const CyrusSasl& cyrus_sasl() {
  static const CyrusSasl functions = [] {
    SharedLibrary library("libsasl2.so.2");
    CyrusSasl found;
    ZKSH_CYRUS_SASL(ZKSH_FIND)
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
  // The first that the server offers, which is that of the JAAS file's DigestLoginModule.
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

/// Null if there is none. Blocks: Cyrus SASL looks up this machine's own name (get_fqhostname).
sasl_conn_t* new_connection(const std::string& host) {
  sasl_conn_t* made = nullptr;
  const int result = cyrus_sasl().sasl_client_new("zookeeper", host.c_str(), nullptr, nullptr,
                                                  answers().callbacks.data(), 0, &made);
  return result == SASL_OK ? made : nullptr;
}

/// For the next exchange with DIGEST-MD5, which can then begin even if no names can be looked up.
std::atomic<sasl_conn_t*> spare{nullptr};

/// ZooKeeper's servers use this name for DIGEST-MD5, whatever their machine; for Kerberos they use
/// the machine's.
sasl_conn_t* new_digest_connection() {
  auto* const made = spare.exchange(nullptr);
  return made ? made : new_connection("zk-sasl-md5");
}

void keep_spare() {
  if (spare) return;
  auto* unused = spare.exchange(new_connection("zk-sasl-md5"));
  if (unused) cyrus_sasl().sasl_dispose(&unused);
}

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
#ifdef ZKSH_PORTABLE
  if (settings.mechanism != digest)
    throw UsageError(fmt::format(
        "this zksh is the portable file, which knows no SASL mechanism but {}; use the one that is "
        "built beside it for {}",
        digest, settings.mechanism));
#endif
  if (!has_mechanism(settings.mechanism))
    throw UsageError(
        fmt::format("this machine's SASL has no mechanism {} (Debian: libsasl2-modules, and "
                    "libsasl2-modules-gssapi-mit for GSSAPI)",
                    settings.mechanism));
}

SaslExchange::SaslExchange(const SaslSettings& settings, std::string host)
    : mechanism_(settings.mechanism), host_(std::move(host)) {}

SaslExchange::~SaslExchange() {
  if (connection_) cyrus_sasl().sasl_dispose(&connection_);
}

void SaslExchange::advance(const std::shared_ptr<SaslExchange>& exchange,
                           std::optional<std::string> token,
                           const std::function<void(const Step&)>& done) {
  try {
    std::thread([exchange, token = std::move(token), done] {
      const auto step = token ? exchange->proceed(*token) : exchange->begin();
      done(step);
      if (step.is_over && exchange->mechanism_ == digest) keep_spare();
    }).detach();
  } catch (const std::system_error& error) {
    done({.failed = true,
          .problem = fmt::format("cannot start a thread for SASL ({})",
                                 std::strerror(error.code().value()))});
  }
}

std::string SaslExchange::no_answer(const SaslSettings& settings, std::chrono::seconds waited) {
  if (settings.mechanism == digest)
    return fmt::format(
        "looking up this machine's own name, which SASL wants, takes longer than {}; add it to "
        "/etc/hosts",
        short_time(waited));
  return fmt::format("no Kerberos server (KDC) has answered for {}; is it reachable?",
                     short_time(waited));
}

SaslExchange::Step SaslExchange::begin() {
  connection_ = mechanism_ == digest ? new_digest_connection() : new_connection(host_);
  if (!connection_) return {.failed = true};
  const char* bytes = nullptr;
  const char* chosen = nullptr;
  unsigned size = 0;
  const int result = cyrus_sasl().sasl_client_start(connection_, mechanism_.c_str(), nullptr,
                                                    &bytes, &size, &chosen);
  auto first = step(result, bytes, mechanism_ == digest ? 0 : size);
  first.is_over = false;  // the server answers in any case
  begun_ = true;
  return first;
}

SaslExchange::Step SaslExchange::proceed(std::string_view token) {
  if (expects_last_) {
    Step last{.is_over = true};
    const void* user = nullptr;
    if (cyrus_sasl().sasl_getprop(connection_, SASL_USERNAME, &user) == SASL_OK && user != nullptr)
      last.user = static_cast<const char*>(user);
    return last;
  }
  // A server without SASL answers all with an empty token: Kerberos would begin again and again.
  if (token.empty() && mechanism_ != digest) return {.failed = true};
  const char* bytes = nullptr;
  unsigned size = 0;
  const int result = cyrus_sasl().sasl_client_step(
      connection_, token.data(), static_cast<unsigned>(token.size()), nullptr, &bytes, &size);
  return step(result, bytes, size);
}

SaslExchange::Step SaslExchange::step(int result, const char* bytes, unsigned size) {
  if (result != SASL_OK && result != SASL_CONTINUE)
    return {.failed = true, .problem = mechanism_ == digest ? "" : kerberos_problem()};
  Step next;
  if (result == SASL_CONTINUE || size > 0) next.token.emplace(bytes ? bytes : "", size);
  expects_last_ = result == SASL_OK && mechanism_ == "GSSAPI";
  next.is_over = result == SASL_OK && !expects_last_;
  return next;
}

/// "… GSSAPI Error: Unspecified GSS failure.  Minor code may provide more information (Ticket
/// expired)": only what is in the parentheses says something.
std::string SaslExchange::kerberos_problem() const {
  const char* const detail = cyrus_sasl().sasl_errdetail(connection_);
  if (detail == nullptr) return {};
  std::string_view text = detail;
  if (const auto begin = text.find(" ("); begin != std::string_view::npos && text.ends_with(')'))
    text = text.substr(begin + 2, text.size() - begin - 3);
  if (text == "Success") return {};  // the server's refusal, mostly of an expired ticket
  const auto says = [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  std::string_view remedy;
  if (says("credentials") || says("expired"))
    remedy = "; get a ticket with kinit, then connect again";
  else if (says("not found in Kerberos database") || says("not found in database"))
    remedy = "; name the servers as their principals do, zookeeper/HOST";
  return fmt::format("Kerberos{}: {}{}",
                     begun_ ? "" : fmt::format(" gives no ticket for zookeeper/{}", host_),
                     escape_for_terminal(text), remedy);
}

}  // namespace zksh
