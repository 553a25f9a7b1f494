// Secrets: finds and masks passwords and password hashes in a command line.
#include "base/secrets.h"

#include "base/text.h"
#include "base/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

namespace zksh {
namespace {

constexpr std::string_view permissions = "rwcdaRWCDA";

bool begins_with(std::string_view text, std::string_view start) {
  return equal_ignoring_case(text.substr(0, start.size()), start);
}

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool continues_name(char c) { return is_alphanumeric(c) || c == '_' || c == '/' || c == '.'; }

/// The words without their quotes, also those of a comment: a line that cannot run can still
/// contain a secret.
std::vector<std::string_view> words_of(std::string_view line) {
  std::string copy(line);
  if (const auto first = copy.find_first_not_of(white_space);
      first != std::string_view::npos && copy[first] == '#')
    copy[first] = '-';  // a comment has no words for word_places, but may have a secret
  std::vector<std::string_view> words;
  for (const auto& place : word_places(copy))
    words.push_back(line.substr(place.text_begin(), place.text_end() - place.text_begin()));
  return words;
}

/// What follows a user name and a colon, or the whole text, without quotes and blanks at its end.
std::string_view credential(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\n\v\f\r\"'") + 1);
  const auto end = std::ranges::find_if(text, [](char c) {
    return !is_alphanumeric(c) && std::string_view("_.@-").find(c) == std::string_view::npos;
  });
  return end != text.end() && *end == ':' ? std::string_view(end + 1, text.end()) : text;
}

/// What follows `addauth SCHEME`, to the end of the line. Searches the raw text, since misplaced
/// quotes join words.
std::string_view secret_of_addauth(std::string_view line) {
  constexpr std::string_view name = "addauth";
  constexpr std::string_view between_words = " \t\n\v\f\r\"'$";
  for (std::size_t at = 0; at + name.size() < line.size(); ++at) {
    if (!begins_with(line.substr(at), name) || (at > 0 && continues_name(line[at - 1]))) continue;
    const auto rest = line.substr(at + name.size());
    const auto scheme = without_leading(rest, between_words);
    if (scheme.size() == rest.size()) continue;
    const auto end = std::min(scheme.find_first_of(" \t\n\v\f\r\"':"), scheme.size());
    const auto behind = scheme.substr(end);
    const auto secret =
        credential(behind.starts_with(':') ? scheme : without_leading(behind, between_words));
    if (!secret.empty()) return secret;
  }
  return {};
}

/// The position of the colon before an ACL's permissions; the text's end if there are none.
std::size_t permissions_begin(std::string_view text) {
  for (auto colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const auto end = text.find_first_not_of(permissions, colon + 1);
    if (end == std::string_view::npos || text[end] == ',') return colon;
  }
  return text.size();
}

/// The hash or password in scheme:user:SECRET:perms, anywhere in a word.
void find_acls(std::string_view word, std::vector<std::string_view>& secrets) {
  for (const std::string_view scheme : {"digest:", "auth:", "super:"}) {
    for (std::size_t at = 0; at < word.size(); ++at) {
      if (!begins_with(word.substr(at), scheme) || (at > 0 && continues_name(word[at - 1])))
        continue;
      const auto colon = word.find(':', at + scheme.size());
      if (colon == std::string_view::npos) continue;
      const auto rest = word.substr(colon + 1);
      const auto part = rest.substr(0, rest.find(','));
      // auth:user:cdrwa has no secret: the server uses the session's identities.
      if (scheme == "auth:" && part.find_first_not_of(permissions) == std::string_view::npos)
        continue;
      const auto secret = rest.substr(0, permissions_begin(rest));
      if (!secret.starts_with('@')) secrets.push_back(secret);  // not the name of a file
      at = colon + 1 + secret.size();                           // also keeps the cost linear
    }
  }
}

/// `digest user:password` as two words.
std::string_view secret_of_pair(std::string_view first, std::string_view second) {
  constexpr std::array schemes{"digest", "auth", "world", "ip", "sasl", "x509", "super"};
  const auto colon = second.find(':');
  if (!equal_ignoring_case(first, "digest") || colon == std::string_view::npos ||
      second.substr(colon).starts_with("://") ||
      std::ranges::find(schemes, second.substr(0, colon)) != schemes.end())
    return {};
  return second.substr(colon + 1);
}

/// Whether a word may be a command's name: at the beginning of the line, after another command, or
/// after one that runs it. (Error messages, which are masked too, contain such words in sentences.)
bool may_begin_command(std::string_view line, std::span<const std::string_view> words,
                       std::size_t at) {
  constexpr std::array runs_others{"repeat", "timing", "help", "#"};
  for (; at > 0; --at) {
    const auto before = line.substr(0, static_cast<std::size_t>(words[at].data() - line.data()));
    const auto last = before.find_last_not_of(" \t\n\v\f\r\"'$");
    if (last != std::string_view::npos &&
        std::string_view(";|&").find(before[last]) != std::string_view::npos)
      return true;
    const auto& word = words[at - 1];
    const bool goes_on =
        word.starts_with('-') ||
        (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) ||
        std::ranges::find(runs_others, word) != runs_others.end();
    if (!goes_on) return false;
  }
  return true;
}

/// What stands in the password's place in the command `digest user password`, which refuses it.
std::string_view secret_of_digest(std::string_view line, std::span<const std::string_view> words,
                                  std::size_t at) {
  constexpr std::string_view begins_no_password = "@-|<>&;";
  if (words.size() - at < 3 || words[at] != "digest") return {};
  const auto secret = words[at + 2];
  if (secret.empty() || begins_no_password.find(secret.front()) != std::string_view::npos)
    return {};
  return may_begin_command(line, words, at) ? secret : std::string_view();
}

/// Whether the line has any text that a secret may follow. Every start asks this of each argument.
bool may_have_secrets(std::string_view line) {
  return std::ranges::any_of(std::array{"auth", "digest", "super"}, [&](std::string_view mark) {
    return std::search(line.begin(), line.end(), mark.begin(), mark.end(),
                       [](char a, char b) { return lower_case(a) == b; }) != line.end();
  });
}

}  // namespace

std::optional<std::string> mask_secrets(std::string_view line) {
  if (!may_have_secrets(line)) return std::nullopt;
  std::vector<std::string_view> secrets{secret_of_addauth(line)};
  const auto words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    find_acls(words[i], secrets);
    if (i + 1 < words.size()) secrets.push_back(secret_of_pair(words[i], words[i + 1]));
    secrets.push_back(secret_of_digest(line, words, i));
  }
  std::erase(secrets, "");
  if (secrets.empty()) return std::nullopt;
  std::ranges::sort(secrets, {}, [](std::string_view secret) { return secret.data(); });

  std::string masked;
  const auto* done = line.data();
  for (const auto secret : secrets) {
    if (secret.data() >= done) masked.append(done, secret.data()).append("***");
    done = std::max(done, secret.data() + secret.size());
  }
  return masked.append(done, line.data() + line.size());
}

std::string without_secrets(const std::string& line) { return mask_secrets(line).value_or(line); }

}  // namespace zksh
