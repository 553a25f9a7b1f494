// Options: declaring a command's arguments once, for parsing, help, man page and completion.
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

/// The arguments of one command. Each method binds a variable and records what the user is told.
/// A name list such as "-s,--stat" declares an option, a bare name such as "path" a positional.
/// "-add", as some of zkCli's options are called, works with one dash or two.
/// A positional bound to std::optional may be left out.
/// The bound variables must outlive the Options.
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
  /// An option whose value is one of these names, in upper or lower case, or else some other text.
  /// Given twice, it may be both.
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
  /// A positional that mostly is one of these words; what another one means is the command's own
  /// matter.
  void word_of(std::string_view name, std::optional<std::string>& target,
               std::vector<std::string> known, std::string_view help);
  void node(std::string_view name, std::string& target, std::string_view help);
  void node(std::string_view name, std::optional<std::string>& target, std::string_view help);
  /// All the positional words that are left: paths, or patterns of them (Context::resolve_all).
  void nodes(std::string_view name, std::vector<std::string>& target, std::string_view help,
             bool required = true);
  void acl(std::string_view name, std::string& target, std::string_view help);
  void acl(std::string_view name, std::optional<std::string>& target, std::string_view help);
  /// The name of a file of this machine.
  void file(std::string_view name, std::string& target, std::string_view help);
  void file(std::string_view names, std::optional<std::string>& target, std::string_view help,
            std::string_view value = "file");
  /// All the positional words that are left.
  void words(std::string_view name, std::vector<std::string>& target, std::string_view help,
             bool required = false);
  /// All the positional words that are left: locks of this shell, or nodes of contenders.
  void held_locks(std::string_view name, std::vector<std::string>& target, std::string_view help) {
    words(name, target, help);
    complete_as(Argument::Kind::HeldLocks);
  }
  /// All the positional words that are left: perhaps a number, then a command and its words.
  void command_line(std::string_view name, std::vector<std::string>& target,
                    std::string_view help) {
    words(name, target, help, true);
    complete_as(Argument::Kind::Line);
  }
  /// The number of a job in the background, perhaps behind a percent sign.
  void job(std::string_view name, std::optional<std::string>& target, std::string_view help) {
    text(name, target, help);
    complete_as(Argument::Kind::Job);
  }
  /// What the value of the argument declared last mostly is, for completion; others will do too.
  void suggest(std::vector<std::string> values);
  /// The same, where that depends on the word before.
  void suggest_after(std::map<std::string, std::vector<std::string>, std::less<>> values);
  /// The words from the first one on that is no option, and that no argument before it takes; its
  /// options are its own, as for env(1) or timeout(1). `--` may stand before it, and must where an
  /// argument may be left out, or takes all that is left.
  void program(std::vector<std::string>& target, std::string_view help);
  /// The next declared argument is a positional form of an old zkCli. A word that is no number
  /// where one is expected counts as surplus, as it does for the zkCli of today.
  Options& legacy();
  /// The next declared argument is one that many commands have.
  Options& common();

  /// Binds the words of a command line, the command's name left out. Options may stand anywhere,
  /// may be clustered (-sw), may carry their value (-v5, -v=5, --version=5), and end at `--`; a
  /// word such as -5 is data where no such option exists. Throws SyntaxError, or UsageError that
  /// names the word (and the nearest option, when one is unknown).
  void parse(const std::vector<std::string>& words);
  /// The positional words that no declared argument took.
  const std::vector<std::string>& surplus() const;
  /// The words of the program; none: no program was given, or none is declared.
  std::vector<std::string> program_words() const;

  const std::vector<Argument>& arguments() const;
  /// "[-s] [-v version] path [data]": derived from the declarations.
  std::string syntax() const;

 private:
  struct Impl;
  using Choose = std::function<void(std::size_t place)>;
  void choice_of(std::string_view names, std::vector<std::string> choices, Choose choose,
                 std::string_view value, std::string_view help);
  void choice_or_text_of(std::string_view names, std::vector<std::string> choices, Choose choose,
                         std::optional<std::string>& text, std::string_view value,
                         std::string_view help);
  /// The argument declared last.
  void require();
  /// Of the argument declared last.
  void complete_as(Argument::Kind kind);

  std::unique_ptr<Impl> impl_;
};

}  // namespace zksh
