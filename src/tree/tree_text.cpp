// TreeText: the format of `dump`: a subtree as lines of text or JSON. zksh-tree(5) describes it.
#include "tree/tree_text.h"

#include "base/byte_text.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/line_reader.h"
#include "base/number.h"
#include "base/text.h"
#include "client/acl_text.h"
#include "client/node_path.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::string_view tree_format = "zksh-tree";
constexpr int tree_version = 1;

std::string parse_text_header(std::string_view line) {
  const auto start = fmt::format("{}\t", tree_format);
  if (!line.starts_with(start)) throw ValueError("this is not the output of `dump`");
  const auto version = fmt::format("{}{}\t", start, tree_version);
  if (!line.starts_with(version))
    throw ValueError(
        fmt::format("unknown format version; this zksh reads version {}", tree_version));
  return unescaped(line.substr(version.size()));
}

constexpr std::string_view base64_mark = "base64:";
constexpr std::string_view quota_mark = "quota:";
constexpr std::int64_t longest_ttl = (std::int64_t{1} << 40) - 1;  // the server's limit

bool is_plain(char letter) { return letter >= ' ' && letter <= '~' && letter != '\\'; }

void append_escape(std::string& text, char byte) {
  if (byte == '\n')
    text += "\\n";
  else if (byte == '\t')
    text += "\\t";
  else if (byte == '\\' || byte == '"')
    text += {'\\', byte};
  else
    fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(byte));
}

/// Escapes a text, and also `marks` in it. In a text that is not UTF-8, only ASCII stays as it is.
std::string escaped_with(std::string_view bytes, std::string_view marks) {
  const bool characters = is_utf8(bytes);
  const auto stays = [&](char byte) {
    return is_plain(byte) && marks.find(byte) == std::string_view::npos;
  };
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto plain = std::ranges::find_if_not(bytes, stays) - bytes.begin();
    text += bytes.substr(0, static_cast<std::size_t>(plain));
    bytes.remove_prefix(static_cast<std::size_t>(plain));
    if (bytes.empty()) break;
    const auto character = bytes.substr(0, characters ? decode_utf8(bytes, 0).length : 1);
    if (character.size() > 1 && escape_for_terminal(character) == character)
      text += character;
    else
      for (const char byte : character) append_escape(text, byte);
    bytes.remove_prefix(character.size());
  }
  return text;
}

std::int64_t number_of(std::string_view text, std::int64_t most) {
  const auto number = number_in<std::int64_t>(text);
  if (!number || *number > most || text.front() == '-')
    throw ValueError(fmt::format("\"{}\" is not a number from 0 to {}", text, most));
  return *number;
}

/// Removes and returns the text up to the mark, or all if there is none; also removes the mark.
std::string_view take_until(std::string_view& text, char mark) {
  const auto part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Formats permissions: "cdrwa", or a number.
std::string perms_field(int perms) {
  return (perms & ~perm::all) == 0 ? perm_letters(perms) : std::to_string(perms);
}

/// Parses letters of a permission mask, or a number for one without letters.
int parse_perms(std::string_view text) {
  if (!text.empty() && text.front() >= '0' && text.front() <= '9')
    return static_cast<int>(number_of(text, std::numeric_limits<std::int32_t>::max()));
  const auto perms = text.empty() ? std::optional(0) : perms_of(text);
  if (!perms)
    throw ValueError(fmt::format("\"{}\": permissions are letters of cdrwa", escaped_field(text)));
  return *perms;
}

NodeLife parse_life(std::string_view text) {
  constexpr std::string_view ttl_mark = "ttl=";
  if (text == "persistent") return {};
  if (text == "container") return {.kind = NodeKind::Container};
  if (text.starts_with(ttl_mark)) {
    const auto ttl = number_of(text.substr(ttl_mark.size()), longest_ttl);
    if (ttl > 0) return {.kind = NodeKind::Ttl, .ttl = ttl};
  }
  throw ValueError(
      fmt::format("\"{}\" is not persistent, container or ttl=MILLISECONDS", escaped_field(text)));
}

std::string path_field(const std::string& path) { return path.empty() ? "/" : escaped_field(path); }

/// Checks a record's path, and returns "" for "/", else the path.
std::string parse_relative(std::string path) {
  if (path == "/") return "";
  if (const auto flaw = path_flaw(path)) throw ValueError(escaped_field(*flaw));
  return path;
}

using Value = nlohmann::json;

Json acl_entry_json(const AclEntry& entry) {
  return Json::object()
      .set("scheme", entry.scheme)
      .set("id", entry.id)
      .set("perms", perms_field(entry.perms));
}

const Value& field(const Value& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw ValueError(fmt::format("\"{}\" is missing", name));
  return *found;
}

/// A text, or the bytes of {"base64": …}.
std::string bytes_of(const Value& value, const char* name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("base64") && value["base64"].is_string())
    if (auto bytes = decode_base64(value["base64"].get<std::string>())) return *std::move(bytes);
  throw ValueError(fmt::format("\"{}\" is neither a string nor {{\"base64\": …}}", name));
}

std::int64_t number_of(const Value& value, const char* name) {
  if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<std::int64_t>::max())
    throw ValueError(fmt::format("\"{}\" is not a whole number", name));
  return value.get<std::int64_t>();
}

NodeLife life_of_line(const Value& line) {
  const auto kind = bytes_of(field(line, "kind"), "kind");
  if (kind != "ttl") return parse_life(kind.starts_with("ttl") ? "" : kind);
  return parse_life(fmt::format("ttl={}", number_of(field(line, "ttl"), "ttl")));
}

Acl acl_of(const Value& list) {
  if (!list.is_array() || list.empty()) throw ValueError("\"acl\" is not a list, or is empty");
  Acl acl;
  acl.reserve(list.size());
  for (const auto& entry : list) {
    if (!entry.is_object()) throw ValueError("an entry of \"acl\" is not an object");
    acl.push_back({.perms = parse_perms(bytes_of(field(entry, "perms"), "perms")),
                   .scheme = bytes_of(field(entry, "scheme"), "scheme"),
                   .id = bytes_of(field(entry, "id"), "id")});
    if (acl.back().scheme.empty()) throw ValueError("an entry of \"acl\" has no scheme");
  }
  return acl;
}

QuotaLimits limits_of(const Value& line) {
  auto limits = no_limits;
  const auto quota = line.find("quota");
  if (quota == line.end() || quota->is_null()) return limits;
  if (!quota->is_object()) throw ValueError("\"quota\" is not an object");
  for (const auto& [key, value] : quota->items()) {
    const auto one = parse_limits(fmt::format("{}={}", key, number_of(value, "quota")));
    for (std::size_t i = 0; i < limits.size(); ++i)
      if (one.at(i) >= 0) limits.at(i) = one.at(i);
  }
  return limits;
}

/// Parses a node's line in the text format.
TreeRecord parse_tree_line(std::string_view line) {
  const auto path = take_until(line, '\t');
  const auto life = take_until(line, '\t');
  const auto acl = take_until(line, '\t');
  const auto data = take_until(line, '\t');
  if (data.empty()) throw ValueError("expected path, kind, ACL and data, separated by tabs");
  if (!line.empty() && (!line.starts_with(quota_mark) || line.find('\t') != std::string_view::npos))
    throw ValueError("unexpected text after the data");
  return {.path = parse_relative(unescaped(path)),
          .life = parse_life(life),
          .acl = parse_acl_field(acl),
          .data = parse_data_field(data),
          .limits = line.empty() ? no_limits : parse_limits(line.substr(quota_mark.size()))};
}

/// Returns the descriptor.
int open_file(const std::string& name) {
  const int fd = open(with_home(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw ValueError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  return fd;
}

}  // namespace

std::string tree_header(TreeFormat format, const std::string& top) {
  if (format == TreeFormat::JsonLines) {
    const auto json =
        Json::object().set("format", tree_format).set("version", tree_version).set("path", top);
    return json.text() + '\n';
  }
  return fmt::format("{}\t{}\t{}\n", tree_format, tree_version, escaped_field(top));
}

std::string tree_line(TreeFormat format, const TreeRecord& record) {
  if (format == TreeFormat::JsonLines) return tree_json_line(record);
  auto line = fmt::format("{}\t{}\t{}\t{}", path_field(record.path), life_text(record.life),
                          acl_field(record.acl), data_field(record.data));
  if (record.limits != no_limits)
    line += fmt::format("\t{}{}", quota_mark, limits_text(record.limits));
  return line + '\n';
}

std::string tree_end(TreeFormat format, std::size_t ephemerals) {
  if (format == TreeFormat::JsonLines) {
    auto json = Json::object().set("end", true);
    if (ephemerals > 0) json.set("ephemeralsLeftOut", ephemerals);
    return json.text() + '\n';
  }
  if (ephemerals == 0) return "end\n";
  return fmt::format("# {} left out\nend\n", counted_were(ephemerals, "ephemeral node"));
}

TreeReader::TreeReader(NextLine next_line, std::string name)
    : next_line_(std::move(next_line)), name_(std::move(name)) {
  read_header();
  read_ahead();
}

void TreeReader::refuse(const std::string& flaw) const {
  throw ValueError(fmt::format("{}:{}: {}", name_, number_, flaw));
}

/// Adds the place to the errors that `body` throws.
template <class Body>
void TreeReader::placed(Body&& body) {
  try {
    body();
  } catch (const ValueError& error) {
    refuse(error.what());
  }
}

/// Reads the next line that is neither empty nor a comment.
bool TreeReader::read_line() {
  do {
    if (!next_line_(line_)) return false;
    ++number_;
    if (line_.size() > longest_line)
      refuse(fmt::format("the line is longer than {} bytes", longest_line));
  } while (line_.empty() || line_.front() == '#');
  return true;
}

void TreeReader::read_header() {
  if (!read_line()) {
    ++number_;
    refuse("the file is empty");
  }
  placed([&] {
    if (line_.front() == '{') {
      format_ = TreeFormat::JsonLines;
      auto header = parse_tree_json(line_);
      if (!header.top) throw ValueError("the first line is not that of a dump");
      top_ = *std::move(header.top);
    } else {
      top_ = parse_text_header(line_);
    }
    check_path(top_);
  });
}

/// nullopt at the final line.
std::optional<TreeRecord> TreeReader::read_record() {
  if (!read_line())
    throw ValueError(fmt::format("{}: truncated after line {}; the last line of a dump is missing",
                                 name_, number_));
  std::optional<TreeRecord> record;
  placed([&] {
    if (format_ == TreeFormat::Text) {
      if (line_ != "end") record = parse_tree_line(line_);
      return;
    }
    auto parsed = parse_tree_json(line_);
    if (parsed.top) throw ValueError("a second first line");
    record = std::move(parsed.record);
  });
  return record;
}

void TreeReader::check_order(const std::string& path) {
  if (!any_ && !path.empty()) refuse("the first node is not the top, /");
  const auto parent = path.substr(0, path.rfind('/'));
  if (any_ && !stands_before(last_path_, path))
    refuse(
        fmt::format("{} after {}: nodes must be sorted", path_field(path), path_field(last_path_)));
  if (any_ && !is_within(last_path_, parent))
    refuse(fmt::format("{} has no parent", escaped_field(path)));
  any_ = true;
  last_path_ = path;
}

void TreeReader::read_ahead() {
  ahead_ = read_record();
  if (ahead_) return check_order(ahead_->path);
  ended_ = true;
  if (!any_) refuse("there are no nodes");
  if (read_line()) refuse("there is text after the last line");
}

std::optional<TreeRecord> TreeReader::next() {
  auto record = std::exchange(ahead_, std::nullopt);
  if (!ended_) read_ahead();
  return record;
}

std::string escaped_field(std::string_view text) { return escaped_with(text, ""); }

std::string acl_field(const Acl& acl) {
  std::string text;
  for (const auto& entry : acl)
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : ",", escaped_with(entry.scheme, ",:"),
                        escaped_with(entry.id, ","), perms_field(entry.perms));
  return text;
}

std::string data_field(const Data& data) {
  if (!data) return "null";
  if (!is_utf8(*data)) return std::string(base64_mark) + encode_base64(*data);
  return '"' + escaped_with(*data, "\"") + '"';
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
      const auto byte = letter == 'x' && text.size() >= length
                            ? number_in<std::uint8_t>(text.substr(2, 2), 16)
                            : std::nullopt;
      if (!byte)
        throw ValueError(
            "invalid escape: after a backslash only n, t, \", \\ and x with two digits are "
            "allowed");
      bytes += static_cast<char>(*byte);
    }
    text.remove_prefix(length);
  }
  return bytes;
}

Acl parse_acl_field(std::string_view text) {
  Acl acl;
  while (!text.empty()) {
    auto entry = take_until(text, ',');
    const auto last_colon = entry.rfind(':');
    const auto first_colon = entry.find(':');
    if (first_colon == 0 || first_colon == last_colon)
      throw ValueError(
          fmt::format("an ACL entry is not scheme:id:permissions: \"{}\"", escaped_field(entry)));
    acl.push_back({.perms = parse_perms(entry.substr(last_colon + 1)),
                   .scheme = unescaped(entry.substr(0, first_colon)),
                   .id = unescaped(entry.substr(first_colon + 1, last_colon - first_colon - 1))});
  }
  if (acl.empty()) throw ValueError("the ACL is empty");
  return acl;
}

Data parse_data_field(std::string_view text) {
  if (text == "null") return std::nullopt;
  if (text.starts_with(base64_mark)) {
    auto bytes = decode_base64(text.substr(base64_mark.size()));
    if (!bytes) throw ValueError("the data is not base64");
    return bytes;
  }
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    throw ValueError("the data is not null, \"text\" or base64:…");
  const auto inside = text.substr(1, text.size() - 2);
  for (auto at = inside.find('"'); at != std::string_view::npos; at = inside.find('"', at + 1)) {
    std::size_t backslashes = 0;
    while (backslashes < at && inside[at - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) throw ValueError("a quote in the data has no backslash");
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
      throw ValueError(fmt::format("\"{}\" is not a quota limit", escaped_field(key)));
    limits.at(static_cast<std::size_t>(known - limit_keys.begin())) =
        number_of(limit, std::numeric_limits<std::int64_t>::max());
  }
  return limits;
}

std::string tree_json_line(const TreeRecord& record) {
  auto json = Json::object();
  json.set("path", record.path.empty() ? "/" : record.path);
  json.set("kind", name_of(kind_names, record.life.kind));
  if (record.life.kind == NodeKind::Ttl) json.set("ttl", record.life.ttl);
  json.set("acl", Json::array(record.acl, acl_entry_json)).set("data", record.data);
  if (record.limits != no_limits) {
    auto quota = Json::object();
    for (std::size_t i = 0; i < limit_keys.size(); ++i)
      if (record.limits.at(i) >= 0) quota.set(limit_keys.at(i), record.limits.at(i));
    json.set("quota", std::move(quota));
  }
  return json.text() + '\n';
}

TreeJsonLine parse_tree_json(std::string_view line) {
  const auto value = Value::parse(line, nullptr, false);
  if (value.is_discarded()) throw ValueError("this is not JSON");
  if (!value.is_object()) throw ValueError("this is not a JSON object");
  TreeJsonLine parsed;
  if (value.contains("format")) {
    if (value["format"] != tree_format || !value.contains("version"))
      throw ValueError(fmt::format("\"format\" is not {}", tree_format));
    if (value["version"] != tree_version)
      throw ValueError(
          fmt::format("unknown format version; this zksh reads version {}", tree_version));
    parsed.top = bytes_of(field(value, "path"), "path");
  } else if (!value.contains("end")) {
    parsed.record = TreeRecord{
        .path = parse_relative(bytes_of(field(value, "path"), "path")),
        .life = life_of_line(value),
        .acl = acl_of(field(value, "acl")),
        .data = field(value, "data").is_null() ? Data{} : bytes_of(field(value, "data"), "data"),
        .limits = limits_of(value)};
  }
  return parsed;
}

TreeReader open_tree(const Context& cx, const std::string& name) {
  const bool is_file = name != "-";
  const auto shown = is_file ? name : "standard input";
  const auto lines = std::make_shared<LineReader>(is_file ? open_file(name) : cx.data_input(),
                                                  is_file, shown, cx.stop);
  return {[lines, stop = cx.stop](std::string& line) {
            const bool more = lines->next(line);
            if (!more && stop.stop_requested()) throw Cancelled();
            return more;
          },
          shown};
}

std::optional<std::size_t> checked_size(const Context& cx, const std::string& name) {
  if (name == "-") return std::nullopt;
  {
    const Fd fd(open_file(name));
    struct stat about {};
    if (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  }
  auto file = open_tree(cx, name);
  std::size_t nodes = 0;
  while (file.next()) ++nodes;
  return nodes;
}

}  // namespace zksh
