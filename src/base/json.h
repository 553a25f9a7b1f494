// Json: builds and parses JSON.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// A JSON value. An object keeps its fields in the order in which they were set.
class Json {
 public:
  Json();  ///< null
  Json(bool value);
  Json(std::int64_t value);
  template <std::integral T>
  Json(T value) : Json(static_cast<std::int64_t>(value)) {}
  /// UTF-8 text; other bytes become {"base64": "…"}.
  Json(std::string_view value);
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const char* value) : Json(std::string_view(value)) {}
  /// Null if there is no value.
  template <class T>
  Json(const std::optional<T>& value) : Json() {
    if (value) *this = Json(*value);
  }
  Json(const Json& other) = delete;
  Json& operator=(const Json& other) = delete;
  Json(Json&& other) noexcept;
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json object();
  static Json array();
  /// An array of the items, each as `convert` returns it.
  template <class Items, class Convert = std::identity>
  static Json array(const Items& items, Convert convert = {}) {
    auto json = array();
    for (const auto& item : items) json.add(std::invoke(convert, item));
    return json;
  }
  /// Null for an empty text.
  static Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

  /// Sets a field of an object.
  Json& set(std::string_view name, Json value) &;
  Json set(std::string_view name, Json value) && { return std::move(set(name, std::move(value))); }
  /// Sets two fields of an object: NAME, a time in milliseconds since 1970 UTC, and NAMEIso, the
  /// same in ISO 8601, which is null outside the years 1970 to 9999. nullopt: both are null.
  Json& set_time(std::string_view name, std::optional<std::int64_t> milliseconds) &;
  Json set_time(std::string_view name, std::optional<std::int64_t> milliseconds) && {
    return std::move(set_time(name, milliseconds));
  }
  /// Appends to an array.
  Json& add(Json value);

  /// The value as JSON on one line, without a newline.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a JSON object on a line of its own, for fields that would take too much memory in a Json,
/// and for lines that are too many to build a Json for each. The text is the same as Json::text.
/// The names of fields consist of letters, so they are not escaped.
class JsonLine {
 public:
  /// `write` is called with the text, about a MiB at a time.
  explicit JsonLine(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  JsonLine& set(std::string_view name, const Json& value);
  JsonLine& set_number(std::string_view name, std::int64_t value);
  /// As Json::set_time.
  JsonLine& set_time(std::string_view name, std::int64_t milliseconds);
  /// As Json::text_or_null.
  JsonLine& set_text_or_null(std::string_view name, std::string_view text);
  /// Like Json of a text, or null.
  JsonLine& set_text(std::string_view name, std::optional<std::string_view> given);
  /// An array of `count` texts.
  JsonLine& set_texts(std::string_view name, std::size_t count,
                      const std::function<std::string_view(std::size_t place)>& text);
  /// Must be called last.
  void end();

 private:
  void begin_field(std::string_view name);
  void add(std::string_view text);

  std::function<void(std::string_view)> write_;
  std::string waiting_{};
  bool first_ = true;
};

/// Called for each value that is neither object nor array, in document order, with its place (keys
/// and array indexes: {"connections", "0", "session_id"}) and its text; nullopt for null. Numbers
/// are passed as written.
using UseJsonValue =
    std::function<void(const std::vector<std::string>& place, const std::optional<std::string>&)>;

/// Parses JSON in UTF-8, nested at most eight levels deep. Returns false if the text is malformed;
/// `use` has then been called for the values before the error.
bool read_json_values(std::string_view text, const UseJsonValue& use);

}  // namespace zksh
