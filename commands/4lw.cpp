// 4lw: send a four-letter word to every server, and print the answers.
#include "base/mapped.h"
#include "base/number.h"
#include "base/text.h"
#include "command/command.h"
#include "command/dry_run.h"
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
  Patience patience{std::chrono::seconds(2)};
  bool any = false;
  bool dry_run = false;
};

std::vector<std::string> known_words() {
  return mapped<std::string>(four_letter_words(), &FourLetterWord::word);
}

void declare(Options& o, Args& a) {
  o.text("word", a.word, "The four-letter word; see below.");
  o.suggest(known_words());
  declare_hosts(o, a.hosts);
  a.patience.declare(o);
  o.flag("--any", a.any, "Send the word even if zksh does not know it.");
  o.common().flag("--dry-run", a.dry_run,
                  "Show which servers would be asked to change their counters, and send nothing.");
}

void check_word(const Context& cx, const Args& a) {
  const auto* const known = find_word(a.word);
  if (known == nullptr && !a.any) {
    const auto similar = suggestions(a.word, known_words());
    throw ValueError(fmt::format(
        "unknown word: {}{}", a.word,
        similar.empty() ? fmt::format("; known words: {}", fmt::join(known_words(), ", "))
                        : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
  }
  if (known == nullptr && (a.word.size() != 4 || !std::ranges::all_of(a.word, [](unsigned char c) {
                             return std::isalnum(c) != 0;
                           })))
    throw ValueError(fmt::format("{}: a word must have four letters or digits", a.word));
  if (cx.services.protection.read_only && !a.dry_run && (known == nullptr || known->writes))
    throw Error(fmt::format("4lw {} refused: this zksh is read-only, and the word {} change the "
                            "server's counters",
                            a.word, known == nullptr ? "may" : "would"),
                status::read_only);
}

/// Converts the lines "key=value", "key: value" and "key<TAB>value" of an answer to JSON, with
/// whole numbers as numbers: {"zk_version": "3.8.0…", "zk_watch_count": 12, …}.
Json answer_fields(std::string_view answer) {
  auto fields = Json::object();
  for (const auto line : lines_of(answer)) {
    const auto end = line.find_first_of("=:\t");
    if (end == std::string_view::npos || end == 0) continue;
    auto value = line.substr(end + 1);
    if (line[end] == ':') value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    if (line[end] == ':' && value.empty()) continue;  // a heading
    const auto number = number_in<std::int64_t>(value);
    fields.set(line.substr(0, end), number ? Json(*number) : Json(value));
  }
  return fields;
}

Json json_of(const Args& a, const MemberAnswers& member,
             const std::optional<std::string>& problem) {
  const auto* const known = find_word(a.word);
  const auto* const text = problem ? nullptr : &member.answers.front().text;
  auto json = Json::object();
  json.set("server", member.name()).set("serverId", member.id).set("word", a.word);
  json.set("answer", text ? Json(*text) : Json());
  if (known && known->has_fields) json.set("fields", text ? answer_fields(*text) : Json());
  json.set("error", problem);
  return json;
}

void print_answer(Context& cx, const MemberAnswers& member, bool several) {
  const auto& text = member.answers.front().text;
  if (cx.out.plain() && several) {
    for (const auto line : lines_of(text))
      if (!line.empty())
        cx.out.line("{}\t{}", member.name(), cx.out.shown_lines(std::string(line)));
    return;
  }
  if (several)
    cx.out.line(
        "{}{}:", member.name(),
        member.id && member.address.port != 0 ? fmt::format(" (server.{})", *member.id) : "");
  cx.out.out(cx.out.shown_lines(text));
  if (!text.ends_with('\n')) cx.out.out("\n");
}

std::optional<std::string> problem_of(const std::string& word, const MemberAnswers& member) {
  if (member.answers.empty()) return "its client address is not known (use `4lw WORD HOST:PORT`)";
  // That is an answer to the word, too.
  if (is_not_serving(member.answers.front().text)) return std::nullopt;
  return no_answer(word, member.answers.front());
}

/// For --dry-run.
int report_writes(Context& cx, const Args& a, const ServersToAsk& asked) {
  const auto* const known = find_word(a.word);
  if (known && !known->writes) {
    if (!cx.out.json()) cx.out.err_line("nothing would be written");
    return status::ok;
  }
  const auto time = a.patience.time();
  int result = status::ok;
  for (const auto& member : ask_members(asked, {"srvr"}, time, cx.stop).members) {
    if (const auto problem = problem_of("srvr", member)) {
      cx.out.err_line("{}: {}", cx.out.shown_in_error(member.name()), *problem);
      result = status::failure;
      continue;
    }
    print_rehearsed(cx.out, {.verb = fmt::format("send {} to", a.word),
                             .path = member.name(),
                             .detail = std::string(known ? known->meaning : "unknown to zksh")});
  }
  return result;
}

int run(Context& cx, const Args& a) {
  check_word(cx, a);
  const auto asked = servers_to_ask(cx, a.hosts);
  if (a.dry_run) return report_writes(cx, a, asked);
  const auto all = ask_members(asked, {a.word}, a.patience.time(), cx.stop);
  bool first = true;
  bool any_answered = false;
  int result = status::ok;
  for (const auto& member : all.members) {
    const auto problem = problem_of(a.word, member);
    any_answered =
        any_answered || (!member.answers.empty() && member.answers.front().problem.empty());
    if (problem) result = status::failure;
    if (cx.out.json()) {
      print_json(cx, json_of(a, member, problem));
    } else if (problem) {
      cx.out.err_line("{}: {}", cx.out.shown_in_error(member.name()), *problem);
    } else {
      if (!std::exchange(first, false) && !cx.out.plain()) cx.out.line("");
      print_answer(cx, member, all.members.size() > 1);
    }
  }
  return any_answered ? result : status::no_connection;
}

/// " conf: its settings; cons: …" for the help.
std::string words_text() {
  std::string text;
  // Runs at every start, so without fmt, which would take three times as long.
  for (const auto& word : four_letter_words())
    text.append(1, ' ')
        .append(word.word)
        .append(": ")
        .append(word.meaning)
        .append(word.writes ? " (refused by a read-only zksh);" : ";");
  text.back() = '.';
  return text;
}

std::string_view details() {
  static const std::string text =
      "Sends the word to every member of the ensemble: the servers of the connect string, and the "
      "members that they list (conf). With several servers, each answer has its server above it; "
      "with -o plain, each line begins with its server. Servers that do not answer are named on "
      "stderr. No session is needed.\n\nA server answers the words that its 4lw.commands.whitelist "
      "allows; without that setting, only srvr. The words are:" +
      words_text() +
      "\n\nIf a server refuses a word or closes the connection, zksh asks its AdminServer instead "
      "(HTTP; ZooKeeper 3.5 and later, admin.enableServer in zoo.cfg), on port 8080 of the same "
      "host or where --admin-server or the setting admin-server says. If zksh uses TLS, both are "
      "asked over TLS: the server on its secureClientPort, and the AdminServer (3.6 and later, "
      "admin.portUnification) unless http:// stands before its address. The answer is shown in the "
      "word's own format. The AdminServer leaves some things out: directory sizes and observers "
      "for conf; connections and the time of day for dump, and on followers the sessions too. The "
      "words of more than four letters only AdminServers know.\n\nThe exit status is 0 if every "
      "server answered, 1 if some did not, and 3 if none did.";
  return text;
}

}  // namespace

// Identifiers cannot begin with a digit. NOLINTNEXTLINE(readability-identifier-naming)
extern const Command _4lw_command =
    make_command<Args>({.name = "4lw",
                        .group = "Servers",
                        .summary = "Send a four-letter word to every server",
                        .keywords = {"mntr", "ruok", "srvr", "cons", "wchs", "envi", "isro",
                                     "status", "metrics", "wchp"},
                        .details = details(),
                        .examples = {{"4lw srvr", "The role and load of each member."},
                                     {"4lw mntr -o plain", "Metrics, for grep."},
                                     {"4lw ruok", "Is each of them running?"}},
                        .json = "server serverId word answer [fields] error",
                        .json_fields = {{"answer", "string?", "The server's answer."},
                                        {"fields", "Figures?", "The answer's keys and values."},
                                        {"word", "string", "The four-letter word."}},
                        .needs = Needs::Nothing,
                        .pages = true},
                       declare, run);
}  // namespace zksh::command_4lw
