// Options: a command's arguments, declared once for parsing, help, manual page and completion.
#pragma once

#include "base/named_values.h"
#include "base/number.h"
#include "command/argument.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The arguments of a command. Each method binds a variable, which must outlive the Options, and
/// records the description. "-s,--stat" declares an option, a bare name such as "path" a
/// positional. A long option of zkCli such as "-add" works with one dash or two. A positional bound
/// to std::optional may be left out.
class Options {
 public:
  Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options();

  void flag(std::string_view names, bool& target, std::string_view help);
  /// A decimal number with an optional sign, in the range of its type.
  void number(std::string_view names, std::optional<std::int32_t>& target, std::string_view value,
              std::string_view help);
  void number(std::string_view names, std::optional<std::int64_t>& target, std::string_view value,
              std::string_view help);
  void text(std::string_view names, std::string& target, std::string_view help);
  void text(std::string_view names, std::optional<std::string>& target, std::string_view help,
            std::string_view value = "text");
  /// An option whose value is one of these names, in upper or lower case.
  template <class Value, std::size_t count>
  void choice(std::string_view names, std::optional<Value>& target,
              const NamedValues<Value, count>& values, std::string_view value,
              std::string_view help) {
    choice_of(
        names, names_of(values),
        [&target, values](std::size_t place) {
          if (!target) target = values[place].second;
        },
        value, help);
  }
  /// The same, required.
  template <class Value, std::size_t count>
  void choice(std::string_view name, Value& target, const NamedValues<Value, count>& values,
              std::string_view value, std::string_view help) {
    choice_of(
        name, names_of(values),
        [&target, values](std::size_t place) { target = values[place].second; }, value, help);
    require();
  }
  /// An option whose value is one of these names, in upper or lower case, or some other text. It
  /// may be given twice, once for each.
  template <class Value, std::size_t count>
  void choice_or_text(std::string_view names, std::optional<Value>& target,
                      std::optional<std::string>& text, const NamedValues<Value, count>& values,
                      std::string_view value, std::string_view help) {
    choice_or_text_of(
        names, names_of(values),
        [&target, values](std::size_t place) {
          if (!target) target = values[place].second;
        },
        text, value, help);
  }
  /// A positional that is usually one of these words; the command itself handles others.
  void word_of(std::string_view name, std::optional<std::string>& target,
               std::vector<std::string> known, std::string_view help);
  void node(std::string_view name, std::string& target, std::string_view help);
  void node(std::string_view name, std::optional<std::string>& target, std::string_view help);
  /// All remaining positional words: paths or patterns (Context::resolve_all).
  void nodes(std::string_view name, std::vector<std::string>& target, std::string_view help,
             bool required = true);
  void acl(std::string_view name, std::string& target, std::string_view help);
  void acl(std::string_view name, std::optional<std::string>& target, std::string_view help);
  /// The name of a local file.
  void file(std::string_view name, std::string& target, std::string_view help);
  void file(std::string_view names, std::optional<std::string>& target, std::string_view help,
            std::string_view value = "file");
  /// All remaining positional words.
  void words(std::string_view name, std::vector<std::string>& target, std::string_view help,
             bool required = false);
  /// All remaining positional words: locks of this shell, or nodes of contenders.
  void held_locks(std::string_view name, std::vector<std::string>& target, std::string_view help) {
    words(name, target, help);
    complete_as(Argument::Kind::HeldLocks);
  }
  /// All remaining positional words: an optional number, then a command and its words.
  void command_line(std::string_view name, std::vector<std::string>& target,
                    std::string_view help) {
    words(name, target, help, true);
    complete_as(Argument::Kind::Line);
  }
  /// The number of a background job, with an optional percent sign.
  void job(std::string_view name, std::optional<std::string>& target, std::string_view help) {
    text(name, target, help);
    complete_as(Argument::Kind::Job);
  }
  /// Common values of the last declared argument, for completion; others are allowed.
  void suggest(std::vector<std::string> values);
  /// The same, depending on the word before.
  void suggest_after(std::map<std::string, std::vector<std::string>, std::less<>> values);
  /// A program with its arguments: all words from the first that is neither an option nor taken by
  /// an earlier argument, as for env(1) or timeout(1). `--` may precede it, and must if an earlier
  /// argument is optional or takes all remaining words.
  void program(std::vector<std::string>& target, std::string_view help);
  /// Marks the next declared argument as a positional form of old zkCli versions. A word that is
  /// not the expected number then counts as surplus, as in today's zkCli.
  Options& legacy();
  /// Marks the next declared option as one that cannot be combined with others so marked.
  Options& exclusive();
  /// Marks the next declared argument as shared by many commands.
  Options& common();

  /// Parses the words of a command line, without the command's name. Options may be anywhere, may
  /// be clustered (-sw), may carry their value (-v5, -v=5, --version=5), and end at `--`. A word
  /// such as -5 is data if there is no such option. Throws SyntaxError, or UsageError that names
  /// the word, and suggests an option if it is unknown.
  void parse(const std::vector<std::string>& words);
  /// The positional words that no argument took.
  const std::vector<std::string>& surplus() const;
  /// The words of the program; empty if none was given or declared.
  std::vector<std::string> program_words() const;

  const std::vector<Argument>& arguments() const;
  /// The usage derived from the declarations: "[-s] [-v version] path [data]".
  std::string syntax() const;

 private:
  struct Impl;
  using Choose = std::function<void(std::size_t place)>;
  void choice_of(std::string_view names, std::vector<std::string> choices, Choose choose,
                 std::string_view value, std::string_view help);
  void choice_or_text_of(std::string_view names, std::vector<std::string> choices, Choose choose,
                         std::optional<std::string>& text, std::string_view value,
                         std::string_view help);
  /// Makes the last declared argument required.
  void require();
  /// Sets how the last declared argument is completed.
  void complete_as(Argument::Kind kind);

  std::unique_ptr<Impl> impl_;
};

}  // namespace zksh
