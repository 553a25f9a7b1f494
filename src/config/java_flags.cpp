// Java flags: what the environment of zkCli.sh asks Java's client for.
#include "config/java_flags.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace zksh {
namespace {

bool asks_for_safety(const std::string& key, const std::string& value) {
  if (key == "zookeeper.client.secure") return value == "true";
  return key == "java.security.auth.login.config";
}

/// The words, quoted texts and signs of a login configuration, without its comments.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  const auto is_sign = [](char c) {
    return std::string_view("{};=").find(c) != std::string_view::npos;
  };
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    if (is_blank(text[at])) {
      ++at;
    } else if (rest.starts_with("//") || rest.front() == '#') {
      at += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const auto end = rest.find("*/", 2);
      at += end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest.front() == '"') {
      std::string quoted;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        quoted += text[at];
      }
      ++at;
      tokens.push_back(std::move(quoted));
    } else if (is_sign(rest.front())) {
      tokens.emplace_back(1, text[at++]);
    } else {
      const auto begin = at;
      while (at < text.size() && !is_blank(text[at]) && !is_sign(text[at])) ++at;
      tokens.emplace_back(text.substr(begin, at - begin));
    }
  }
  return tokens;
}

}  // namespace

JavaFlags java_flags() {
  JavaFlags flags;
  for (const char* const variable :
       {"SERVER_JVMFLAGS", "KAFKA_OPTS", "CLIENT_JVMFLAGS", "JVMFLAGS"}) {
    const char* const words = std::getenv(variable);
    if (words == nullptr) continue;
    std::string spaced = words;
    std::ranges::replace_if(
        spaced, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    for (const auto word : split(spaced, ' ')) {
      if (!word.starts_with("-D")) continue;
      const auto equals = std::min(word.find('='), word.size());
      const std::string key(word.substr(2, equals - 2));
      const std::string value(word.substr(std::min(equals + 1, word.size())));
      flags.properties[key] = value;
      if (!asks_for_safety(key, value)) continue;
      flags.variable = variable;
      flags.asks = key;
    }
  }
  return flags;
}

std::optional<JavaLogin> parse_java_login(std::string_view text, std::string_view section) {
  const auto tokens = tokens_of(text);
  for (auto at = tokens.begin(); at + 2 < tokens.end(); ++at) {
    if (*at != section || *(at + 1) != "{") continue;
    JavaLogin login{.module = (at + 2)->substr((at + 2)->rfind('.') + 1)};  // npos + 1 is 0
    for (at += 3; at < tokens.end() && *at != ";" && *at != "}"; ++at)
      if (tokens.end() - at > 2 && *(at + 1) == "=") login.options[*at] = *(at + 2);
    return login;
  }
  return std::nullopt;
}

}  // namespace zksh
