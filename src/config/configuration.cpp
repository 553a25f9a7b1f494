// Configuration: settings from files, the environment and options, and their origins.
#include "config/configuration.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/mapped.h"
#include "base/process_setup.h"
#include "base/text.h"
#include "base/words.h"
#include "config/settings.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>

namespace zksh {
namespace {

[[noreturn]] void reject(const std::string& key, const std::string& place) {
  const auto names = mapped<std::string>(Configuration::keys(), &Configuration::Key::name);
  const auto similar = suggestions(key, names);
  // What resembles no key may be anything, such as a credential that belongs in another file.
  if (similar.empty())
    throw UsageError(
        fmt::format("{}: a line does not begin with a known key (it may hold a secret and is not "
                    "shown); `zksh --show-config` lists the keys",
                    place));
  throw UsageError(
      fmt::format("{}: unknown key \"{}\"; did you mean {}?", place, key, similar.front()));
}

std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// The name in a line that begins with [; "" for [default], as in CLI11. A comment may follow.
std::string section_of(std::string_view line, const std::string& place) {
  const auto end = line.find(']');
  if (end == std::string_view::npos)
    throw UsageError(place + ": a section has no closing ]; write [NAME]");
  const auto rest = trimmed(line.substr(end + 1));
  if (!rest.empty() && !rest.starts_with('#') && !rest.starts_with(';'))
    throw UsageError(place + ": only a # comment may stand behind the ] of a section");
  const auto name = unquoted(std::string(trimmed(line.substr(1, end - 1))));
  return name == "default" ? "" : name;
}

/// CLI11 reads each line by itself, as it does not tell which line an error is in.
void add_line(ConfigurationFile& file, const std::string& section, const std::string& line,
              std::size_t number, const std::string& place) {
  CLI::ConfigBase format;
  // Disables CLI11's lists: servers are separated by commas, a program's words by blanks.
  format.arrayBounds('\x02', '\x03');
  try {
    std::istringstream stream(line);
    for (const auto& item : format.from_config(stream)) {
      auto parents = item.parents;
      if (!section.empty()) parents.insert(parents.begin(), section);
      file.sections[fmt::format("{}", fmt::join(parents, "."))].insert_or_assign(
          item.name,
          ConfigurationFile::Entry{.text = unquoted(item.inputs.empty() ? "" : item.inputs.front()),
                                   .line = number});
    }
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("{}: {}", place, error.what()));
  }
}

/// The names of the configuration files, lowest precedence first. They need not exist.
std::vector<std::string> configuration_files() {
  std::vector<std::string> files;
  const auto system = environment("XDG_CONFIG_DIRS", "/etc/xdg");
  for (const auto directory : split(system, ':'))
    if (!directory.empty()) files.push_back(std::string(directory) + "/zksh/config");
  std::ranges::reverse(files);  // the first directory has precedence
  if (const auto own = environment("XDG_CONFIG_HOME"); !own.empty())
    files.push_back(own + "/zksh/config");
  else if (const auto home = environment("HOME"); !home.empty())
    files.push_back(home + "/.config/zksh/config");
  return files;
}

}  // namespace

std::span<const Configuration::Key> Configuration::keys() {
  static const auto all = [] {
    std::vector<Key> keys{
        {"as", "zksh",
         "zkcli, zookeeper-shell: run in the place of zkCli.sh, or of Kafka's zookeeper-shell.sh."},
        {"auth-file", "",
         "A file of credentials for every session: a scheme and a credential on each line."},
        {"connect-timeout", "10s", "How long to wait for a connection."},
        {"production", "off",
         "Show the profile in red in the prompt, and ask for a node's name before a subtree is "
         "deleted."},
        {"profile", "", "The profile to use; only allowed above the first section of a file."},
        {"read-only", "off", "Send no writes; accept a read-only server."},
        {"sasl-mechanism", "",
         "The SASL mechanism: DIGEST-MD5 (the default if there is a user) or GSSAPI."},
        {"sasl-password-file", "", "A file whose first line is the SASL password."},
        {"sasl-user", "", "The SASL user."},
        {"server", "localhost:2181", "The servers, optionally with a chroot."},
        {"timeout", "30000", "Session timeout in milliseconds, or with a unit."},
        {"tls", "", "on, off, or empty: use TLS if another tls- key is set."},
        {"tls-ca", "",
         "The trusted CA certificates (PEM, perhaps with CRLs, or PKCS#12); empty: the system's."},
        {"tls-ca-password-file", "", "A file whose first line is the password of tls-ca."},
        {"tls-cert", "", "The client certificate and its chain (PEM, or PKCS#12 with the key)."},
        {"tls-key", "", "The client certificate's private key (PEM); empty: in the same file."},
        {"tls-key-password-file", "",
         "A file whose first line is the password of the private key, or of the PKCS#12 file."},
        {"tls-verify", "on", "Verify the server's certificate and its name."},
        {"tls-verify-name", "on", "Verify the name in the server's certificate."}};
    for (const auto& setting : Settings::descriptions())
      keys.push_back({setting.name, setting.initial, setting.help});
    std::ranges::sort(keys, {}, &Key::name);
    return keys;
  }();
  return all;
}

Configuration::Configuration() {
  for (const auto& key : keys())  // in the map's order
    values_.emplace_hint(values_.end(), key.name,
                         Value{.text = std::string(key.initial), .origin = "default"});
}

void Configuration::set(std::string_view key, std::string text, std::string origin) {
  values_.insert_or_assign(
      std::string(key),
      Value{.text = std::move(text), .origin = std::move(origin), .level = level_});
}

void Configuration::read_files(const std::optional<Value>& profile) {
  std::vector<ConfigurationFile> files;
  std::set<std::string> profiles;
  for (const auto& name : configuration_files())
    if (auto file = read_configuration_file(name)) {
      for (const auto& [section, values] : file->sections)
        for (const auto& [key, entry] : values) {
          const auto place = fmt::format("{}:{}", name, entry.line);
          if (!values_.contains(key)) reject(key, place);
          if (!section.empty()) profiles.insert(section);
          if (section.empty() && key == "profile") set(key, entry.text, place);
        }
      files.push_back(std::move(*file));
    }
  profiles_.assign(profiles.begin(), profiles.end());
  if (profile) set("profile", profile->text, profile->origin);
  const auto chosen = values_["profile"];
  if (!chosen.text.empty() && !profiles.contains(chosen.text))
    throw UsageError(
        fmt::format("{}: no such profile: \"{}\"{}", chosen.origin, chosen.text,
                    profiles.empty()
                        ? fmt::format("; profiles are sections of {}", configuration_files().back())
                        : fmt::format("; known profiles: {}", fmt::join(profiles, ", "))));
  for (const auto& file : files)
    for (const auto& section : {std::string(), chosen.text}) {
      const auto found = file.sections.find(section);
      if (found == file.sections.end()) continue;
      begin_level();
      for (const auto& [key, entry] : found->second)
        set(key, entry.text,
            fmt::format("{}:{}{}", file.name, entry.line,
                        section.empty() ? "" : fmt::format(" [{}]", section)));
    }
  values_["profile"] = chosen;
}

std::string Configuration::described(std::string_view key) const {
  const auto& origin = (*this)[key].origin;
  return origin.starts_with("--") ? origin : fmt::format("{} ({})", key, origin);
}

bool Configuration::is_on(std::string_view key) const {
  const auto& value = (*this)[key];
  return parse_switch(value.text, fmt::format("{} ({})", key, value.origin));
}

std::string Configuration::report() const {
  std::size_t widest = 0;
  for (const auto& [key, value] : values_) widest = std::max(widest, key.size());
  std::string lines;
  for (const auto& [key, value] : values_) {
    const bool bare = !value.text.empty() && value.text.find(' ') == std::string::npos;
    lines += fmt::format("{:{}} = {}  # {}\n", key, widest,
                         bare ? value.text : '"' + value.text + '"', value.origin);
  }
  return lines;
}

std::optional<ConfigurationFile> read_configuration_file(const std::string& name) {
  std::ifstream stream(name);
  if (!stream) {
    const int reason = errno;
    // HOME may belong to a user that the process no longer runs as.
    struct stat info {};
    const bool unseen =
        stat(name.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES);
    if (unseen) return std::nullopt;
    throw UsageError(fmt::format("cannot read {}: {}", name, std::strerror(reason)));
  }
  ConfigurationFile file{.name = name, .sections = {}};
  std::string section;
  std::string text;
  for (std::size_t number = 1; std::getline(stream, text); ++number) {
    const auto place = fmt::format("{}:{}", name, number);
    if (number == 1 && text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
    const auto line = trimmed(text);
    if (line.starts_with('['))
      section = section_of(line, place);
    else
      add_line(file, section, std::string(line), number, place);
  }
  // A directory can be opened, but not read.
  if (stream.bad()) throw UsageError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  return file;
}

}  // namespace zksh
