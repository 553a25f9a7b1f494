// grep: search the values of a subtree.
#include "base/byte_text.h"
#include "base/regex.h"
#include "command/command.h"
#include "command/output.h"
#include "command/work.h"
#include "node/node_json.h"
#include "node/value.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

namespace zksh::command_grep {
namespace {

struct Args {
  bool ignore_case = false;
  bool fixed = false;
  bool names = false;
  bool count = false;
  bool numbers = false;
  std::optional<std::int64_t> depth;
  std::string pattern;
  WalkOptions walk;
};

void declare(Options& o, Args& a) {
  o.flag("-i,--ignore-case", a.ignore_case, "Ignore upper and lower case.");
  o.flag("-F,--fixed", a.fixed, "The pattern is a fixed string, not a regular expression.");
  o.flag("-l,--names", a.names, "Print only the paths.");
  o.flag("-c,--count", a.count, "Print the number of matching lines of each node that has any.");
  o.flag("-n,--line-number", a.numbers, "Print line numbers.");
  o.number("-d,--depth", a.depth, "depth", "Search at most this deep; 0 is the path itself.");
  o.text("pattern", a.pattern, "A regular expression in RE2's syntax, which is close to Perl's.");
  declare_walk(o, a.walk);
  o.instead_of("-r,-R", "the whole subtree is searched anyway");
  o.instead_of("-E", "the pattern is a regular expression anyway");
  o.instead_of("-P", "the pattern is close to Perl's anyway");
  o.instead_of("-v", "`grep . /app | grep -v TEXT` leaves lines out");
  o.instead_of("-w", "\\bword\\b matches a whole word");
  o.instead_of("-q", "the status tells: 0 if something matches, 1 if nothing does");
  o.instead_of("-A,-B,-C", "`get PATH` shows the whole value");
}

/// Prints the matches in each value.
class Grep {
 public:
  Grep(Context& cx, const Args& a)
      : cx_(cx),
        a_(a),
        regex_(a.pattern, "grep", {.ignore_case = a.ignore_case, .literal = a.fixed}),
        lines_(cx.out) {}

  void search(const std::string& path, const std::string& value) {
    // Most values have no match, and one search is faster than one per line.
    if (!regex_.matches(value)) return;
    const bool text = is_text(value);
    const bool shows = text && !a_.names && !a_.count;
    std::size_t found = text ? 0 : 1;
    if (text)
      for_matching_lines(value, [&](std::size_t number, std::string_view line) {
        ++found;
        if (shows) add_line(path, number, line);
        return !a_.names;
      });
    if (found == 0) return;
    ++matches_;
    if (a_.names) return add(path, "", path_json(path));
    if (!text) add(path, ": the value is binary and matches", path_json(path).set("binary", true));
    if (text && a_.count)
      add(path, fmt::format(":{}", found), path_json(path).set("matches", found));
  }
  ResultLines& lines() { return lines_; }
  bool found() const { return matches_ > 0; }

 private:
  /// Calls `use` with each matching line and its number, from 1, until it returns false. A final
  /// newline does not begin another line.
  template <class Use>
  void for_matching_lines(std::string_view value, Use use) const {
    for (std::size_t number = 1; !value.empty(); ++number) {
      const auto end = value.find('\n');
      const auto line = value.substr(0, end);
      value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
      if (regex_.matches(line) && !use(number, line)) return;
    }
  }
  void add_line(const std::string& path, std::size_t number, std::string_view line) {
    constexpr std::size_t most_as_a_whole = 1U << 20U;
    const auto place = a_.numbers ? fmt::format(":{}:", number) : ":";
    if (line.size() <= most_as_a_whole && cx_.out.json())
      return lines_.add(path_json(path).set("line", number).set("text", line).text());
    if (line.size() <= most_as_a_whole)
      return lines_.add(cx_.out.shown(path) + place + cx_.out.shown(line));
    lines_.flush();
    if (cx_.out.json())
      return json_line(cx_, path).set("line", number).set_text("text", line).end();
    cx_.out.out(cx_.out.shown(path) + place);
    in_pieces(line, [&](std::string_view piece) { cx_.out.out(cx_.out.shown(piece)); });
    cx_.out.out("\n");
  }
  void add(const std::string& path, const std::string& rest, const Json& json) {
    lines_.add(cx_.out.json() ? json.text() : cx_.out.shown(path) + rest);
  }

  Context& cx_;
  const Args& a_;
  Regex regex_;
  ResultLines lines_;
  std::size_t matches_ = 0;
};

int run(Context& cx, const Args& a) {
  const auto depth = depth_of(a.depth);
  Grep grep(cx, a);
  SkippedNodes skipped(cx, "read");
  const auto enter = [&](const TreeNode& node) {
    if (!node.readable) skipped.add(node.path);
    if (node.data) grep.search(node.path, *node.data);
  };
  walk_for_lines(cx, a.walk, {.depth = depth, .data = true, .enter = enter}, grep.lines(), skipped);
  return skipped.report(grep.found() ? status::ok : status::failure);
}

}  // namespace

extern const Command grep_command = make_command<Args>(
    {.name = "grep",
     .group = "Trees",
     .summary = "Search the values of a subtree",
     .keywords = {"search", "text", "content"},
     .details = "Searches the values of a node and all nodes below it, and prints PATH:LINE for "
                "every matching line; ^ and $ match at the ends of lines. A value that is not "
                "UTF-8 text is only reported as matching. The status is 0 if something matched, 1 "
                "if nothing did, and 7 if some nodes could not be read. The time is linear in the "
                "size of the values, whatever the expression.",
     .examples = {{"create /app/db host=10.0.0.7", "Create a node to search for."},
                  {"grep -F -l 10.0.0.7 /", "Find the nodes that mention an address."},
                  {"grep -i '^host *=' /app", "Find a setting."}},
     .json = "path [line] [text] [matches] [binary]",
     .json_fields = {{"binary", "boolean", "The value is not text, but matches."},
                     {"matches", "integer", "How many lines of the value match."}},
     .pages = true},
    declare, run);
}  // namespace zksh::command_grep
