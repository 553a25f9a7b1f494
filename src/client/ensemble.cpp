// Ensemble: parses an ensemble's configuration for config and reconfig.
#include "client/ensemble.h"

#include "base/error.h"
#include "base/java.h"
#include "base/number.h"
#include "base/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

namespace zksh {
namespace {

/// Keys and values, as in the file.
using Properties = std::vector<std::pair<std::string, std::string>>;

/// "host:2888:3888:participant;host:2181" → "host:2181"; empty if there is none.
std::string client_address(std::string_view server) {
  const auto semicolon = server.find(';');
  if (semicolon == std::string_view::npos) return {};
  const auto client = server.substr(semicolon + 1);
  const auto colon = client.rfind(':');
  if (colon == std::string_view::npos) return fmt::format("0.0.0.0:{}", client);
  auto host = client.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return fmt::format("{}:{}", host, client.substr(colon + 1));
}

/// Java's Long.parseLong and Integer.parseInt, with their message for malformed numbers.
template <class Number>
Number java_number(std::string_view text, int base = 10) {
  const auto number = java_number_in<Number>(text, base);
  if (!number)
    throw ValueError(fmt::format("For input string: \"{}\"{}", text,
                                 base == 10 ? "" : fmt::format(" under radix {}", base)));
  return *number;
}

/// Java's String.split: drops empty parts at the end.
std::vector<std::string_view> java_split(std::string_view text, char at) {
  auto parts = split(text, at);
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

/// Splits "host:1:2" at its colons, except those within "[::1]" (ConfigUtils.getHostAndPort).
std::vector<std::string_view> host_and_ports(std::string_view text) {
  if (!text.starts_with('[')) return java_split(text, ':');
  const auto bracket = text.find(']');
  if (bracket == std::string_view::npos)
    throw ValueError(fmt::format("{} starts with '[' but has no matching ']:'", text));
  if (bracket + 2 == text.size())
    throw ValueError(fmt::format("{} doesn't have a port after colon", text));
  std::vector<std::string_view> parts;
  if (bracket + 2 < text.size()) parts = java_split(text.substr(bracket + 2), ':');
  parts.insert(parts.begin(), text.substr(1, bracket - 1));
  return parts;
}

int checked_port(std::string_view host, std::string_view text) {
  const auto port = java_number_in<int>(text);
  if (!port) throw ValueError(fmt::format("Address unresolved: {}:{}", host, text));
  if (*port < 0 || *port > 65535) throw ValueError(fmt::format("port out of range:{}", *port));
  return *port;
}

bool is_observer(std::string_view role) {
  std::string word;
  for (const char c : role)
    if (c != ' ' && c != '\t') word += lower_case(c);
  if (word != "observer" && word != "participant")
    throw ValueError(fmt::format("Unrecognised peertype: {}", role));
  return word == "observer";
}

/// Whether the member is an observer. Throws where QuorumServer's constructor does, but allows
/// several addresses, for which zkCli would need a system property of its own.
bool checked_member(std::int64_t id, std::string_view text) {
  const auto malformed = [&] {
    return ValueError(fmt::format(
        "{} does not have the form server_config or server_config;client_config where "
        "server_config is the pipe separated list of host:port:port or host:port:port:type and "
        "client_config is port or host:port",
        text));
  };
  const auto halves = java_split(text, ';');
  if (halves.size() == 2) {
    const auto client = host_and_ports(halves[1]);
    if (client.size() > 2) throw malformed();
    checked_port("null", client.back());
  }
  bool observer = false;
  for (const auto address : java_split(halves[0], '|')) {
    const auto parts = host_and_ports(address);
    if (halves.size() > 2 || parts.size() < 3 || parts.size() > 4) throw malformed();
    if (checked_port(parts[0], parts[1]) == checked_port(parts[0], parts[2]))
      throw ValueError(fmt::format(
          "Client and election port must be different! Please update the configuration file on "
          "server.{}",
          id));
    if (parts.size() == 4) observer = is_observer(parts[3]);
  }
  return observer;
}

/// Throws zkCli's message for what it refuses in a file before sending anything
/// (QuorumPeerConfig.parseDynamicConfig): the first error in the file.
void check_members(const Properties& file) {
  std::map<std::int64_t, bool> observers;
  std::map<std::int64_t, std::int64_t> groups;
  bool grouped = false;
  const auto number_of = [](const std::string& key) {
    return java_number<std::int64_t>(std::string_view(key).substr(key.find('.') + 1));
  };
  for (const auto& [key, value] : file) {
    grouped = grouped || key.starts_with("group") || key.starts_with("weight");
    if (key.starts_with("server.")) {
      const auto id = number_of(key);
      observers[id] = checked_member(id, value);
    } else if (key.starts_with("group")) {
      const auto group = number_of(key);
      for (const auto word : java_split(value, ':')) {
        const auto id = java_number<std::int64_t>(word);
        if (!groups.try_emplace(id, group).second)
          throw ValueError(fmt::format("Server {}is in multiple groups", id));
      }
    } else if (key.starts_with("weight")) {
      number_of(key);
      java_number<std::int64_t>(value);
    } else if (key == "version") {
      java_number<std::int64_t>(value, 16);
    } else {
      throw ValueError("Unrecognised parameter: " + key);
    }
  }
  std::size_t participants = 0;
  for (const auto& [id, observer] : observers) {
    if (observer) continue;
    ++participants;
    if (grouped && !groups.contains(id))
      throw ValueError(fmt::format("Server {}is not in a group", id));
  }
  if (participants < 2 && participants < observers.size())
    throw ValueError(fmt::format("Observers w/o {} is an invalid configuration",
                                 participants == 0 ? "participants" : "quorum"));
}

}  // namespace

std::string client_connect_string(std::string_view config) {
  auto entries = java_properties(config);
  sort_as_java_map(entries, [](const auto& entry) { return java_hash(entry.first); });
  std::string version;
  std::vector<std::string> servers;
  for (const auto& [key, value] : entries) {
    if (key == "version") version = value;
    if (key.starts_with("server.")) servers.push_back(client_address(value));
  }
  return fmt::format("{} {}", version, fmt::join(servers, ","));
}

std::string members_in_file(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; std::getline(in, line);) text += line + '\n';
  const auto entries = java_properties(text);
  try {
    if (!in.is_open() || in.bad()) throw ValueError(fmt::format("{} ({})", file, strerror(errno)));
    check_members(entries);
  } catch (const ValueError& error) {
    throw ValueError(fmt::format("Error processing {}{}", file, error.what()));
  }
  std::string members;
  for (const auto& [key, value] : entries)
    members += fmt::format("{}{}={}", members.empty() ? "" : "\n", key, value);
  return members;
}

}  // namespace zksh
