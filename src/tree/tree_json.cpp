// TreeJson: a dump's lines as JSON.
#include "tree/tree_json.h"

#include "base/byte_text.h"
#include "base/error.h"
#include "base/json.h"
#include "tree/tree_fields.h"
#include "tree/tree_text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace zksh {
namespace {

using Value = nlohmann::json;

Json acl_value(const Acl& acl) {
  auto list = Json::array();
  for (const auto& entry : acl) {
    auto json = Json::object();
    json.set("scheme", entry.scheme).set("id", entry.id).set("perms", perms_field(entry.perms));
    list.add(std::move(json));
  }
  return list;
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
  throw ValueError(fmt::format("\"{}\" is neither a text nor {{\"base64\": …}}", name));
}

std::int64_t number_of(const Value& value, const char* name) {
  if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<std::int64_t>::max())
    throw ValueError(fmt::format("\"{}\" is no whole number", name));
  return value.get<std::int64_t>();
}

NodeLife life_of_line(const Value& line) {
  const auto kind = bytes_of(field(line, "kind"), "kind");
  if (kind != "ttl") return parse_life(kind.starts_with("ttl") ? "" : kind);
  return parse_life(fmt::format("ttl={}", number_of(field(line, "ttl"), "ttl")));
}

Acl acl_of(const Value& list) {
  if (!list.is_array() || list.empty()) throw ValueError("\"acl\" is no list, or has no entry");
  Acl acl;
  acl.reserve(list.size());
  for (const auto& entry : list) {
    if (!entry.is_object()) throw ValueError("an entry of \"acl\" is no object");
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
  if (!quota->is_object()) throw ValueError("\"quota\" is no object");
  for (const auto& [key, value] : quota->items()) {
    const auto one = parse_limits(fmt::format("{}={}", key, number_of(value, "quota")));
    for (std::size_t i = 0; i < limits.size(); ++i)
      if (one.at(i) >= 0) limits.at(i) = one.at(i);
  }
  return limits;
}

}  // namespace

std::string tree_json_header(const std::string& top) {
  auto json = Json::object();
  json.set("format", tree_format).set("version", tree_version).set("path", top);
  return json.text() + '\n';
}

std::string tree_json_line(const TreeRecord& record) {
  auto json = Json::object();
  json.set("path", record.path.empty() ? "/" : record.path);
  const bool ttl = record.life.kind == NodeKind::Ttl;
  json.set("kind", ttl ? "ttl" : life_text(record.life));
  if (ttl) json.set("ttl", record.life.ttl);
  json.set("acl", acl_value(record.acl)).set("data", record.data);
  if (record.limits != no_limits) {
    auto quota = Json::object();
    for (std::size_t i = 0; i < limit_keys.size(); ++i)
      if (record.limits.at(i) >= 0) quota.set(limit_keys.at(i), record.limits.at(i));
    json.set("quota", std::move(quota));
  }
  return json.text() + '\n';
}

std::string tree_json_end(std::size_t ephemerals) {
  auto json = Json::object();
  json.set("end", true);
  if (ephemerals > 0) json.set("ephemeralsLeftOut", ephemerals);
  return json.text() + '\n';
}

TreeJsonLine parse_tree_json(std::string_view line) {
  const auto value = Value::parse(line, nullptr, false);
  if (value.is_discarded()) throw ValueError("this is no JSON");
  if (!value.is_object()) throw ValueError("this is no object");
  TreeJsonLine parsed;
  if (value.contains("format")) {
    if (value["format"] != tree_format || !value.contains("version"))
      throw ValueError(fmt::format("\"format\" is not {}", tree_format));
    if (value["version"] != tree_version)
      throw ValueError(fmt::format("its version is not {}", tree_version));
    parsed.header = true;
    parsed.top = bytes_of(field(value, "path"), "path");
  } else if (value.contains("end")) {
    parsed.end = true;
  } else {
    parsed.record = TreeRecord{
        .path = parse_relative(bytes_of(field(value, "path"), "path")),
        .life = life_of_line(value),
        .acl = acl_of(field(value, "acl")),
        .data = field(value, "data").is_null() ? Data{} : bytes_of(field(value, "data"), "data"),
        .limits = limits_of(value)};
  }
  return parsed;
}

}  // namespace zksh
