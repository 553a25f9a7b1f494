// Client configuration: the properties file of zkCli's -client-configuration.
#include "client_configuration.h"

#include "error.h"
#include "read_file.h"
#include "utf8.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace zksh {
namespace {

constexpr std::string_view blanks = " \t\f";

/// The next logical line, its continuations joined; false at the end.
bool next_line(std::string_view& text, std::string& line) {
  line.clear();
  while (!text.empty()) {
    auto end = text.find_first_of("\r\n");
    if (end == std::string_view::npos) end = text.size();
    auto part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(blanks)));
    if (line.empty() && (part.empty() || part.front() == '#' || part.front() == '!')) continue;
    const auto last = part.find_last_not_of('\\');
    const auto backslashes = part.size() - (last == std::string_view::npos ? 0 : last + 1);
    const bool continues = backslashes % 2 == 1;
    line += continues ? part.substr(0, part.size() - 1) : part;
    if (!continues) return true;
  }
  return !line.empty();
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char letter = text[++i];
    unsigned code = 0;
    const auto digits = text.substr(i + 1, 4);
    if (letter == 'u' && digits.size() == 4 &&
        std::from_chars(digits.data(), digits.data() + 4, code, 16).ptr == digits.data() + 4) {
      const bool surrogate = code >= 0xD800 && code <= 0xDFFF;  // Java would pair it with another
      append_utf8(result, surrogate ? 0xFFFD : code);
      i += 4;
    } else {
      constexpr std::string_view letters = "tnrf";
      constexpr std::string_view meanings = "\t\n\r\f";
      const auto known = letters.find(letter);
      result += known == std::string_view::npos ? letter : meanings[known];
    }
  }
  return result;
}

/// Where the key ends: at the first blank, = or : that is not escaped.
std::size_t key_end(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\')
      ++i;
    else if (line[i] == '=' || line[i] == ':' || blanks.find(line[i]) != std::string_view::npos)
      return i;
  }
  return line.size();
}

}  // namespace

Properties parse_properties(std::string_view text) {
  Properties properties;
  for (std::string line; next_line(text, line);) {
    const auto end = key_end(line);
    std::string_view value(line);
    value.remove_prefix(end);
    value.remove_prefix(std::min(value.size(), value.find_first_not_of(blanks)));
    if (!value.empty() && (value.front() == '=' || value.front() == ':')) value.remove_prefix(1);
    value.remove_prefix(std::min(value.size(), value.find_first_not_of(blanks)));
    properties[unescaped(std::string_view(line).substr(0, end))] = unescaped(value);
  }
  return properties;
}

void check_client_configuration(const std::string& file) {
  for (const auto& [key, value] : parse_properties(read_file(file))) {
    const bool secure = key == "zookeeper.client.secure" && value == "true";
    const bool tls = secure || key.starts_with("zookeeper.ssl.");
    const bool sasl = key.starts_with("zookeeper.sasl.") && value != "false";
    if (tls || sasl)
      throw UsageError(
          fmt::format("-client-configuration: {} sets {}, but this build has no {}: Debian's "
                      "ZooKeeper C client is built without",
                      file, key, tls ? "TLS" : "SASL"));
  }
}

}  // namespace zksh
