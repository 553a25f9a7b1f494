// ACL text: parses and formats ACLs as zkCli.sh does.
#include "client/acl_text.h"

#include "base/byte_text.h"
#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
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

/// "user:BASE64", as digest_id makes it of SHA-1's 20 bytes.
bool is_digest_id(std::string_view id) {
  const auto colon = id.find(':');
  if (colon == std::string_view::npos || !id.ends_with('=')) return false;
  const auto hash = decode_base64(id.substr(colon + 1));
  return hash && hash->size() == 20;
}

/// The addresses that begin with these bits, of 32 or 128.
struct Network {
  std::array<unsigned char, 16> bytes{};
  int most = 0;
  int bits = 0;
};

/// Parses an address, or an address, a slash and a number of bits.
std::optional<Network> network_of(std::string_view id) {
  constexpr int bits_of_ipv4 = 32;
  constexpr int bits_of_ipv6 = 128;
  const auto slash = id.find('/');
  const std::string address(id.substr(0, slash));
  Network network;
  if (inet_pton(AF_INET, address.c_str(), network.bytes.data()) == 1)
    network.most = bits_of_ipv4;
  else if (inet_pton(AF_INET6, address.c_str(), network.bytes.data()) == 1)
    network.most = bits_of_ipv6;
  else
    return std::nullopt;
  network.bits = network.most;
  if (slash == std::string_view::npos) return network;
  const auto bits = number_in<int>(id.substr(slash + 1));
  if (!bits || *bits < 0 || *bits > network.most) return std::nullopt;
  network.bits = *bits;
  return network;
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
    const auto before = parsed.complaints.size();
    if (first == last) {  // no colon, or only one
      parsed.complaints.push_back(std::string(part) + " does not have the form scheme:id:perm");
      continue;
    }
    const int perms = usable_perms(part.substr(last + 1), parsed.complaints);
    if (parsed.complaints.size() > before) parsed.misspelt.emplace_back(part);
    parsed.acl.push_back({.perms = perms,
                          .scheme = std::string(part.substr(0, first)),
                          .id = std::string(part.substr(first + 1, last - first - 1))});
  }
  return parsed;
}

std::optional<std::string> acl_flaw(const AclEntry& entry) {
  const auto& [perms, scheme, id] = entry;
  const auto user = user_of(entry);
  const auto named = scheme + ':' + user;
  if (perms == 0)
    return fmt::format("{} is given no permission; permissions are letters of cdrwa", named);
  if (scheme == "digest" && !is_digest_id(id))
    return fmt::format(
        "{0}: nobody can have this id, whose last part must be the 28 characters that `digest {1}` "
        "prints; {0}::{2} asks for the password and makes them",
        named, user, perm_letters(perms));
  if (scheme == "ip" && !network_of(id))
    return fmt::format("{} is neither an address nor ADDRESS/BITS, such as ip:10.0.0.0/8", named);
  return std::nullopt;
}

bool is_in_network(std::string_view address, std::string_view id) {
  constexpr int byte = 8;
  const auto one = network_of(address);
  const auto network = network_of(id);
  if (!one || !network || one->most != network->most) return false;
  for (int bit = 0; bit < network->bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / byte);
    const unsigned mask = 0x80U >> static_cast<unsigned>(bit % byte);
    if (((one->bytes[at] ^ network->bytes[at]) & mask) != 0) return false;
  }
  return true;
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

Acl without_hashes(Acl acl) {
  for (auto& entry : acl)
    if (const auto colon = entry.id.find(':'); entry.scheme == "digest" && colon < entry.id.size())
      entry.id.replace(colon + 1, std::string::npos, "x");
  return acl;
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
