// Options: a command's arguments, declared once for parsing, help, manual page and completion.
#pragma once

#include "base/error.h"
#include "base/named_values.h"
#include "base/number.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zksh {

struct GivenWords;

/// Too few words, or words that do not fit the syntax; the user is shown the usage line.
class SyntaxError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A declared argument.
struct Argument {
  enum class Kind {
    Flag,
    Number,
    Text,
    Choice,
    NodePath,
    NodePaths,  ///< all remaining positional words
    HeldLocks,  ///< likewise
    Job,
    AclList,
    AclIds,  ///< identities in the ACL of the command's node
    File,
    Words,  ///< likewise
    Line,   ///< likewise: an optional number, then a command and its words
    Program,
  };
  Kind kind = Kind::Text;
  std::vector<std::string> names{};  ///< "-s", "--stat"; a positional has one name, without dashes
  std::string value{};               ///< the placeholder for an option's value; empty for a flag
  std::string help{};
  std::vector<std::string> choices{};
  /// Choices that depend on the word before, by that word.
  std::map<std::string, std::vector<std::string>, std::less<>> choices_after{};
  bool required = false;
  bool demanded = false;   ///< required, which the command itself checks
  bool legacy = false;     ///< a form of old zkCli versions: accepted, but not shown in the syntax
  bool common = false;     ///< shared by many commands: not shown in the syntax, to keep that short
  bool exclusive = false;  ///< an option that cannot be combined with others that have this set
  bool marked = false;     ///< for Program: must follow `--`

  bool positional() const { return names.front().front() != '-'; }
  bool takes_value() const { return kind != Kind::Flag; }
  /// Those of its names that occur in a syntax such as zkCli's.
  std::vector<std::string> names_in(std::string_view syntax) const;
  /// How the usage line shows it: "[-v version]", "path", "[data]", "path…", "[program
  /// [argument…]]".
  std::string syntax() const;
  bool takes_rest() const {
    return kind == Kind::Words || kind == Kind::NodePaths || kind == Kind::HeldLocks ||
           kind == Kind::Line;
  }
  /// Whether it is a positional that takes a single word.
  bool takes_one_word() const { return positional() && !takes_rest() && kind != Kind::Program; }
};

/// The usage line of these arguments: "[-s] [-v version] path [data]".
std::string syntax_of(std::span<const Argument> arguments);

/// Options of a command's namesake in other tools, with what to use instead.
struct ForeignOptions {
  std::vector<std::string_view> names;
  std::string_view remedy;
};

/// The arguments of a command. Each method binds a variable, which must outlive the Options, and
/// records the description. "-s,--stat" declares an option, a bare name such as "path" a
/// positional. A long option of zkCli such as "-add" works with one dash or two. What is bound to
/// std::optional may be left out; if it is given twice, the first counts.
class Options {
 public:
  Options() = default;
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() = default;

  void flag(std::string_view names, bool& target, std::string_view help);
  /// A decimal number with an optional sign, in the range of its type.
  template <class Number>
  void number(std::string_view names, std::optional<Number>& target, std::string_view value,
              std::string_view help);
  /// `target` of this and the next: a std::string, or an optional one.
  void text(std::string_view names, auto& target, std::string_view help,
            std::string_view value = "text") {
    word(Argument::Kind::Text, names, target, help, value);
  }
  /// A time, see parse_duration.
  void duration(std::string_view names, std::optional<std::chrono::milliseconds>& target,
                std::string_view help);
  /// One of these names, in upper or lower case.
  template <class Target, class Value, std::size_t count>
  void choice(std::string_view names, Target& target, const NamedValues<Value, count>& values,
              std::string_view value, std::string_view help) {
    choice_of(names, choices_for(target, values), nullptr, value, help);
    if (std::is_same_v<Target, Value>) require();
  }
  /// The same, or some other text. It may be given twice, once for each.
  template <class Value, std::size_t count>
  void choice_or_text(std::string_view names, std::optional<Value>& target,
                      std::optional<std::string>& text, const NamedValues<Value, count>& values,
                      std::string_view value, std::string_view help) {
    choice_of(names, choices_for(target, values), &text, value, help);
  }
  /// A positional that is usually one of these words; the command itself handles others.
  void word_of(std::string_view name, std::optional<std::string>& target,
               std::vector<std::string> known, std::string_view help) {
    word(Argument::Kind::Choice, name, target, help);
    suggest(std::move(known));
  }
  void node(std::string_view name, auto& target, std::string_view help) {
    word(Argument::Kind::NodePath, name, target, help);
  }
  void acl(std::string_view names, auto& target, std::string_view help,
           std::string_view value = {}) {
    word(Argument::Kind::AclList, names, target, help, value);
  }
  /// Identities in a node's ACL: scheme:id, separated by commas.
  void acl_ids(std::string_view names, std::optional<std::string>& target, std::string_view help,
               std::string_view value = "ids") {
    word(Argument::Kind::AclIds, names, target, help, value);
  }
  /// The name of a local file.
  void file(std::string_view names, auto& target, std::string_view help,
            std::string_view value = "file") {
    word(Argument::Kind::File, names, target, help, value);
  }
  /// The same for an option that may be given several times.
  void files(std::string_view names, std::vector<std::string>& target, std::string_view help,
             std::string_view value = "file") {
    rest(Argument::Kind::File, names, target, help, false, value);
  }
  /// The number of a background job, with an optional percent sign.
  void job(std::string_view name, std::optional<std::string>& target, std::string_view help) {
    word(Argument::Kind::Job, name, target, help);
  }
  /// All remaining positional words: paths or patterns (Context::resolve_all).
  void nodes(std::string_view name, std::vector<std::string>& target, std::string_view help,
             bool required = true) {
    rest(Argument::Kind::NodePaths, name, target, help, required);
  }
  /// All remaining positional words.
  void words(std::string_view name, std::vector<std::string>& target, std::string_view help,
             bool required = false) {
    rest(Argument::Kind::Words, name, target, help, required);
  }
  /// The same: locks of this shell, or nodes of contenders.
  void held_locks(std::string_view name, std::vector<std::string>& target, std::string_view help) {
    rest(Argument::Kind::HeldLocks, name, target, help, false);
  }
  /// The same: an optional number, then a command and its words.
  void command_line(std::string_view name, std::vector<std::string>& target,
                    std::string_view help) {
    rest(Argument::Kind::Line, name, target, help, true);
  }
  /// Common values of the last declared argument, for completion; others are allowed.
  void suggest(std::vector<std::string> values) { arguments_.back().choices = std::move(values); }
  /// The same, depending on the word before.
  void suggest_after(std::map<std::string, std::vector<std::string>, std::less<>> values) {
    arguments_.back().choices_after = std::move(values);
  }
  /// A program with its arguments: all words from the first that is neither an option nor taken by
  /// an earlier argument, as for env(1) or timeout(1). `--` may precede it, and must if an earlier
  /// argument is optional or takes all remaining words.
  void program(std::vector<std::string>& target, std::string_view help);
  /// What to say about options ("-mtime,-mmin") that the command lacks, but a namesake elsewhere
  /// has.
  void instead_of(std::string_view options, std::string_view remedy);
  /// Removes, from the options that occur in this syntax of zkCli, the names that do not.
  void keep_names_in(std::string_view syntax);
  /// Marks the next declared argument as a positional form of old zkCli versions. A word that is
  /// not the expected number then counts as surplus, as in today's zkCli.
  Options& legacy() { return mark(&Argument::legacy); }
  /// Marks the next declared positional as required, which the command itself checks.
  Options& demanded() { return mark(&Argument::demanded); }
  /// Marks the next declared option as one that cannot be combined with others so marked.
  Options& exclusive() { return mark(&Argument::exclusive); }
  /// Marks the next declared argument as shared by many commands.
  Options& common() { return mark(&Argument::common); }

  /// Parses the words of a command line, without the command's name. Options may be anywhere, may
  /// be clustered (-sw), may carry their value (-v5, -v=5, --version=5), and end at `--`. A word
  /// such as -5 is data, but an unknown option in the place of the first node. Where zkCli's
  /// grammar holds (`as_zkcli`), `--` is never an option's value. Throws SyntaxError, or UsageError
  /// that names the word, and suggests an option if it is unknown.
  void parse(const std::vector<std::string>& words, const std::vector<bool>& quoted = {},
             bool as_zkcli = false);
  /// The positional words that no argument took.
  const std::vector<std::string>& surplus() const { return surplus_; }
  /// The words of the program; empty if none was given or declared.
  std::vector<std::string> program_words() const {
    return program_ ? *program_ : std::vector<std::string>{};
  }

  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<ForeignOptions>& foreign() const { return foreign_; }

 private:
  /// Takes an option's value (empty for a flag) or a positional's word. May throw UsageError.
  using WordTaker = std::function<void(const std::string&)>;
  Argument& add(Argument::Kind kind, std::string_view names, std::string_view value,
                std::string_view help, WordTaker take);
  std::vector<std::string> bind_words(const GivenWords& given) const;
  Options& mark(bool Argument::*how) {
    next_.*how = true;
    return *this;
  }
  struct Choices {
    std::vector<std::string> names;
    std::function<void(std::size_t place)> choose;
  };
  template <class Target, class Value, std::size_t count>
  static Choices choices_for(Target& target, const NamedValues<Value, count>& values) {
    return {.names = names_of(values),
            .choose = [&target, values](std::size_t place) { target = values[place].second; }};
  }
  /// `other` takes a word that is not one of the choices; null: such a word is refused.
  void choice_of(std::string_view names, Choices choices, std::optional<std::string>* other,
                 std::string_view value, std::string_view help);
  void word(Argument::Kind kind, std::string_view name, std::string& target, std::string_view help,
            std::string_view value = {});
  void word(Argument::Kind kind, std::string_view names, std::optional<std::string>& target,
            std::string_view help, std::string_view value = {});
  void rest(Argument::Kind kind, std::string_view name, std::vector<std::string>& target,
            std::string_view help, bool required, std::string_view value = {});
  /// Makes the last declared argument required.
  void require() { arguments_.back().required = true; }

  std::vector<Argument> arguments_;
  std::vector<WordTaker> takers_;  ///< in the order of `arguments_`
  std::vector<std::string>* program_ = nullptr;
  std::vector<std::string> surplus_;
  Argument next_{};  ///< what the next declared argument is marked as
  std::vector<ForeignOptions> foreign_;
};

}  // namespace zksh
