// JSON fields: what -o json prints. Every field has one name, one type and one meaning, here; each
// command says which of them its objects have (CommandText::json).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The type is "string", "integer", "number", "boolean", "data" (a text, an object with base64, or
/// null), "hex" (a zxid or a session, "0x1f"), "time" (milliseconds since 1970 UTC; a field named
/// …Iso with the same time in ISO 8601 follows), or the name of an object, which begins with a
/// capital; "list of" may stand before it, and "?" behind it where it can be null.
struct JsonField {
  std::string_view name;
  std::string_view type;
  std::string_view meaning;

  bool is_list() const { return type.starts_with("list of "); }
  bool can_be_null() const { return type.ends_with('?'); }
  /// The type alone.
  std::string_view base() const;
};

/// An object that stands in others, or that no command's declaration names.
struct JsonObject {
  std::string_view name;
  std::string_view fields;  ///< as CommandText::json
  std::string_view meaning;
};

/// In alphabetical order.
std::span<const JsonField> json_fields();
std::span<const JsonObject> json_objects();

/// The shapes that a declaration lists: "path stat | path [data]" is two, and a field in brackets
/// may be left out. Each field's name, in brackets where it was.
std::vector<std::vector<std::string_view>> json_shapes(std::string_view declared);

/// "path, stat; or path, [data]": the same for people.
std::string json_shapes_text(std::string_view declared);

/// A JSON Schema (draft 2020-12) of the lines on standard output, a definition for each command,
/// and of those on standard error, one for errors, notes and events.
std::string json_schema();

}  // namespace zksh
