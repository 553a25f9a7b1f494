// TreeFields: the fields of a dump's lines.
#include "tree/tree_fields.h"

#include "base/byte_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/utf8.h"
#include "client/acl_text.h"
#include "client/node_path.h"
#include "tree/tree_text.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace zksh {
namespace {

constexpr std::string_view base64_mark = "base64:";
constexpr std::string_view quota_mark = "quota:";
constexpr std::int64_t longest_ttl = (std::int64_t{1} << 40) - 1;  // of the server

bool is_plain(char letter) { return letter >= ' ' && letter <= '~' && letter != '\\'; }

void append_bytes(std::string& text, std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte == '\n')
      text += "\\n";
    else if (byte == '\t')
      text += "\\t";
    else if (byte == '\\')
      text += "\\\\";
    else
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

/// `marks` are escaped as well. False when the bytes are no UTF-8: then the text is of no use.
bool append_escaped(std::string& text, std::string_view bytes, std::string_view marks) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::size_t end = at;
    while (end < bytes.size() && is_plain(bytes[end]) &&
           marks.find(bytes[end]) == std::string_view::npos)
      ++end;
    text += bytes.substr(at, end - at);
    at = end;
    if (at == bytes.size()) break;
    const auto step = decode_utf8(bytes, at);
    if (!step.valid) return false;
    const auto character = bytes.substr(at, step.length);
    if (step.length > 1 && escape_for_terminal(character) == character)
      text += character;
    else if (character == "\"")
      text += "\\\"";
    else
      append_bytes(text, character);
    at += step.length;
  }
  return true;
}

/// Texts that are mostly UTF-8, and must be written whatever they are.
std::string escaped_with(std::string_view bytes, std::string_view marks) {
  std::string text;
  if (append_escaped(text, bytes, marks)) return text;
  text.clear();
  for (const char byte : bytes) {
    if (is_plain(byte) && marks.find(byte) == std::string_view::npos)
      text += byte;
    else
      append_bytes(text, {&byte, 1});
  }
  return text;
}

std::int64_t number_of(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > most ||
      text.front() == '-')
    throw ValueError(fmt::format("\"{}\" is not a number from 0 to {}", text, most));
  return number;
}

/// The text up to the mark, which is taken off; all of it when there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const auto part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace

std::string escaped_field(std::string_view text) { return escaped_with(text, ""); }

std::string perms_field(int perms) {
  return (perms & ~perm::all) == 0 ? perm_letters(perms) : std::to_string(perms);
}

std::string acl_field(const Acl& acl) {
  std::string text;
  for (const auto& entry : acl)
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : ",", escaped_with(entry.scheme, ",:"),
                        escaped_with(entry.id, ","), perms_field(entry.perms));
  return text;
}

std::string data_field(const Data& data) {
  if (!data) return "null";
  std::string text = "\"";
  text.reserve(data->size() + 2);
  if (!append_escaped(text, *data, "\"")) return std::string(base64_mark) + encode_base64(*data);
  return text + '"';
}

std::string unescaped(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    const auto plain = text.substr(0, text.find('\\'));
    bytes += plain;
    text.remove_prefix(plain.size());
    if (text.empty()) break;
    const char letter = text.size() > 1 ? text[1] : '\0';
    std::size_t length = 2;
    if (letter == 'n') {
      bytes += '\n';
    } else if (letter == 't') {
      bytes += '\t';
    } else if (letter == '\\' || letter == '"') {
      bytes += letter;
    } else {
      length = 4;
      const auto byte = letter == 'x' && text.size() >= length && text[2] > ' ' && text[3] > ' '
                            ? decode_hex(text.substr(2, 2))
                            : std::nullopt;
      if (!byte)
        throw ValueError("a backslash stands before none of n, t, x with two digits, \" and \\");
      bytes += *byte;
    }
    text.remove_prefix(length);
  }
  return bytes;
}

NodeLife parse_life(std::string_view text) {
  constexpr std::string_view ttl_mark = "ttl=";
  if (text == "persistent") return {};
  if (text == "container") return {.kind = NodeKind::Container};
  if (text.starts_with(ttl_mark)) {
    const auto ttl = number_of(text.substr(ttl_mark.size()), longest_ttl);
    if (ttl > 0) return {.kind = NodeKind::Ttl, .ttl = ttl};
  }
  throw ValueError(fmt::format("\"{}\" is none of persistent, container and ttl=MILLISECONDS",
                               escaped_field(text)));
}

int parse_perms(std::string_view text) {
  if (!text.empty() && text.front() >= '0' && text.front() <= '9')
    return static_cast<int>(number_of(text, std::numeric_limits<std::int32_t>::max()));
  int perms = 0;
  for (const char letter : text) {
    int bit = 0;
    for (const int candidate : {perm::create, perm::remove, perm::read, perm::write, perm::admin})
      if (perm_letters(candidate).front() == letter) bit = candidate;
    if (bit == 0)
      throw ValueError(
          fmt::format("\"{}\" has other letters than c, d, r, w and a", escaped_field(text)));
    perms |= bit;
  }
  return perms;
}

Acl parse_acl_field(std::string_view text) {
  Acl acl;
  while (!text.empty()) {
    auto entry = take_until(text, ',');
    const auto last_colon = entry.rfind(':');
    const auto first_colon = entry.find(':');
    if (first_colon == 0 || first_colon == last_colon)
      throw ValueError(fmt::format("an entry of the ACL is not scheme:id:permissions: \"{}\"",
                                   escaped_field(entry)));
    acl.push_back({.perms = parse_perms(entry.substr(last_colon + 1)),
                   .scheme = unescaped(entry.substr(0, first_colon)),
                   .id = unescaped(entry.substr(first_colon + 1, last_colon - first_colon - 1))});
  }
  if (acl.empty()) throw ValueError("the ACL has no entry");
  return acl;
}

Data parse_data_field(std::string_view text) {
  if (text == "null") return std::nullopt;
  if (text.starts_with(base64_mark)) {
    auto bytes = decode_base64(text.substr(base64_mark.size()));
    if (!bytes) throw ValueError("the data are no base64");
    return bytes;
  }
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    throw ValueError("the data are none of null, \"text\" and base64:…");
  const auto inside = text.substr(1, text.size() - 2);
  for (auto at = inside.find('"'); at != std::string_view::npos; at = inside.find('"', at + 1)) {
    std::size_t backslashes = 0;
    while (backslashes < at && inside[at - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) throw ValueError("a quote within the data has no backslash");
  }
  return unescaped(inside);
}

QuotaLimits parse_limits(std::string_view text) {
  auto limits = no_limits;
  while (!text.empty()) {
    auto limit = take_until(text, ',');
    const auto key = take_until(limit, '=');
    const auto* const known = std::ranges::find(limit_keys, key);
    if (known == limit_keys.end())
      throw ValueError(fmt::format("\"{}\" is no limit of a quota", escaped_field(key)));
    limits.at(static_cast<std::size_t>(known - limit_keys.begin())) =
        number_of(limit, std::numeric_limits<std::int64_t>::max());
  }
  return limits;
}

std::string parse_relative(std::string path) {
  if (path == "/") return "";
  if (const auto flaw = path_flaw(path)) throw ValueError(escaped_field(*flaw));
  return path;
}

TreeRecord parse_tree_line(std::string_view line) {
  const auto path = take_until(line, '\t');
  const auto life = take_until(line, '\t');
  const auto acl = take_until(line, '\t');
  const auto data = take_until(line, '\t');
  if (data.empty())
    throw ValueError("a node has a path, a kind, an ACL and data, with tabs between");
  if (!line.empty() && (!line.starts_with(quota_mark) || line.find('\t') != std::string_view::npos))
    throw ValueError("behind the data stands something else than a quota");
  return {.path = parse_relative(unescaped(path)),
          .life = parse_life(life),
          .acl = parse_acl_field(acl),
          .data = parse_data_field(data),
          .limits = line.empty() ? no_limits : parse_limits(line.substr(quota_mark.size()))};
}

}  // namespace zksh
