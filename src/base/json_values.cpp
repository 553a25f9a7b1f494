// JsonValues: over the JSON library's events, so that memory is bounded by the longest value.
#include "base/json_values.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <utility>

namespace zksh {
namespace {

class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(const UseJsonValue& use) : use_(use) {}

  bool null() override { return tell(std::nullopt); }
  bool boolean(bool value) override { return tell(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return tell(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return tell(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return tell(text); }
  bool string(string_t& value) override { return tell(std::move(value)); }
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

  bool tell(const std::optional<std::string>& value) {
    step();
    use_(place_, value);
    return true;
  }

  /// To the next element, in an array.
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
  std::vector<std::ptrdiff_t> counts_;  ///< of each level: elements so far; -1: an object
};

}  // namespace

bool read_json_values(std::string_view text, const UseJsonValue& use) {
  Reader reader(use);
  return nlohmann::json::sax_parse(text, &reader);
}

}  // namespace zksh
