// LockName: parses and generates the names of contenders' nodes.
#include "recipes/lock_name.h"

#include "base/error.h"
#include "base/number.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/random.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::array tags{
    std::pair{std::string_view("__READ__"), ContenderTag::Read},
    std::pair{std::string_view("__WRIT__"), ContenderTag::Write},
    std::pair{std::string_view("__rlock__"), ContenderTag::KazooRead},
    std::pair{std::string_view("__lock__"), ContenderTag::KazooLock},
    std::pair{std::string_view("lock-"), ContenderTag::Lock},
    std::pair{std::string_view("lease-"), ContenderTag::Lease},
    std::pair{std::string_view("read-"), ContenderTag::DocRead},
    std::pair{std::string_view("write-"), ContenderTag::DocWrite},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool all_digits(std::string_view text) { return std::ranges::all_of(text, is_digit); }

struct Numbered {
  std::string_view rest;
  std::int32_t number;
};

/// Parses the last `length` characters as a number; nullopt unless %010d would write it so.
std::optional<Numbered> number_at_end(std::string_view name, std::size_t length) {
  if (name.size() < length) return std::nullopt;
  const auto text = name.substr(name.size() - length);
  const auto number = number_in<std::int32_t>(text);
  if (!number || (length == 11 && text.starts_with("-0"))) return std::nullopt;
  return Numbered{name.substr(0, name.size() - length), *number};
}

/// Whether it is x- and a session id: sixteen hexadecimal digits (zoo_lock.c), or a decimal number
/// (Java).
bool is_session_prefix(std::string_view prefix) {
  if (!prefix.starts_with("x-") || !prefix.ends_with('-') || prefix.size() < 4) return false;
  auto id = prefix.substr(2, prefix.size() - 3);
  if (id.size() == 16 && std::ranges::all_of(id, is_hex)) return true;
  if (id.starts_with('-')) id.remove_prefix(1);
  return !id.empty() && all_digits(id);
}

bool is_uuid(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return text.size() == 36;
}

/// The guid in "_c_GUID-" of Curator's protected nodes, or a bare one as kazoo has it; empty if
/// there is none.
std::string_view guid_of(std::string_view prefix) {
  if (prefix.starts_with("_c_")) {
    const auto rest = prefix.substr(3);
    if (is_uuid(rest.substr(0, 36))) return rest.substr(0, 36);
    if (is_hex32(rest.substr(0, 32))) return rest.substr(0, 32);
  }
  return is_hex32(prefix.substr(0, 32)) ? prefix.substr(0, 32) : std::string_view();
}

struct Parts {
  std::string_view prefix;
  ContenderTag tag;
  std::int32_t sequence;
};

std::optional<Parts> take_apart_at(const Numbered& number) {
  const auto rest = number.rest;
  for (const auto& [word, tag] : tags)
    if (rest.ends_with(word))
      return Parts{rest.substr(0, rest.size() - word.size()), tag, number.number};
  if (is_session_prefix(rest)) return Parts{rest, ContenderTag::Session, number.number};
  return std::nullopt;
}

std::optional<Parts> take_apart(std::string_view name) {
  // The dash of "lock-" is not a minus sign, so a tag right before the number decides.
  const auto shorter = number_at_end(name, 10);
  if (shorter)
    if (const auto parts = take_apart_at(*shorter)) return parts;
  const auto longer = number_at_end(name, 11);
  if (longer)
    if (const auto parts = take_apart_at(*longer)) return parts;
  const auto& number = shorter ? shorter : longer;
  // A guid alone is a holder of kazoo's Semaphore; one in a hundred ends in ten digits by chance.
  if (!number || is_hex32(name)) return std::nullopt;
  return Parts{number->rest, ContenderTag::Unknown, number->number};
}

}  // namespace

std::optional<LockName> take_lock_name(std::string&& name) {
  const std::string_view text = name;
  const auto parts = take_apart(text);
  if (!parts) return std::nullopt;
  auto key = guid_of(parts->prefix);
  if (key.empty()) key = text;
  LockName parsed{.text = {},
                  .tag = parts->tag,
                  .sequence = parts->sequence,
                  .prefix_size = parts->prefix.size(),
                  .key_begin = static_cast<std::size_t>(key.data() - text.data()),
                  .key_size = key.size()};
  parsed.text = std::move(name);
  return parsed;
}

std::optional<LockName> parse_lock_name(std::string_view name) {
  return take_lock_name(std::string(name));
}

std::optional<std::int32_t> lock_sequence(std::string_view name) {
  const auto parts = take_apart(name);
  if (!parts) return std::nullopt;
  return parts->sequence;
}

LockMode LockName::mode() const {
  const bool reads =
      tag == ContenderTag::Read || tag == ContenderTag::KazooRead || tag == ContenderTag::DocRead;
  return reads ? LockMode::Shared : LockMode::Exclusive;
}

Library LockName::made_by() const {
  switch (tag) {
    case ContenderTag::KazooRead:
    case ContenderTag::KazooLock:
      return Library::Kazoo;
    case ContenderTag::Lock:
      // The Go library's guids have no dashes; those of zksh and Curator do.
      return text.starts_with("_c_") && key_size == 32 ? Library::Go : Library::Curator;
    case ContenderTag::Read:
    case ContenderTag::Write:
    case ContenderTag::Lease:
      return Library::Curator;
    case ContenderTag::DocRead:
    case ContenderTag::DocWrite:
      return Library::Documentation;
    case ContenderTag::Session:
      return prefix_size == 19 ? Library::CLock : Library::JavaWriteLock;
    case ContenderTag::Unknown:
      break;
  }
  return Library::Unknown;
}

std::string_view library_name(Library library) {
  static constexpr NamedValues<Library, 8> names{{{"zksh", Library::Zksh},
                                                  {"Curator", Library::Curator},
                                                  {"kazoo", Library::Kazoo},
                                                  {"go-zookeeper", Library::Go},
                                                  {"zoo_lock.c", Library::CLock},
                                                  {"WriteLock", Library::JavaWriteLock},
                                                  {"recipe", Library::Documentation},
                                                  {"unknown", Library::Unknown}}};
  return name_of(names, library);
}

bool is_hex32(std::string_view text) {
  return text.size() == 32 && std::ranges::all_of(text, is_hex);
}

std::string fresh_guid(bool joins_many) {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(fmt::format("no random numbers: {}", std::strerror(errno)));
  const auto version = joins_many ? 0x80U : 0x40U;
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0fU) | version);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3fU) | 0x80U);  // variant 1 of RFC 4122
  auto guid = fmt::format("{:02x}", fmt::join(bytes, ""));
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) guid.insert(dash, 1, '-');
  return guid;
}

bool joins_many(const LockName& name) {
  // The Go library uses any 16 bytes as a guid.
  if (name.made_by() == Library::Go) return false;
  const auto key = name.key();
  if (key.size() == 32) return is_hex32(key) && key[12] == '8';
  return is_uuid(key) && key[14] == '8';
}

std::vector<std::string> contender_prefixes(Compat compat, LockMode mode, bool read_write,
                                            std::string_view guid) {
  const bool shared = mode == LockMode::Shared;
  const auto named = [&](std::string_view tag) { return fmt::format("_c_{}-{}", guid, tag); };
  const auto* const side = shared ? "__READ__" : "__WRIT__";
  if (compat == Compat::Curator) return {named(read_write || shared ? side : "lock-")};
  if (compat == Compat::Kazoo) {
    std::string hex(guid);
    std::erase(hex, '-');
    return {hex + (shared ? "__rlock__" : "__lock__")};
  }
  // The order and the dashes matter: zoo_lock.c crashes on names without a dash. kazoo's Lock
  // ignores __rlock__, so only __lock__ keeps it out, and kazoo's readers with it.
  return {named("lock-"), named(side), named("__lock__")};
}

}  // namespace zksh
