// ChangeText: formats the changes of nodes for people, pipes and programs.
#include "node/change_text.h"

#include "base/mapped.h"
#include "base/named_values.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "base/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zksh {
namespace {

using Type = NodeChange::Type;

constexpr NamedValues<Type, 6> change_names{{{"present", Type::Present},
                                             {"created", Type::Created},
                                             {"changed", Type::Changed},
                                             {"deleted", Type::Deleted},
                                             {"children", Type::Children},
                                             {"gap", Type::Gap}}};
constexpr std::string_view none = "-";
constexpr std::size_t widest_value = 120;
constexpr std::size_t most_names = 8;

/// The zxid of the change; nullopt if it is not known.
std::optional<std::int64_t> zxid_of(const NodeChange& change) {
  if (change.zxid > 0) return change.zxid;
  if (!change.after) return std::nullopt;
  switch (change.type) {
    case Type::Created:
      return change.after->czxid;
    case Type::Children:
      return change.after->pzxid;
    case Type::Present:
    case Type::Changed:
      return change.after->mzxid;
    default:
      return std::nullopt;
  }
}

std::string values_text(const NodeChange& change, bool ascii) {
  const auto text = [&](const std::optional<Data>& value) {
    return value ? value_excerpt(*value, ascii) : std::string("?");
  };
  switch (change.type) {
    case Type::Changed:
      if (!change.old_value && !change.new_value) return "";
      return text(change.old_value) + (ascii ? " -> " : " → ") + text(change.new_value);
    case Type::Deleted:
      return change.old_value ? "was " + text(change.old_value) : "";
    default:
      return change.new_value ? text(change.new_value) : "";
  }
}

std::string names_text(const std::vector<std::string>& names, char sign) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_names; ++i)
    text += fmt::format("{}{}{}", i == 0 ? "" : " ", sign, as_word(names[i]));
  if (names.size() > most_names)
    text += fmt::format(" {} and {} more", sign, names.size() - most_names);
  return text;
}

std::string version_text(const NodeChange& change, bool ascii) {
  if (change.type == Type::Deleted || change.type == Type::Children) return "";
  if (!change.after) return "gone before it could be read";
  if (change.type == Type::Changed && change.before)
    return fmt::format("version {}{}{}", change.before->version, ascii ? " -> " : " → ",
                       change.after->version);
  return fmt::format("version {}", change.after->version);
}

std::string gap_text(const NodeChange& change) {
  const std::chrono::milliseconds gap(change.time - change.since);
  return (change.expired ? std::string("the session expired; its ephemerals are gone")
                         : fmt::format("no connection for {}", short_time(gap))) +
         "; missed changes follow, if any";
}

std::string value_field(const std::optional<Data>& value) {
  if (!value) return std::string(none);
  return *value ? plain_field(**value) : "\\N";
}

std::string list_field(const std::vector<std::string>& names) {
  if (names.empty()) return std::string(none);
  const auto fields =
      mapped(names, [](const std::string& name) { return plain_field(name, true); });
  return fmt::format("{}", fmt::join(fields, ","));
}

}  // namespace

std::string value_excerpt(const Data& data, bool ascii) {
  if (!data) return "null";
  // Avoids escaping a value of a megabyte for one line.
  std::string quoted;
  for (const char byte : data->substr(0, 4 * widest_value)) {
    if (byte == '"' || byte == '\\') quoted += '\\';
    quoted += byte;
  }
  const auto beginning = escape_for_terminal(quoted);
  const auto cut = cut_to_width(beginning, widest_value, ascii ? "..." : "…");
  const bool whole = cut == beginning && data->size() <= 4 * widest_value;
  return whole ? '"' + cut + '"' : fmt::format("\"{}\" ({} bytes)", cut, data->size());
}

std::string plain_field(std::string_view bytes, bool in_list) {
  const std::string_view special = in_list ? "\\," : "\\";
  std::string doubled;
  doubled.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto plain = bytes.substr(0, bytes.find_first_of(special));
    doubled += plain;
    bytes.remove_prefix(plain.size());
    if (bytes.empty()) break;
    doubled += bytes.front() == ',' ? "\\x2c" : "\\\\";
    bytes.remove_prefix(1);
  }
  if (doubled == none) return "\\x2d";
  return escape_for_terminal(doubled);
}

std::string_view change_name(Type type) { return name_of(change_names, type); }

std::string change_line(const NodeChange& change, bool ascii) {
  auto line = fmt::format("{}.{:03} {:8}", time_of_day(change.time), change.time % 1000,
                          change_name(change.type));
  if (change.type == Type::Gap) return line + ' ' + gap_text(change);
  line += ' ' + as_word(change.path);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) line += "  " + part;
  };
  add(version_text(change, ascii));
  if (change.type == Type::Children && !change.lists_names) add("something was deleted");
  add(names_text(change.added, '+'));
  add(names_text(change.removed, '-'));
  add(values_text(change, ascii));
  if (change.ephemeral_owner() != 0)
    add(fmt::format("(ephemeral of {})", session_text(change.ephemeral_owner())));
  if (change.missed) add("(missed)");
  return line;
}

std::string plain_change(const NodeChange& change) {
  const auto zxid = zxid_of(change);
  return fmt::format(
      "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", change.time, change_name(change.type),
      change.path.empty() ? std::string(none) : plain_field(change.path),
      zxid ? session_text(*zxid) : std::string(none),
      change.after ? std::to_string(change.after->version) : std::string(none),
      zxid_text(change.ephemeral_owner()), change.missed ? 1 : 0, value_field(change.old_value),
      value_field(change.new_value), list_field(change.added), list_field(change.removed));
}

Json change_json(const NodeChange& change) {
  auto json = Json::object();
  json.set_time("time", change.time).set("type", change_name(change.type));
  if (change.type == Type::Gap) {
    json.set("reason", change.expired ? "expired" : "disconnected");
    json.set_time("since", change.since);
    return json;
  }
  json.set("path", change.path).set("missed", change.missed);
  const auto zxid = zxid_of(change);
  json.set("zxid", zxid ? Json(session_text(*zxid)) : Json());
  json.set("version", change.after ? Json(change.after->version) : Json());
  if (change.type == Type::Changed)
    json.set("oldVersion", change.before ? Json(change.before->version) : Json());
  json.set("ephemeralOwner",
           change.ephemeral_owner() != 0 ? Json(session_text(change.ephemeral_owner())) : Json());
  json.set("dataLength", change.after ? Json(change.after->data_length) : Json());
  if (change.type == Type::Children && change.lists_names)
    json.set("childrenAdded", Json::array(change.added))
        .set("childrenRemoved", Json::array(change.removed));
  if (change.old_value) json.set("old", *change.old_value);
  if (change.new_value) json.set("new", *change.new_value);
  return json;
}

std::vector<std::pair<std::string, std::string>> change_environment(const NodeChange& change) {
  const auto zxid = zxid_of(change);
  // Empty rather than unset, so that an outer event's variables are not taken for this one's.
  std::vector<std::pair<std::string, std::string>> variables{
      {"ZKSH_EVENT_TYPE", std::string(change_name(change.type))},
      {"ZKSH_EVENT_PATH", change.path},
      {"ZKSH_EVENT_TIME", std::to_string(change.time)},
      {"ZKSH_EVENT_MISSED", change.missed ? "1" : "0"},
      {"ZKSH_EVENT_EPHEMERAL", change.ephemeral_owner() != 0 ? "1" : "0"},
      {"ZKSH_EVENT_ZXID", zxid ? session_text(*zxid) : ""},
      {"ZKSH_EVENT_VERSION", change.after ? std::to_string(change.after->version) : ""}};
  const auto add_value = [&](const char* name, const std::optional<Data>& value) {
    const bool fits = value && *value && (*value)->size() <= longest_in_environment &&
                      (*value)->find('\0') == std::string::npos;
    variables.emplace_back(name, fits ? **value : "");
  };
  add_value("ZKSH_EVENT_OLD", change.old_value);
  add_value("ZKSH_EVENT_NEW", change.new_value);
  return variables;
}

}  // namespace zksh
