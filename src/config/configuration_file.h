// Configuration file: one file taken apart, on CLI11.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace zksh {

struct ConfigurationFile {
  std::string name;
  /// Keys and values by section; the empty name is what stands above the first.
  std::map<std::string, std::map<std::string, std::string>> sections;
};

/// nullopt when there is no such file. Throws UsageError when it cannot be read or taken apart.
/// Blocks.
std::optional<ConfigurationFile> read_configuration_file(const std::string& name);

}  // namespace zksh
