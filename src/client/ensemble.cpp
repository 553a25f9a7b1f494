// Ensemble: the text of an ensemble's configuration, as config and reconfig read it.
#include "client/ensemble.h"

#include "base/error.h"
#include "base/java.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace zksh {
namespace {

struct Property {
  std::string key;
  std::string value;
};

std::string_view stripped(std::string_view text) {
  constexpr auto blanks = " \t\r\f";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The lines of a Java properties file that a configuration has: no escapes, no continued lines.
std::vector<Property> properties(std::string_view text) {
  std::vector<Property> all;
  while (!text.empty()) {
    const auto line = stripped(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const auto end_of_key = std::min(line.find_first_of("=: \t"), line.size());
    auto value = stripped(line.substr(end_of_key));
    if (!value.empty() && (value.front() == '=' || value.front() == ':')) value.remove_prefix(1);
    all.push_back({std::string(line.substr(0, end_of_key)), std::string(stripped(value))});
  }
  return all;
}

/// "host:2888:3888:participant;host:2181" → "host:2181"; empty when there is none.
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

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw ValueError(fmt::format("Error processing {}{}", file, problem));
}

}  // namespace

std::string client_connect_string(std::string_view config) {
  auto entries = properties(config);
  sort_as_java_map(entries, [](const Property& entry) { return java_hash(entry.key); });
  std::string version;
  std::string servers;
  bool first = true;
  for (const auto& [key, value] : entries) {
    if (key == "version") version = value;
    if (!key.starts_with("server.")) continue;
    if (!first) servers += ',';
    first = false;
    servers += client_address(value);
  }
  return version + ' ' + servers;
}

std::string members_in_file(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; std::getline(in, line);) text += line + '\n';
  if (!in.is_open() || in.bad()) refuse(file, fmt::format("{} ({})", file, strerror(errno)));
  std::string members;
  for (const auto& [key, value] : properties(text)) {
    if (!key.starts_with("server.") && !key.starts_with("group") && !key.starts_with("weight") &&
        key != "version")
      refuse(file, "Unrecognised parameter: " + key);
    members += fmt::format("{}{}={}", members.empty() ? "" : "\n", key, value);
  }
  return members;
}

}  // namespace zksh
