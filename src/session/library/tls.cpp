// TLS: the process's context, and the results of its handshakes.
#include "session/library/tls.h"

#include "base/error.h"
#include "client/host_addresses.h"
#include "session/session_library.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <openssl/err.h>
#include <utility>

namespace zksh {
namespace {

/// A server that starts or stops may break off a handshake or two.
constexpr int enough_tries = 3;

/// The reason of OpenSSL's last failure, or the system's.
std::string reason() {
  const auto first = ERR_peek_error();
  if (ERR_GET_LIB(first) == ERR_LIB_SYS) return std::strerror(ERR_GET_REASON(first));
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  return text ? text : "no reason is given";
}

[[noreturn]] void refuse(const std::string& what, const std::string& file) {
  throw UsageError(fmt::format("{} {} cannot be used: {}", what, file, reason()));
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

void load_certificate(SSL_CTX* context, TlsSettings& settings) {
  if (SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1)
    refuse("the client certificate", settings.certificate);
  KeyPassword password{.text = settings.key_password};
  SSL_CTX_set_default_passwd_cb(context, give_password);
  SSL_CTX_set_default_passwd_cb_userdata(context, &password);
  ERR_clear_error();
  const bool loaded =
      SSL_CTX_use_PrivateKey_file(context, settings.key.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb(context, nullptr);
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (loaded) return;
  // One in 256 wrong passwords yields valid padding, and then another error follows. If the key was
  // read but does not match the certificate, the password was right.
  if (password.wanted && ERR_GET_LIB(ERR_peek_last_error()) != ERR_LIB_X509)
    throw UsageError(fmt::format(
        "the client certificate's key {} cannot be used: {}", settings.key,
        settings.key_password.empty()
            ? "it has a password; --tls-key-password-file names a file whose first line it is"
            : "its password is another one, or it is damaged"));
  refuse("the client certificate's key", settings.key);
}

}  // namespace

Tls::Tls(TlsSettings settings)
    : settings_(std::move(settings)), context_(SSL_CTX_new(TLS_client_method())) {
  if (!context_) throw Error("OpenSSL cannot be used: " + reason());
  ERR_clear_error();
  // When it retries to send, the C client passes another buffer.
  SSL_CTX_set_mode(context(), SSL_MODE_AUTO_RETRY | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context(), settings_.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (settings_.ca.empty())
    SSL_CTX_set_default_verify_paths(context());
  else if (SSL_CTX_load_verify_locations(context(), settings_.ca.c_str(), nullptr) != 1)
    refuse("the file of authorities", settings_.ca);
  if (!settings_.certificate.empty()) load_certificate(context(), settings_);
}

void Tls::add(Monitor& monitor, const ConnectString& servers) {
  monitor_ = &monitor;
  monitor.with_lock([&](const Monitor::Held& held) {
    for (const auto& server : servers.servers) {
      failures_(held).erase(server.text());
      auto& known = servers_(held);
      if (std::ranges::find(known, server.text(), &ServerAddress::text) == known.end())
        known.push_back(server);
    }
  });
}

std::vector<ServerAddress> Tls::servers_at(const std::string& host, int port) {
  auto servers =
      monitor_.load()->with_lock([&](const Monitor::Held& held) { return servers_(held); });
  std::erase_if(servers, [&](const ServerAddress& server) { return server.port != port; });
  auto same = servers;
  std::erase_if(same, [&](const ServerAddress& server) { return !same_host(server.host, host); });
  // If a name's addresses have changed since the C client resolved it, it may be any of the
  // servers.
  return same.empty() ? servers : same;
}

void Tls::note_failure(const std::vector<ServerAddress>& servers, const std::string& failure,
                       bool lasting) {
  monitor_.load()->change([&](const Monitor::Held& held) {
    for (const auto& server : servers) {
      auto& known = failures_(held)[server.text()];
      known.reason = failure;
      known.tries += lasting ? enough_tries : 1;
    }
  });
}

void Tls::note_success(const std::vector<ServerAddress>& servers) {
  monitor_.load()->change([&](const Monitor::Held& held) {
    for (const auto& server : servers) failures_(held).erase(server.text());
  });
}

std::unique_ptr<Tls>& tls() {
  static std::unique_ptr<Tls> one;
  return one;
}

std::map<std::string, std::string> tls_failures(const Monitor::Held& held) {
  std::map<std::string, std::string> reasons;
  if (tls())
    for (const auto& [server, failure] : tls()->failures(held)) reasons[server] = failure.reason;
  return reasons;
}

bool tls_failed_everywhere(const Monitor::Held& held, const ConnectString& servers) {
  return tls() && std::ranges::all_of(servers.servers, [&](const ServerAddress& server) {
           const auto failure = tls()->failures(held).find(server.text());
           return failure != tls()->failures(held).end() && failure->second.tries >= enough_tries;
         });
}

}  // namespace zksh
