// ACL text: parses and formats ACLs as zkCli.sh does.
#include "client/acl_text.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace zksh {
namespace {

using Letter = std::pair<char, int>;
constexpr auto letters = std::to_array<Letter>({{'c', perm::create},
                                                {'d', perm::remove},
                                                {'r', perm::read},
                                                {'w', perm::write},
                                                {'a', perm::admin}});

/// As Java's String.split(","): drops empty parts at the end, but splits "" into one empty part.
std::vector<std::string_view> split_at_commas(std::string_view text) {
  const auto end = text.find_last_not_of(',') + 1;
  if (end == 0 && !text.empty()) return {};
  return split(text.substr(0, end), ',');
}

int usable_perms(std::string_view text, std::vector<std::string>& complaints) {
  int perms = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = decode_utf8(text, at).length;
    const auto* const known = std::ranges::find(letters, text[at], &Letter::first);
    if (known != letters.end())
      perms |= known->second;
    else
      complaints.push_back("Unknown perm type: " + std::string(text.substr(at, length)));
    at += length;
  }
  return perms;
}

std::string jute_text(std::string_view text) {
  constexpr std::string_view special("\0\n\r,}%", 6);
  std::string escaped = "'";
  for (const char c : text)
    if (special.find(c) == std::string_view::npos)
      escaped += c;
    else
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(c));
  return escaped;
}

}  // namespace

ParsedAcl parse_acl(std::string_view text) {
  ParsedAcl parsed;
  for (const auto part : split_at_commas(text)) {
    const auto first = part.find(':');
    const auto last = part.rfind(':');
    if (first == last) {  // no colon, or only one
      parsed.complaints.push_back(std::string(part) + " does not have the form scheme:id:perm");
      continue;
    }
    const int perms = usable_perms(part.substr(last + 1), parsed.complaints);
    parsed.acl.push_back({.perms = perms,
                          .scheme = std::string(part.substr(0, first)),
                          .id = std::string(part.substr(first + 1, last - first - 1))});
  }
  return parsed;
}

std::optional<int> perms_of(std::string_view text) {
  std::vector<std::string> complaints;
  const int perms = usable_perms(text, complaints);
  return text.empty() || !complaints.empty() ? std::nullopt : std::optional(perms);
}

std::string acl_text(const Acl& acl) {
  std::string text;
  for (const auto& [perms, scheme, id] : acl)
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : ",", scheme, id, perm_letters(perms));
  return text;
}

std::string perm_letters(int perms) {
  std::string text;
  for (const auto& [letter, bit] : letters)
    if ((perms & bit) != 0) text += letter;
  return text;
}

std::string acl_lines(const Acl& acl) {
  std::string lines;
  for (const auto& [perms, scheme, id] : acl)
    lines += fmt::format("{},{}\n: {}\n", jute_text(scheme), jute_text(id), perm_letters(perms));
  return lines;
}

}  // namespace zksh
