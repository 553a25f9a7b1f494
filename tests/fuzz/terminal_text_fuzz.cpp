// Fuzzes what protects a terminal from the bytes of znodes: UTF-8, escapes, widths and codecs.
#include "base/byte_text.h"
#include "base/text.h"
#include "fuzz.h"
#include "node/change_text.h"
#include "tree/tree_text.h"

namespace zksh::fuzz {
namespace {

void check_codecs(std::string_view bytes) {
  require(decode_base64(encode_base64(bytes)) == bytes, "base64 reads back", bytes);
  if (const auto decoded = decode_base64(bytes))
    require(decoded->size() <= bytes.size(), "base64 grows nothing", bytes);
  if (bytes.size() < 1000)
    hex_dump(bytes, [](std::string_view piece) { require_harmless(piece, true); });
  require(unescaped(escaped_field(bytes)) == bytes, "a field reads back", bytes);
  const auto field = data_field(std::string(bytes));
  require_harmless(field);
  require(parse_data_field(field) == std::string(bytes), "data read back", field);
  accepts([&] {
    const auto data = parse_data_field(bytes);
    require(parse_data_field(data_field(data)) == data, "data read back", bytes);
  });
}

void check_changes(std::string_view bytes) {
  NodeChange change{.path = std::string(bytes)};
  change.old_value = Data(std::string(bytes));
  change.new_value = Data(std::string(bytes));
  change.added = {std::string(bytes), "b"};
  const auto line = change_line(change, true);
  require_harmless(line);
  auto fields = plain_change(change);
  require(std::ranges::count(fields, '\t') == 10, "a change has eleven fields", fields);
  std::ranges::replace(fields, '\t', ' ');
  require_harmless(fields, fields.ends_with('\n'));
}

}  // namespace

void terminal_text_fuzz(std::string_view bytes) {
  std::string again;
  bool valid = true;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto step = decode_utf8(bytes, at);
    require(step.length >= 1 && step.length <= 4 && at + step.length <= bytes.size(),
            "a step stays within the text", bytes);
    valid = valid && step.valid;
    if (step.valid) append_utf8(again, step.code_point);
    at += step.length;
  }
  require(valid == is_utf8(bytes) && (!valid || again == bytes), "UTF-8 reads back", bytes);
  const auto shown = escape_for_terminal(bytes);
  require_harmless(shown);
  require(shown.size() <= 4 * bytes.size(), "escapes are short", shown);
  require(escape_for_terminal(shown) == shown, "what is shown stays as it is", shown);
  require_harmless(escape_for_terminal(bytes, true), true);
  for (const std::size_t columns : {0U, 1U, 7U, 80U}) {
    const auto cut = cut_to_width(shown, columns);
    require(text_width(cut) <= columns, "what is cut fits", cut);
    require_harmless(cut);
  }
  check_codecs(bytes);
  if (bytes.size() < 4000) check_changes(bytes);
}

}  // namespace zksh::fuzz
