// Json: the only user of the JSON library, whose header is slow to compile.
#include "base/json.h"

#include "base/byte_text.h"
#include "base/escape.h"
#include "base/utf8.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace zksh {

struct Json::Impl {
  Impl() : value(nullptr) {}
  explicit Impl(nlohmann::ordered_json of) : value(std::move(of)) {}

  nlohmann::ordered_json value;
};

namespace {

/// Such characters stand inside strings alone.
std::string with_numbers(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    const auto character = text.substr(at, step.length);
    const auto number = static_cast<unsigned>(step.code_point);
    if (escape_for_terminal(character) == character)
      result += character;
    else if (number < 0x10000)
      result += fmt::format("\\u{:04x}", number);
    else
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((number - 0x10000) >> 10U),
                            0xDC00 + ((number - 0x10000) & 0x3FFU));
    at += step.length;
  }
  return result;
}

}  // namespace

Json::Json() : impl_(std::make_unique<Impl>()) {}
Json::Json(bool value) : impl_(std::make_unique<Impl>(value)) {}
Json::Json(std::int64_t value) : impl_(std::make_unique<Impl>(value)) {}
Json::Json(std::string_view value) : impl_(std::make_unique<Impl>()) {
  if (is_utf8(value))
    impl_->value = value;
  else
    impl_->value["base64"] = encode_base64(value);
}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::object() {
  Json json;
  json.impl_->value = nlohmann::ordered_json::object();
  return json;
}

Json Json::array() {
  Json json;
  json.impl_->value = nlohmann::ordered_json::array();
  return json;
}

Json& Json::set(std::string_view name, Json value) {
  impl_->value[std::string(name)] = std::move(value.impl_->value);
  return *this;
}

Json& Json::add(Json value) {
  impl_->value.push_back(std::move(value.impl_->value));
  return *this;
}

/// What a terminal would obey, or not show, is written by its number, wherever the text goes: a
/// reader sees no difference.
std::string Json::text() const {
  const auto text = impl_->value.dump();
  return escape_for_terminal(text) == text ? text : with_numbers(text);
}

}  // namespace zksh
