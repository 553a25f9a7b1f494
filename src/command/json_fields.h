// JSON fields: the names, types and meanings of the fields that -o json prints. Each command lists
// the fields of its objects in CommandText::json, and describes those of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The type is "string", "integer", "number", "boolean", "text" (a string, or an object with base64
/// for bytes that are not UTF-8), "data" (the same, or null), "hex" (a zxid or session id, "0x1f"),
/// "time" (milliseconds since 1970 UTC, followed by a field …Iso with the same time in ISO 8601),
/// or the capitalized name of an object. The prefix "list of " makes it a list; the suffix "?"
/// means that it can be null.
struct JsonField {
  std::string_view name;
  std::string_view type;
  std::string_view meaning;

  bool is_list() const { return type.starts_with("list of "); }
  bool can_be_null() const { return type.ends_with('?'); }
  /// The type without prefix and suffix.
  std::string_view base() const;
};

/// An object that is nested in others, or that no command declares.
struct JsonObject {
  std::string_view name;
  std::string_view fields;  ///< as in CommandText::json
  std::string_view meaning;
};

/// The fields of all commands, in alphabetical order.
std::vector<JsonField> json_fields();
std::span<const JsonObject> json_objects();

/// Parses a declaration into its alternatives: "path stat | path [data]" has two. Each is a list of
/// field names; optional fields keep their brackets.
std::vector<std::vector<std::string_view>> json_shapes(std::string_view declared);

/// The alternatives for people: "path, stat; or path, [data]".
std::string json_shapes_text(std::string_view declared);

/// A JSON Schema (draft 2020-12) with a definition for each command's lines on standard output, and
/// one for the errors, notes and events on standard error.
std::string json_schema();

}  // namespace zksh
