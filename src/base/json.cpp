// Json: builds and parses JSON.
#include "base/json.h"

#include "base/byte_text.h"
#include "base/text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <ctime>

namespace zksh {
namespace {

class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(const UseJsonValue& use) : use_(use) {}

  bool null() override { return emit(std::nullopt); }
  bool boolean(bool value) override { return emit(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return emit(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return emit(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return emit(text); }
  bool string(string_t& value) override { return emit(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool key(string_t& name) override {
    place_.back() = std::move(name);
    return true;
  }
  bool start_object(std::size_t /*elements*/) override { return enter(false); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*elements*/) override { return enter(true); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  static constexpr std::size_t deepest = 8;

  bool emit(const std::optional<std::string>& value) {
    step();
    use_(place_, value);
    return true;
  }

  /// Advances the index, in an array.
  void step() {
    if (counts_.empty() || counts_.back() < 0) return;
    place_.back() = std::to_string(counts_.back()++);
  }

  bool enter(bool array) {
    if (counts_.size() == deepest) return false;
    step();
    counts_.push_back(array ? 0 : -1);
    place_.emplace_back();
    return true;
  }

  bool leave() {
    counts_.pop_back();
    place_.pop_back();
    return true;
  }

  const UseJsonValue& use_;
  std::vector<std::string> place_;
  std::vector<std::ptrdiff_t> counts_;  ///< of each level: elements so far; -1 for an object
};

/// "2026-11-23T13:41:50.224Z"; nullopt outside the years that Json::set_time names.
std::optional<std::string> iso_time(std::int64_t milliseconds) {
  constexpr std::int64_t a_second = 1000;
  constexpr std::int64_t end_of_9999 = 253'402'300'800;
  const std::time_t seconds = milliseconds / a_second;
  std::tm time{};
  if (milliseconds < 0 || seconds >= end_of_9999 || !gmtime_r(&seconds, &time)) return std::nullopt;
  constexpr int first_year = 1900;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", time.tm_year + first_year,
                     time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec,
                     milliseconds % a_second);
}

/// Whether the text can stand between the quotes of a JSON string as it is.
bool needs_no_escape(std::string_view text) {
  return is_printable_ascii(text) && text.find('"') == std::string_view::npos &&
         text.find('\\') == std::string_view::npos;
}

/// Writes the characters that a terminal would not show as \u escapes. They occur only inside
/// strings.
std::string with_numbers(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    const auto character = text.substr(at, step.length);
    at += step.length;
    if (escape_for_terminal(character) == character) {
      result += character;
    } else {
      const auto quoted = nlohmann::json(character).dump(-1, ' ', true);
      result += std::string_view(quoted).substr(1, quoted.size() - 2);
    }
  }
  return result;
}

}  // namespace

struct Json::Impl {
  explicit Impl(nlohmann::ordered_json of = nullptr) : value(std::move(of)) {}

  nlohmann::ordered_json value;
};

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

Json& Json::set(std::string_view name, Json value) & {
  impl_->value[std::string(name)] = std::move(value.impl_->value);
  return *this;
}

Json& Json::set_time(std::string_view name, std::optional<std::int64_t> milliseconds) & {
  set(name, milliseconds);
  return set(fmt::format("{}Iso", name), milliseconds ? iso_time(*milliseconds) : std::nullopt);
}

Json& Json::add(Json value) {
  impl_->value.push_back(std::move(value.impl_->value));
  return *this;
}

/// Characters that a terminal would interpret or hide are always escaped; JSON readers see no
/// difference.
std::string Json::text() const {
  auto text = impl_->value.dump();
  return is_printable_ascii(text) || escape_for_terminal(text) == text ? text : with_numbers(text);
}

void JsonLine::add(std::string_view text) {
  constexpr std::size_t most = 1U << 20U;
  waiting_ += text;
  if (waiting_.size() < most) return;
  write_(waiting_);
  waiting_.clear();  // moving it away has gcc 12 warn for no reason
}

void JsonLine::begin_field(std::string_view name) {
  waiting_ += std::exchange(first_, false) ? "{\"" : ",\"";
  waiting_ += name;
  waiting_ += "\":";
}

JsonLine& JsonLine::set_number(std::string_view name, std::int64_t value) {
  begin_field(name);
  add(std::to_string(value));
  return *this;
}

JsonLine& JsonLine::set_time(std::string_view name, std::int64_t milliseconds) {
  set_number(name, milliseconds);
  return set_text(fmt::format("{}Iso", name), iso_time(milliseconds));
}

JsonLine& JsonLine::set_text_or_null(std::string_view name, std::string_view text) {
  return text.empty() ? set(name, Json()) : set_text(name, text);
}

JsonLine& JsonLine::set(std::string_view name, const Json& value) {
  begin_field(name);
  add(value.text());
  return *this;
}

JsonLine& JsonLine::set_text(std::string_view name, std::optional<std::string_view> given) {
  if (!given) return set(name, Json());
  const auto text = *given;
  begin_field(name);
  constexpr std::size_t most_at_once = std::size_t{64} << 10U;  // more is written in pieces
  if (text.size() <= most_at_once && needs_no_escape(text)) {
    waiting_ += '"';
    waiting_ += text;
    add("\"");
    return *this;
  }
  const bool is_text = is_utf8(text);
  add(is_text ? "\"" : R"({"base64":")");
  if (is_text)
    in_pieces(text, [this](std::string_view piece) {
      const auto quoted = Json(piece).text();
      add(std::string_view(quoted).substr(1, quoted.size() - 2));
    });
  else
    encode_base64(text, [this](std::string_view piece) { add(piece); });
  add(is_text ? "\"" : "\"}");
  return *this;
}

JsonLine& JsonLine::set_texts(std::string_view name, std::size_t count,
                              const std::function<std::string_view(std::size_t place)>& text) {
  begin_field(name);
  add("[");
  for (std::size_t place = 0; place < count; ++place) {
    if (place > 0) add(",");
    add(Json(text(place)).text());
  }
  add("]");
  return *this;
}

void JsonLine::end() {
  add("}\n");
  write_(waiting_);
}

bool read_json_values(std::string_view text, const UseJsonValue& use) {
  Reader reader(use);
  return nlohmann::json::sax_parse(text, &reader);
}

}  // namespace zksh
