// Secrets: finds and masks passwords and password hashes in a command line.
#include "base/secrets.h"

#include "base/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace zksh {
namespace {

constexpr std::string_view mask = "***";

/// A part of the line: [begin, end).
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool begins_with(std::string_view text, std::string_view lower_case_start) {
  return text.size() >= lower_case_start.size() &&
         std::equal(lower_case_start.begin(), lower_case_start.end(), text.begin(),
                    [](char a, char b) { return a == lower(b); });
}

bool is_quote(char c) { return c == '"' || c == '\''; }
bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '.';
}
bool is_permission(char c) {
  return std::string_view("rwcda").find(lower(c)) != std::string_view::npos;
}

/// The words without their quotes. Unlike split_words it accepts any line: a line that cannot run
/// can still contain a secret.
std::vector<Range> words_of(std::string_view line) {
  std::vector<Range> words;
  for (std::size_t at = 0; at < line.size();) {
    if (is_white_space(line[at])) {
      ++at;
      continue;
    }
    const bool escapes = line[at] == '$' && at + 1 < line.size() && line[at + 1] == '\'';
    if (escapes) ++at;
    const char quote = is_quote(line[at]) ? line[at++] : '\0';
    const std::size_t begin = at;
    while (at < line.size() && (quote != '\0' ? line[at] != quote : !is_white_space(line[at])))
      at += escapes && line[at] == '\\' && at + 1 < line.size() ? 2 : 1;
    words.push_back({begin, at});
    if (quote != '\0' && at < line.size()) ++at;
  }
  return words;
}

std::size_t skip_to_word(std::string_view line, std::size_t at) {
  while (at < line.size() && (is_white_space(line[at]) || is_quote(line[at]) || line[at] == '$'))
    ++at;
  return at;
}

/// The rest of the line from `begin`, without a user name before a colon, and without quotes and
/// blanks at its end.
Range credential(std::string_view line, std::size_t begin) {
  std::size_t end = line.size();
  while (end > begin && (is_white_space(line[end - 1]) || is_quote(line[end - 1]))) --end;
  const auto names_user = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.@-").find(c) != std::string_view::npos;
  };
  const auto user_end = std::find_if_not(line.begin() + begin, line.begin() + end, names_user);
  if (user_end != line.begin() + end && *user_end == ':')
    begin = static_cast<std::size_t>(user_end - line.begin()) + 1;
  return {begin, end};
}

/// What follows `addauth SCHEME`, to the end of the line. Searches the raw text, since misplaced
/// quotes join words.
void find_addauth(std::string_view line, std::vector<Range>& secrets) {
  constexpr std::string_view name = "addauth";
  for (std::size_t at = 0; at + name.size() < line.size(); ++at) {
    if (!begins_with(line.substr(at), name)) continue;
    const std::size_t after = at + name.size();
    if ((at > 0 && continues_name(line[at - 1])) || skip_to_word(line, after) == after) continue;
    const std::size_t scheme = skip_to_word(line, after);
    std::size_t end = scheme;
    while (end < line.size() && !is_white_space(line[end]) && !is_quote(line[end]) &&
           line[end] != ':')
      ++end;
    const bool glued = end < line.size() && line[end] == ':';
    const Range found = credential(line, glued ? scheme : skip_to_word(line, end));
    if (found.begin >= found.end) continue;
    secrets.push_back(found);
    return;
  }
}

/// The position, from `from` on, of the colon before an ACL's permissions; the word's end if there
/// are none.
std::size_t permissions_begin(std::string_view word, std::size_t from) {
  for (std::size_t colon = word.find(':', from); colon != std::string_view::npos;
       colon = word.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < word.size() && is_permission(word[end])) ++end;
    if (end == word.size() || word[end] == ',') return colon;
  }
  return word.size();
}

/// The hash or password in scheme:user:SECRET:perms, anywhere in a word.
void find_acls(std::string_view line, Range range, std::vector<Range>& secrets) {
  const std::string_view word = line.substr(range.begin, range.end - range.begin);
  for (const std::string_view scheme : {"digest:", "auth:", "super:"}) {
    for (std::size_t at = 0; at < word.size(); ++at) {
      if (!begins_with(word.substr(at), scheme) || (at > 0 && continues_name(word[at - 1])))
        continue;
      const std::size_t colon = word.find(':', at + scheme.size());
      if (colon == std::string_view::npos) continue;
      const std::string_view part = word.substr(colon + 1, word.find(',', colon) - colon - 1);
      // auth:user:cdrwa has no secret: the server uses the session's identities.
      if (scheme == "auth:" && std::all_of(part.begin(), part.end(), is_permission)) continue;
      const std::size_t end = permissions_begin(word, colon + 1);
      secrets.push_back({range.begin + colon + 1, range.begin + end});
      at = end;  // also keeps the cost linear
    }
  }
}

/// `digest user:password` as two words.
void find_pair(std::string_view line, Range first, Range second, std::vector<Range>& secrets) {
  constexpr std::string_view scheme = "digest";
  if (first.end - first.begin != scheme.size() || !begins_with(line.substr(first.begin), scheme))
    return;
  const std::string_view word = line.substr(second.begin, second.end - second.begin);
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos || begins_with(word.substr(colon), "://")) return;
  constexpr std::array schemes{"digest", "auth", "world", "ip", "sasl", "x509", "super"};
  if (std::find(schemes.begin(), schemes.end(), word.substr(0, colon)) != schemes.end()) return;
  secrets.push_back({second.begin + colon + 1, second.end});
}

}  // namespace

std::optional<std::string> mask_secrets(std::string_view line) {
  std::vector<Range> secrets;
  find_addauth(line, secrets);
  const std::vector<Range> words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    find_acls(line, words[i], secrets);
    if (i + 1 < words.size()) find_pair(line, words[i], words[i + 1], secrets);
  }
  std::erase_if(secrets, [](const Range& range) { return range.begin >= range.end; });
  if (secrets.empty()) return std::nullopt;
  std::sort(secrets.begin(), secrets.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });

  std::string masked;
  std::size_t done = 0;
  for (const auto& [begin, end] : secrets) {
    if (begin >= done) {
      masked += line.substr(done, begin - done);
      masked += mask;
    }
    done = std::max(done, end);
  }
  masked += line.substr(done);
  return masked;
}

std::string without_secrets(const std::string& line) { return mask_secrets(line).value_or(line); }

}  // namespace zksh
