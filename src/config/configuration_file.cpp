// Configuration file: one file taken apart, on CLI11.
#include "config/configuration_file.h"

#include "base/error.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace zksh {
namespace {

std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<ConfigurationFile> read_configuration_file(const std::string& name) {
  std::ifstream stream(name);
  if (!stream) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw UsageError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  }
  CLI::ConfigBase format;
  // No value is a list: servers are separated by commas, and a program's words by blanks.
  format.arrayBounds('\x02', '\x03');
  ConfigurationFile file{.name = name, .sections = {}};
  try {
    for (const auto& item : format.from_config(stream)) {
      if (item.name == "++" || item.name == "--") continue;  // a section begins or ends
      const auto section = fmt::format("{}", fmt::join(item.parents, "."));
      file.sections[section][item.name] = unquoted(item.inputs.empty() ? "" : item.inputs.front());
    }
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
  // A directory opens, but gives nothing.
  if (stream.bad()) throw UsageError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  return file;
}

}  // namespace zksh
