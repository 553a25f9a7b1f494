// 4lw: send a four-letter word to every server, and print the answers.
#include "base/suggestions.h"
#include "command/command.h"
#include "config/settings.h"
#include "ensemble/member_words.h"
#include "ensemble/server_command.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace zksh::command_4lw {
namespace {

struct Args {
  std::string word;
  std::vector<std::string> hosts;
  std::optional<std::string> timeout;
  bool any = false;
};

std::vector<std::string> known_words() {
  std::vector<std::string> names;
  for (const auto& word : four_letter_words()) names.emplace_back(word.word);
  return names;
}

void declare(Options& o, Args& a) {
  o.text("word", a.word, "The word; see below.");
  o.suggest(known_words());
  o.words("host", a.hosts,
          "host[:port]: the servers to ask; without it all members of the ensemble.");
  declare_patience(o, a.timeout, "2s");
  o.flag("--any", a.any, "Send a word of four letters that zksh does not know.");
}

const FourLetterWord* find_word(const std::string& name) {
  const auto words = four_letter_words();
  const auto found = std::ranges::find(words, name, &FourLetterWord::word);
  return found == words.end() ? nullptr : &*found;
}

void check_word(const Context& cx, const Args& a) {
  const auto* const known = find_word(a.word);
  if (known == nullptr && !a.any) {
    const auto similar = suggestions(a.word, known_words());
    throw ValueError(
        fmt::format("unknown word: {}{}", a.word,
                    similar.empty() ? fmt::format("; there are {}", fmt::join(known_words(), ", "))
                                    : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
  }
  if (a.word.size() != 4 ||
      !std::ranges::all_of(a.word, [](unsigned char c) { return std::isalnum(c) != 0; }))
    throw ValueError(fmt::format("{}: a word must have four letters", a.word));
  if (cx.services.protection.read_only && (known == nullptr || known->writes))
    throw Error(fmt::format("4lw {} is refused: this zksh is read-only, and the word {} change the "
                            "server's counters",
                            a.word, known == nullptr ? "may" : "would"),
                status::read_only);
}

void print_json_answer(Context& cx, const Args& a, const MemberAnswers& member,
                       const std::optional<std::string>& problem) {
  const auto* const known = find_word(a.word);
  auto json = Json::object();
  json.set("server", member.name()).set("serverId", member.id).set("word", a.word);
  const bool answered = !problem;
  json.set("answer", answered ? Json(member.answers.front().text) : Json());
  if (known != nullptr && known->has_fields)
    json.set("fields", answered ? answer_fields(member.answers.front().text) : Json());
  json.set("error", problem);
  print_json(cx, json);
}

std::string heading(const MemberAnswers& member) {
  return fmt::format(
      "{}{}:", member.name(),
      member.id && member.address.port != 0 ? fmt::format(" (server.{})", *member.id) : "");
}

/// Prefixes each line with its server.
void print_fields(Context& cx, const MemberAnswers& member, std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty()) cx.out.line("{}\t{}", member.name(), cx.out.shown(line));
  }
}

void print_answer(Context& cx, const MemberAnswers& member, bool several) {
  const auto& text = member.answers.front().text;
  if (cx.out.plain() && several) return print_fields(cx, member, text);
  if (several) cx.out.line("{}", heading(member));
  cx.out.out(cx.out.shown_lines(text));
  if (!text.ends_with('\n')) cx.out.out("\n");
}

std::optional<std::string> problem_of(const std::string& word, const MemberAnswers& member) {
  if (member.answers.empty())
    return "its address for clients is not known (name it: 4lw WORD HOST)";
  // That is the answer then.
  if (is_not_serving(member.answers.front().text)) return std::nullopt;
  return no_answer(word, member.answers.front());
}

int run(Context& cx, const Args& a) {
  check_word(cx, a);
  const auto asked = asked_servers(cx, a.hosts);
  const auto all =
      ask_members(asked, {a.word}, patience_of(a.timeout, std::chrono::seconds(2)), cx.stop);
  const bool several = all.members.size() > 1;
  bool first = true;
  bool heard = false;
  int result = status::ok;
  for (const auto& member : all.members) {
    const auto problem = problem_of(a.word, member);
    heard = heard || (!member.answers.empty() && member.answers.front().problem.empty());
    if (problem) result = status::failure;
    if (cx.out.json()) {
      print_json_answer(cx, a, member, problem);
      continue;
    }
    if (problem) {
      cx.out.err_line("{}: {}", cx.out.shown_in_error(member.name()), *problem);
      continue;
    }
    if (!first && !cx.out.plain()) cx.out.line("");
    first = false;
    print_answer(cx, member, several);
  }
  return heard ? result : status::no_connection;
}

std::string details() {
  std::string text =
      "The words, which a server answers without a session where its 4lw.commands.whitelist allows "
      "them (without that line, only srvr):";
  for (const auto& word : four_letter_words())
    text += fmt::format(" {}: {}{};", word.word, word.meaning,
                        word.writes ? " (refused by a read-only zksh)" : "");
  text.back() = '.';
  return text +
         "\n\nAll members of the ensemble are asked: the servers of the connect string, and those "
         "that they name as their members (conf). With several, each answer has its server above "
         "it; with -o plain, before each line. zksh says on stderr which server did not answer.\n\n"
         "Where a server refuses a word, or closes the connection on it, its AdminServer is asked "
         "(ZooKeeper 3.5 and later, admin.enableServer in zoo.cfg; plain HTTP): at port 8080 of "
         "the same host, or where --admin-server or the setting admin-server says. What it tells "
         "is shown as the word would answer; of conf it does not know directories' sizes and "
         "observers, of dump connections and the time of day, and on followers no sessions.\n\n"
         "Status 0 when all have answered, 1 when one has not, 3 when none has.";
}

}  // namespace

// Identifiers cannot begin with a digit. NOLINTNEXTLINE(readability-identifier-naming)
extern const Command _4lw_command =
    make_command<Args>({.name = "4lw",
                        .group = "Servers",
                        .summary = "Send a four-letter word to every server",
                        .keywords = {"mntr", "ruok", "srvr", "status", "metrics"},
                        .details =
                            [] {
                              static const std::string text = details();
                              return std::string_view(text);
                            }(),
                        .examples = {{"4lw srvr", "What each member is and does."},
                                     {"4lw mntr -o plain", "Metrics, for grep."},
                                     {"4lw ruok", "Does each of them run?"}},
                        .json = "server serverId word answer [fields] error",
                        .needs = Needs::Nothing,
                        .strict = true,
                        .pages = true},
                       declare, run);
}  // namespace zksh::command_4lw
