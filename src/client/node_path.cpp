// Node paths: validates, joins and splits paths. Pure text, no server.
#include "client/node_path.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace zksh {
namespace {

// Java checks UTF-16 units, so every code point above U+FFFF is in D800–F8FF by its first
// surrogate.
bool is_forbidden(char32_t c) {
  return (c > 0 && c <= 0x1F) || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) ||
         c >= 0xFFF0;
}

/// Whether the last dot of a segment between slashes makes it "." or "..".
bool is_relative_segment(std::string_view path, std::size_t last_dot) {
  const bool ends_here = last_dot + 1 == path.size() || path[last_dot + 1] == '/';
  if (!ends_here) return false;
  return path[last_dot - 1] == '/' || (path[last_dot - 1] == '.' && path[last_dot - 2] == '/');
}

/// An exception's text ends at its first NUL byte, so it must not contain one.
std::string with_visible_nulls(std::string_view path) {
  std::string text(path);
  for (auto at = text.find('\0'); at != std::string::npos; at = text.find('\0', at))
    text.replace(at, 1, "\\x00");
  return text;
}

std::optional<std::string> first_offence(std::string_view path) {
  std::size_t index = 1;  // in UTF-16 units: all valid code points take one
  for (std::size_t at = 1; at < path.size(); ++index) {
    const auto step = decode_utf8(path, at);
    const char32_t c = step.code_point;
    if (c == 0) return fmt::format("null character not allowed @{}", index);
    if (c == '/' && path[at - 1] == '/') return fmt::format("empty node name specified @{}", index);
    if (c == '.' && is_relative_segment(path, at))
      return fmt::format("relative paths not allowed @{}", index);
    // Java reads invalid UTF-8 as U+FFFD, which is forbidden too.
    if (is_forbidden(c)) return fmt::format("invalid character @{}", index);
    at += step.length;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> path_flaw(std::string_view path) {
  if (path.empty()) return "Path length must be > 0";
  if (path.front() != '/') return "Path must start with / character";
  if (path.size() == 1) return std::nullopt;
  if (path.back() == '/') return "Path must not end with / character";
  const auto offence = first_offence(path);
  if (!offence) return std::nullopt;
  return fmt::format("Invalid path string \"{}\" caused by {}", with_visible_nulls(path), *offence);
}

void check_path(std::string_view path, bool sequential) {
  // As PathUtils does, checks and quotes the path with a digit appended.
  const auto flaw = sequential ? path_flaw(std::string(path) + '1') : path_flaw(path);
  if (flaw) throw PathError(*flaw);
}

std::string absolute_path(std::string_view base, std::string_view path) {
  if (path.empty()) return {};
  const bool relative = path.front() != '/';
  std::string absolute(relative && base != "/" ? base : "");
  for (const auto name : split(relative ? path : path.substr(1), '/')) {
    if (name == "..")
      absolute.resize(std::min(absolute.size(), absolute.rfind('/')));
    else if (name != ".")
      absolute.append("/").append(name);
  }
  return absolute.empty() ? "/" : absolute;
}

std::string join_path(std::string_view parent, std::string_view child) {
  std::string path(parent);
  if (path.empty() || path.back() != '/') path += '/';
  path += child;
  return path;
}

std::string whole_path(const std::string& chroot, const std::string& path) {
  if (chroot.empty()) return path;
  return path == "/" ? chroot : chroot + path;
}

std::string_view parent_path(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::optional<std::int32_t> sequence_number(std::string_view name) {
  constexpr std::size_t digits = 10;
  if (name.size() < digits || name[name.size() - digits] == '-') return std::nullopt;
  return number_in<std::int32_t>(name.substr(name.size() - digits));
}

}  // namespace zksh
