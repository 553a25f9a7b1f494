// Prompt: formats the prompt.
#include "shell/prompt.h"

#include "base/error.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

constexpr std::string_view red = "\033[1;31m";
constexpr std::string_view plain = "\033[0m";

std::string marked(const std::string& text, bool marks) {
  return marks && !text.empty() ? fmt::format("{}{}{}", red, text, plain) : text;
}

/// Prepends a blank unless the text is empty.
std::string apart(const std::string& text) { return text.empty() ? "" : ' ' + text; }

std::string short_path(const std::string& path, bool ascii) {
  constexpr std::size_t widest = 40;
  return cut_middle(escape_for_terminal(path), widest, ascii ? "..." : "…");
}

std::string status_word(int status) {
  // The user who interrupted a command knows.
  constexpr int interrupted = status::signal_base + 2;
  return status == status::ok || status == interrupted ? "" : fmt::format("!{}", status);
}

/// The first server and the number of others: "zk1:2181,+2/app".
std::string short_servers(const std::string& servers) {
  const auto chroot = std::min(servers.find('/'), servers.size());
  const auto more =
      std::count(servers.begin(), servers.begin() + static_cast<std::ptrdiff_t>(chroot), ',');
  if (more == 0) return servers;
  return fmt::format("{},+{}{}", servers.substr(0, servers.find(',')), more,
                     servers.substr(chroot));
}

/// The expansion of a letter; an unknown one expands to itself.
std::string filled(char letter, const PromptFacts& facts, bool colors) {
  switch (letter) {
    case 's':
      return escape_for_terminal(short_servers(facts.server));
    case 'h':
      return escape_for_terminal(facts.server);
    case 'S':
      return facts.state;
    case 'n':
      return std::to_string(facts.number);
    case 'd':
      return facts.node == "/" ? "" : apart(short_path(facts.node, facts.ascii));
    case 'p':
      return apart(marked(escape_for_terminal(facts.profile), colors && facts.dangerous));
    case 'l':
      return apart(short_path(facts.locks, facts.ascii));
    case '?':
      return apart(marked(status_word(facts.status), colors));
    case '%':
      return "%";
    default:
      return {'%', letter};
  }
}

}  // namespace

std::string prompt_text(std::string_view format, const PromptFacts& facts, bool colors) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const auto sign = std::min(format.find('%', at), format.size());
    text += escape_for_terminal(format.substr(at, sign - at));
    at = sign;
    if (at + 1 < format.size()) text += filled(format[++at], facts, colors);
  }
  return text;
}

}  // namespace zksh
