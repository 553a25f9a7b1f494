// Session: who it is to the servers.
#include "base/digest.h"
#include "base/fd.h"
#include "session/session_handle.h"

#include <fmt/core.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace zksh {
namespace {

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

/// As InetAddress.getHostAddress of Java writes it: an IPv6 address in full, without "::".
std::string host_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.any.sa_family == AF_INET)
    return inet_ntop(AF_INET, &address.v4.sin_addr, text.data(), text.size());
  const auto* bytes = address.v6.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address.v6.sin6_addr))
    return inet_ntop(AF_INET, bytes + 12, text.data(), text.size());
  std::string host;
  for (std::size_t i = 0; i < 16; i += 2)
    host += fmt::format("{}{:x}", i == 0 ? "" : ":", bytes[i] << 8 | bytes[i + 1]);
  return host;
}

/// The address that this machine's packets to a server bear, unless they are translated on the way.
/// The C client keeps its socket to itself; but a socket of our own that is connected to the same
/// place gets the same address, and a datagram socket sends nothing for that.
std::string own_address(zhandle_t* zh) {
  Address server{};
  socklen_t size = sizeof server;
  if (!zookeeper_get_connected_host(zh, &server.any, &size)) return {};
  const Fd fd(socket(server.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address own{};
  socklen_t own_size = sizeof own;
  if (!fd || connect(fd.get(), &server.any, size) != 0 ||
      getsockname(fd.get(), &own.any, &own_size) != 0)
    return {};
  return host_text(own);
}

}  // namespace

Identity identity_of(const std::string& scheme, const std::string& credential) {
  if (scheme == "digest") return {.scheme = scheme, .id = digest_id(credential)};
  // What other schemes make of it is known to the servers alone.
  return {.scheme = scheme, .id = {}};
}

void Session::Handle::accepted(const Credential& credential) {
  if (credential.scheme == "ip") return;  // the server adds what it knows already
  session.monitor_.look([&](const Monitor::Held&) {
    if (std::ranges::count(credentials, credential) == 0) credentials.push_back(credential);
  });
}

std::vector<Credential> Session::credentials() {
  return monitor_.look([&](const Monitor::Held&) {
    const auto* const open = state_->open_handle();
    return open ? open->credentials : std::vector<Credential>();
  });
}

std::vector<Identity> Session::identities() {
  const Use on(*this);
  const bool connected = is_connected(current_state());
  if (!connected || !on) return {};
  std::vector<Identity> all;
  if (const auto own = own_address(on->zh); !own.empty())
    all.push_back({.scheme = "ip", .id = own});
  // The servers' name for it may be longer with Kerberos, whose realm they cut off or not.
  if (const auto& sasl = settings_.security.sasl; sasl.mechanism == "DIGEST-MD5")
    all.push_back({.scheme = "sasl", .id = sasl.user});
  for (const auto& [scheme, secret] : credentials()) {
    auto identity = identity_of(scheme, secret);
    if (std::ranges::count(all, identity) == 0) all.push_back(std::move(identity));
  }
  return all;
}

std::string Session::file_of_all_credentials(const Monitor::Held& held) const {
  return sent_others(held) ? "" : settings_.credentials_file;
}

/// Whether the session has sent other credentials than those of the settings.
bool Session::sent_others(const Monitor::Held& /*held*/) const {
  const auto* const open = state_->open_handle();
  return state_->phase == Phase::Refused || (open && open->other_credentials);
}

std::string Session::why_refused(const Monitor::Held& held) const {
  return sent_others(held) ? "" : why_settings_refused();
}

std::string Session::why_settings_refused() const {
  const auto& sasl = settings_.security.sasl;
  if (!sasl.mechanism.empty())
    return fmt::format(
        "the servers do not do SASL {}, or refuse {} or the password; correct it and "
        "start zksh again",
        sasl.mechanism, sasl.user.empty() ? "the user" : "the user " + sasl.user);
  const auto& file = settings_.credentials_file;
  if (file.empty()) return {};
  return fmt::format(
      "the servers do not know a scheme of the auth file {}, or refuse its credential, and every "
      "session that has it is dead; correct the file and start zksh again",
      file);
}

void Session::fail_authentication() {
  end(monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Refused); }));
}

}  // namespace zksh
