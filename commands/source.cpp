// source: run the commands of a file in this session.
#include "base/fd.h"
#include "base/words.h"
#include "command/command.h"

#include <algorithm>

namespace zksh::command_source {
namespace {

struct Args {
  bool keep_going = false;
  std::string file;
};

void declare(Options& o, Args& a) {
  o.flag("--keep-going", a.keep_going, "Continue after failures.");
  o.file("file", a.file, "The file.");
}

/// How deeply `source` commands are nested: a file that reads itself must not crash zksh.
thread_local int nesting = 0;
constexpr int deepest = 20;

class Nested {
 public:
  Nested() { ++nesting; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() { --nesting; }
};

int run(Context& cx, const Args& a) {
  if (nesting >= deepest)
    throw Error(
        fmt::format("{}: {} files have read each other; is it one of them?", a.file, deepest));
  const Nested nested;
  const auto text = read_text_file(a.file);
  int first_failure = status::ok;
  for (const auto& part : parts_of(text, PartBy::Line)) {
    if (cx.stop.stop_requested()) throw Cancelled();
    const auto line = text.substr(part.begin, part.end - part.begin);
    if (is_blank_or_comment(line)) continue;
    const int result = cx.run_line(line);
    if (result == status::ok) continue;
    const auto number =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(part.begin), '\n');
    if (first_failure == status::ok) first_failure = result;
    if (a.keep_going) {
      cx.out.err_line("{}:{}: failed (status {})", a.file, number, result);
      continue;
    }
    cx.out.err_line("{}:{}: stopped at the first failure (status {}); use --keep-going to continue",
                    a.file, number, result);
    return result;
  }
  return first_failure;
}

}  // namespace

extern const Command source_command = make_command<Args>(
    {.name = "source",
     .group = "Shell",
     .summary = "Run the commands of a file in this session",
     .keywords = {"script", "run", "include", "file", "load", "import commands"},
     .details = "Runs each line as if it had been typed, with the session's locks, identities and "
                "current node. Stops at the first failure, and returns its status. A line that "
                "begins with # is a comment. `zksh -f FILE` opens a session for a file.",
     .examples = {{"source /dev/null", "Run the commands of a file: here none."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_source
