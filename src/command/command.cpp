// Command: the command table, and what commands share.
#include "command/command.h"

#include "base/text.h"
#include "base/words.h"
#include "client/client.h"
#include "client/connect_string.h"
#include "client/node_pattern.h"
#include "command/current_node.h"
#include "command/given_words.h"
#include "command/questions.h"
#include "config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <unistd.h>

namespace zksh {
namespace {

/// Allows patterns in a write's words where quotes are lost.
constexpr std::string_view glob_option = "--glob";

}  // namespace

Monitor& Context::monitor() const { return client.monitor(); }

int Context::excused(int status) const { return services.settings.drop_in ? status::ok : status; }

int Context::data_input() const {
  if (input == Input::Pipe || services.script_is_input)
    throw ValueError("the commands come from standard input; give a file name");
  if (input == Input::Terminal)
    throw ValueError("standard input is the terminal; give a file name");
  return STDIN_FILENO;
}

bool Context::can_ask() const {
  return input != Input::Pipe && !background && Questions::possible();
}

std::optional<std::string> Context::ask(const std::string& prompt, bool hidden) const {
  if (!can_ask()) return std::nullopt;
  return services.questions.ask({.prompt = prompt,
                                 .json = out.json() ? question_line(prompt, out.command()) : "",
                                 .hidden = hidden},
                                stop);
}

bool Context::knows_current_node() const { return input == Input::Terminal || current.previous(); }

namespace {

/// Says how to reach a node of another server, if the word can mean nothing else.
void refuse_other_server(const Context& cx, const std::string& word) {
  if (cx.input == Input::Pipe) return;
  // At the prompt, a word without zk:// might be a relative path.
  if (!word.starts_with("zk://") && (cx.knows_current_node() || word.starts_with('/'))) return;
  const auto other = server_node(word);
  if (!other) return;
  const auto& command = cx.given.name;
  const bool copies = command == "cp" || command == "mv";
  throw ValueError(
      fmt::format("{} is a node of another server, which only diff reads: use `zksh -s {} {} {}`",
                  word, as_word(other->hosts), copies ? "dump" : command, as_word(other->path)) +
      (copies ? ", and `| zksh -s OTHER apply --to PATH` to copy it to another" : ""));
}

}  // namespace

std::string Context::resolve(const std::string& path, bool sequential) const {
  refuse_other_server(*this, path);
  auto absolute = knows_current_node() ? absolute_path(current.path(), path) : path;
  // Completion appends a slash to nodes with children. On piped lines zkCli would refuse it.
  if (input != Input::Pipe && !sequential && absolute.size() > 1 && absolute.ends_with('/'))
    absolute.pop_back();
  out.add_node(absolute);
  check_path(absolute, sequential);
  return absolute;
}

namespace {

/// For each of these nodes, which were given in this order: whether its word was quoted.
std::vector<bool> quoted_among(const Context& cx, const std::vector<std::string>& nodes) {
  std::vector<bool> flags(nodes.size());
  const auto data = cx.given.data();
  if (std::ranges::count(data, true) == 0 || std::ranges::none_of(nodes, is_pattern)) return flags;
  const auto own = given_words(cx.given.command->arguments(), cx.given.arguments, data);
  std::size_t at = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // cd resolves a relative word itself.
    while (at < own.positionals.size() && own.positionals[at] != nodes[i] &&
           absolute_path(cx.current.path(), own.positionals[at]) != nodes[i])
      ++at;
    if (at == own.positionals.size()) break;
    flags[i] = own.quoted[at++];
  }
  return flags;
}

bool is_used_as_pattern(const Context& cx, const std::string& word) {
  if (cx.input == Input::Pipe || !is_pattern(word)) return false;
  // A node of that name wins over a pattern.
  if (cx.client.exists(cx.resolve(word), Watch::none(), cx.stop)) return false;
  // The process's arguments have lost their quotes, so a write needs --glob for patterns.
  if (cx.input != Input::Arguments || !cx.given.command->writes || cx.given.has_option(glob_option))
    return true;
  cx.out.err_line("{} is taken as the name of one node ({} expands it as a pattern)", word,
                  glob_option);
  return false;
}

}  // namespace

std::vector<std::string> Context::resolve_all(const std::vector<std::string>& nodes) const {
  std::vector<std::string> paths;
  paths.reserve(nodes.size());
  const auto is_data = quoted_among(*this, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& word = nodes[i];
    if (is_data[i] || !is_used_as_pattern(*this, word)) {
      paths.push_back(resolve(word));
      continue;
    }
    const auto pattern = resolve(word);
    const auto matches = matching_nodes(client, pattern, stop);
    if (matches.empty())
      throw Error(fmt::format("no node matches {} (quote it if it is not a pattern)", pattern),
                  status::no_node, pattern);
    paths.insert(paths.end(), matches.begin(), matches.end());
  }
  return paths;
}

std::vector<std::string> Context::resolve_all_or_current(
    const std::vector<std::string>& nodes) const {
  if (!nodes.empty()) return resolve_all(nodes);
  return {knows_current_node() ? current.path() : "/"};
}

namespace {

/// Options that all commands have.
struct CommonOptions {
  std::optional<Format> format{};
  bool dry_run = false;
  bool glob = false;  ///< Context::resolve_all reads it from the words
};

bool takes(const Options& options, Argument::Kind kind) {
  return std::ranges::count(options.arguments(), kind, &Argument::kind) > 0;
}

/// `as_zkcli`: only zkCli's options are allowed, not -o. A command that runs another line leaves -o
/// to that line.
void declare_common(Options& options, CommonOptions& common, bool writes, bool as_zkcli) {
  if (!as_zkcli && !takes(options, Argument::Kind::Line))
    options.common().choice("-o,--output", common.format, named_formats, "format",
                            "Output format: zkcli (also: text, table), plain or json.");
  if (!writes) return;
  options.common().flag("--dry-run", common.dry_run,
                        "Show what would be written, without writing it.");
  if (takes(options, Argument::Kind::NodePaths))
    options.common().flag(glob_option, common.glob,
                          "Expand patterns in zksh's own command-line arguments, too.");
}

constexpr const char* only_at_prompt = "only lines typed at the prompt can run in the background";

/// On piped lines, zkCli answers wrong words with nothing but the syntax.
[[noreturn]] void refuse_words(Input input, const std::string& why) {
  if (input == Input::Pipe) throw SyntaxError(why);
  throw UsageError(why);
}

/// The last word of a script's line belongs to the program. Where it would mean something else at
/// the prompt, it must be quoted.
void refuse_background(const Context& cx, const std::vector<std::string>& program) {
  const bool is_line = cx.input == Input::Text || cx.input == Input::Pipe;
  if (!is_line || program.empty() || program.back() != "&") return;
  // The program's words are the last of the line.
  if (!cx.given.quoted.empty() && cx.given.quoted.back()) return;
  refuse_words(cx.input, fmt::format("{} (to pass & to the program, quote it)", only_at_prompt));
}

/// On piped lines zkCli ignores surplus words, unless the command is strict.
void refuse_surplus(const Context& cx, const Options& options, bool strict) {
  if (options.surplus().empty() || (cx.input == Input::Pipe && !strict)) return;
  const bool runs_program = takes(options, Argument::Kind::Program);
  const auto& first = options.surplus().front();
  const auto* const hint = first == "&"   ? only_at_prompt
                           : runs_program ? "write -- before a program"
                                          : "quote a value that contains blanks";
  refuse_words(cx.input, fmt::format("too many arguments: \"{}\" ({})", first, hint));
}

}  // namespace

/// Parses the arguments into new Args. Sets the output format they choose, also for the error if
/// this throws.
std::shared_ptr<void> Command::parsed(const Context& cx) const {
  Options options;
  CommonOptions common;
  const bool piped = cx.input == Input::Pipe;
  auto args = declare(options);
  declare_common(options, common, writes, zkcli_syntax && piped);
  if (zkcli_syntax && piped) options.keep_names_in(*zkcli_syntax);
  auto words = cx.given.arguments;
  if (optionless && piped) words.insert(words.begin(), "--");
  const auto choose_format = [&] {
    if (common.format) cx.out.set_format(*common.format);
  };
  try {
    options.parse(words, cx.given.data(), piped);
  } catch (const UsageError&) {
    choose_format();
    throw;
  }
  choose_format();
  if (common.dry_run && !cx.rehearsal) throw UsageError("--dry-run must be a separate word");
  refuse_background(cx, options.program_words());
  refuse_surplus(cx, options, strict.value_or(!zkcli_syntax));
  return args;
}

std::vector<Argument> Command::arguments() const {
  Options options;
  CommonOptions common;
  const auto args = declare(options);
  declare_common(options, common, writes, false);
  return options.arguments();
}

std::vector<ForeignOptions> Command::foreign_options() const {
  Options options;
  const auto args = declare(options);
  return options.foreign();
}

const Command* command_named(std::string_view name) {
  for (const Command* command : all_commands())
    if (command->name == name ||
        std::ranges::find(command->aliases, name) != command->aliases.end())
      return command;
  return nullptr;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* command : all_commands()) {
    names.emplace_back(command->name);
    names.insert(names.end(), command->aliases.begin(), command->aliases.end());
  }
  return names;
}

bool has_name(const Command& command, std::string_view word) {
  const auto is = [&](std::string_view text) { return equal_ignoring_case(text, word); };
  return is(command.name) || std::ranges::any_of(command.aliases, is) ||
         std::ranges::any_of(command.keywords, is);
}

namespace {

/// As has_name, but a plural matches its singular.
bool is_known_as(const Command& command, std::string_view word) {
  return has_name(command, word) ||
         (word.ends_with('s') && has_name(command, word.substr(0, word.size() - 1)));
}

/// The name of the command, followed by the word if the command takes it: "4lw mntr".
std::string with_word(const Command& command, const std::string& word) {
  for (const auto& argument : command.arguments())
    if (argument.positional() && std::ranges::count(argument.choices, word) > 0)
      return fmt::format("{} {}", command.name, word);
  return std::string(command.name);
}

/// The commands that the word is about, or, if they are many, the `help` that lists them.
std::vector<std::string> commands_about(const std::string& word) {
  constexpr std::size_t few = 4;
  std::vector<std::string> names;
  for (const Command* command : all_commands())
    if (is_known_as(*command, word)) names.push_back(with_word(*command, word));
  if (names.size() > few) names = {"help " + word};
  return names;
}

/// For a question such as "how do I restore a backup": the `help` for its words that help knows.
std::vector<std::string> help_for_question(std::span<const std::string_view> words) {
  constexpr auto asking = std::to_array<std::string_view>(
      {"how", "what", "where", "which", "why", "who", "can", "show"});
  if (words.size() < 3 || std::ranges::count(asking, words.front()) == 0) return {};
  constexpr std::size_t most = 3;
  std::vector<std::string> helps;
  for (const auto word : words.subspan(1))
    if (helps.size() < most && !commands_about(std::string(word)).empty())
      helps.push_back(fmt::format("help {}", word));
  return helps;
}

}  // namespace

std::vector<std::string> suggested_commands(std::string_view line) {
  const auto words = split(line, ' ');
  const std::string first(words.front());
  // Another word for a command is not a typing error.
  if (auto names = commands_about(first); !names.empty()) return names;
  if (auto helps = help_for_question(words); !helps.empty()) return helps;
  return suggestions(first, command_names());
}

}  // namespace zksh
