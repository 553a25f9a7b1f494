// Complete values: completes values by their kind.
#include "shell/complete_values.h"

#include "base/file.h"
#include "client/node_path.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

Candidates beginning_with(std::string_view prefix, std::vector<std::string> texts) {
  std::erase_if(texts, [&](const std::string& text) { return !text.starts_with(prefix); });
  return Candidates(std::move(texts));
}

Candidates node_paths(const std::string& word, const CompletionSources& sources) {
  if (word.empty() && sources.current == "/") return Candidates({"/"});
  const auto directory = word.substr(0, word.rfind('/') + 1);
  const auto prefix = word.substr(directory.size());
  if (prefix == "..") return Candidates({word + '/'});
  if (!sources.nodes || directory.find("//") != std::string::npos) return {};
  auto parent = directory.empty() ? sources.current : absolute_path(sources.current, directory);
  if (parent.size() > 1 && parent.ends_with('/')) parent.pop_back();
  const auto nodes = sources.nodes(parent, prefix);
  Candidates candidates;
  candidates.count = nodes.count;
  candidates.common = directory + nodes.common;
  candidates.awaited = nodes.awaited;
  candidates.directory = directory.size();
  candidates.first.reserve(nodes.first.size());
  for (const auto& node : nodes.first)
    candidates.first.push_back({.text = directory + node.name + (node.has_children ? "/" : ""),
                                .mark = node.is_ephemeral ? '*' : '\0',
                                .open = node.has_children || !node.known});
  return candidates;
}

Candidates held_locks(const std::string& word, const CompletionSources& sources) {
  if (sources.held_locks)
    if (auto locks = beginning_with(word, sources.held_locks()); locks.count > 0) return locks;
  return word.empty() ? Candidates() : node_paths(word, sources);
}

/// Local files. Keeps the directory as typed, including `~/`.
std::vector<std::string> files(const std::string& word) {
  const auto typed = word.substr(0, word.rfind('/') + 1);
  const auto directory = typed.empty() ? std::string(".") : with_home(typed);
  const auto prefix = word.substr(typed.size());
  std::vector<std::string> names;
  std::error_code problem;
  std::filesystem::directory_iterator entry(directory, problem);
  for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(prefix) || (prefix.empty() && name.front() == '.')) continue;
    std::error_code unknown;
    names.push_back(typed + name + (entry->is_directory(unknown) ? "/" : ""));
  }
  return names;
}

Candidates file_candidates(const std::string& word) {
  Candidates candidates(files(word));
  candidates.directory = word.rfind('/') + 1;
  return candidates;
}

/// "@FILE": a value that is read from a file.
Candidates files_behind_at(const std::string& word) {
  auto candidates = file_candidates(word.substr(1));
  candidates.prepend("@");
  return candidates;
}

/// An ACL scheme, and its id if that is always the same.
struct AclScheme {
  std::string_view name;
  std::string_view id;
};
constexpr std::array<AclScheme, 7> acl_schemes{{{.name = "world", .id = "anyone:"},
                                                {.name = "auth", .id = ":"},
                                                {.name = "digest", .id = ""},
                                                {.name = "ip", .id = ""},
                                                {.name = "sasl", .id = ""},
                                                {.name = "super", .id = ""},
                                                {.name = "x509", .id = ""}}};

/// Completes an ACL entry part by part: SCHEME:ID:PERMISSIONS.
Candidates acl_entry(const std::string& word) {
  std::vector<std::string> texts;
  const auto colon = word.find(':');
  if (colon == std::string::npos || word.rfind(':') == colon) {
    for (const auto& scheme : acl_schemes) {
      texts.push_back(std::string(scheme.name) + ':');
      if (colon != std::string::npos) texts.back() += scheme.id;
    }
    auto candidates = beginning_with(word, std::move(texts));
    // Other ids cannot be guessed.
    return candidates.count == 1 && candidates.common == word ? Candidates() : candidates;
  }
  constexpr std::string_view permissions = "cdrwa";
  const auto given = std::string_view(word).substr(word.rfind(':') + 1);
  if (given.empty()) texts.push_back(word + std::string(permissions));
  for (const char letter : permissions)
    if (given.find(letter) == std::string_view::npos) texts.push_back(word + letter);
  Candidates candidates(std::move(texts));
  candidates.directory = word.rfind(':') + 1;
  return candidates;
}

Candidates acl_list(const std::string& word) {
  const auto done = word.rfind(',') + 1;
  auto candidates = acl_entry(word.substr(done));
  candidates.prepend(word.substr(0, done));
  return candidates;
}

}  // namespace

Candidates complete_value(const Argument& argument, const std::string& word,
                          const CompletionSources& sources) {
  switch (argument.kind) {
    case Argument::Kind::NodePath:
    case Argument::Kind::NodePaths:
      return node_paths(word, sources);
    case Argument::Kind::HeldLocks:
      return held_locks(word, sources);
    case Argument::Kind::Job:
      return sources.jobs ? beginning_with(word, sources.jobs()) : Candidates();
    case Argument::Kind::AclList:
      return acl_list(word);
    case Argument::Kind::File:
      return file_candidates(word);
    case Argument::Kind::Text:
      if (argument.positional() && word.starts_with('@')) return files_behind_at(word);
      return beginning_with(word, argument.choices);
    default:
      return beginning_with(word, argument.choices);
  }
}

Candidates complete_program(const std::string& word, bool first) {
  const char* const path = std::getenv("PATH");
  if (!first || !path || word.find('/') != std::string::npos) return file_candidates(word);
  if (word.empty()) return {};  // there are thousands
  std::set<std::string> names;
  for (std::string_view left = path; !left.empty();) {
    const auto end = left.find(':');
    const auto directory = std::string(left.substr(0, end)) + '/';
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    for (const auto& file : files(directory + word))
      if (!file.ends_with('/') && access(file.c_str(), X_OK) == 0)
        names.insert(file.substr(directory.size()));
  }
  return Candidates({names.begin(), names.end()});
}

}  // namespace zksh
