// Json: values written as JSON, and read from it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Fields stay in the order in which they were set.
class Json {
 public:
  Json();  ///< null
  Json(bool value);
  Json(std::int64_t value);
  template <std::integral T>
  Json(T value) : Json(static_cast<std::int64_t>(value)) {}
  /// Text in UTF-8; anything else becomes {"base64": "…"}.
  Json(std::string_view value);
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const char* value) : Json(std::string_view(value)) {}
  /// Null when there is none.
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

  /// Of an object.
  Json& set(std::string_view name, Json value);
  /// Of an object: a time in milliseconds since 1970 UTC, and as NAMEIso the same in ISO 8601; null
  /// outside the years 1970 to 9999.
  Json& set_time(std::string_view name, std::int64_t milliseconds);
  /// Of an array.
  Json& add(Json value);

  /// On one line, without a newline.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Is told each value that is neither object nor array, in their order: where it stands (keys, and
/// numbers within arrays: {"connections", "0", "session_id"}) and its text; nothing for null.
/// Numbers are as they were written.
using UseJsonValue =
    std::function<void(const std::vector<std::string>& place, const std::optional<std::string>&)>;

/// Whether the text is JSON in UTF-8 that is nowhere deeper than eight levels; what is wrong
/// further on does not undo what was told before it.
bool read_json_values(std::string_view text, const UseJsonValue& use);

}  // namespace zksh
