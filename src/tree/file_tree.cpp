// FileTree: maps a subtree's values to a directory of files, and back.
#include "tree/file_tree.h"

#include "base/error.h"
#include "base/number.h"
#include "client/node_path.h"
#include "node/value.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <sys/stat.h>

namespace zksh {
namespace {

namespace fs = std::filesystem;

/// The file that holds the value of the node that its directory represents.
constexpr std::string_view own_value_file = ".value";

/// The byte written as %HH at `at`; nullopt if there is none, or no node name can contain it.
std::optional<char> escaped_byte(std::string_view text, std::size_t at) {
  if (text[at] != '%') return std::nullopt;
  const auto digits = text.substr(at + 1, 2);
  const auto byte = number_in<std::uint8_t>(digits, 16);
  if (digits.size() < 2 || !byte || *byte == '/' || *byte == 0) return std::nullopt;
  return static_cast<char>(*byte);
}

void collect(const fs::path& file, const std::string& node, NodeFiles& files);

void collect_directory(const fs::path& directory, const std::string& node, NodeFiles& files) {
  const auto value = directory / own_value_file;
  std::error_code problem;
  const bool has_value = fs::is_regular_file(value, problem);
  files.nodes.push_back(
      {.path = node, .file = has_value ? std::optional(value.native()) : std::nullopt});
  std::map<std::string, fs::path> entries;  // by node name
  for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const auto name = entry->path().filename().native();
    if (name.starts_with('.')) {
      files.hidden += name != own_value_file ? 1 : 0;
      continue;
    }
    const auto [other, added] = entries.try_emplace(node_name_of(name), entry->path());
    if (added) continue;
    const auto& [first, second] = std::minmax(other->second, entry->path());
    throw ValueError(fmt::format("{} and {} are the same node", first.native(), second.native()));
  }
  if (problem)
    throw ValueError(fmt::format("cannot read {}: {}", directory.native(), problem.message()));
  for (const auto& [name, path] : entries) collect(path, join_path(node, name), files);
}

void collect(const fs::path& file, const std::string& node, NodeFiles& files) {
  std::error_code problem;
  const auto status = fs::status(file, problem);
  if (problem)
    throw ValueError(fmt::format("cannot read {}: {}", file.native(), problem.message()));
  if (const auto flaw = path_flaw(node))
    throw ValueError(fmt::format("{} cannot be a node: {}", file.native(), *flaw));
  if (fs::is_regular_file(status))
    files.nodes.push_back({.path = node, .file = file.native()});
  else if (fs::is_directory(status) && !fs::is_symlink(fs::symlink_status(file, problem)))
    collect_directory(file, node, files);
  else
    throw ValueError(fmt::format("{} is neither a file nor a directory", file.native()));
}

}  // namespace

std::string file_name_of(std::string_view node_name) {
  std::string name;
  for (const char c : node_name)
    if (c == '%')
      name += "%25";
    else if (c == '.' && name.empty())
      name += "%2E";
    else
      name += c;
  return name;
}

std::string node_name_of(std::string_view file_name) {
  std::string name;
  for (std::size_t at = 0; at < file_name.size();) {
    const auto byte = escaped_byte(file_name, at);
    name += byte.value_or(file_name[at]);
    at += byte ? 3 : 1;
  }
  return name;
}

void write_node_file(const std::string& path, const Data& data, bool has_children) {
  if (data && !has_children) return write_private_file(path, *data);
  if (mkdir(path.c_str(), S_IRWXU) != 0)
    throw Error(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  if (data) write_private_file(fmt::format("{}/{}", path, own_value_file), *data);
}

NodeFiles files_below(const std::string& file, const std::string& top) {
  NodeFiles files;
  collect(file, top, files);
  return files;
}

}  // namespace zksh
