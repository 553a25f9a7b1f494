// multi: run several operations as one transaction, all or nothing.
#include "base/line_reader.h"
#include "base/words.h"
#include "command/command.h"
#include "command/transaction.h"
#include "node/transaction_commit.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace zksh::command_multi {
namespace {

struct Args {
  std::vector<std::string> words;
};

void declare(Options& o, Args& a) {
  o.words("operation|file", a.words,
          "Operations, each in quotes; or a file with one operation on each line (- for standard "
          "input). Without any, enter them line by line, then `exec`.");
}

/// Drops what was not sent, however this ends.
struct Collection {
  Transaction& transaction;
  ~Collection() { transaction.drop(); }
};

/// Adds a line; returns its status, and reports a refusal.
int add(Context& cx, const std::string& line, const std::string& place) {
  const int result = cx.run_line(line);
  if (result != status::ok) cx.out.err_line("{}: refused; nothing was sent", place);
  return result;
}

int collect_file(Context& cx, const std::string& name) {
  const bool standard_input = name == "-";
  const int fd = standard_input ? cx.data_input() : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw ValueError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  const auto title = standard_input ? "stdin" : name;
  LineReader reader(fd, !standard_input, title, cx.stop);
  std::string line;
  for (std::size_t number = 1; reader.next(line); ++number) {
    if (is_blank_or_comment(line)) continue;
    const auto place = fmt::format("{}:{}", title, number);
    cx.transaction.set_place(place);
    const int result = add(cx, line, place);
    if (result != status::ok) return result;
  }
  if (cx.stop.stop_requested()) throw Cancelled();
  return status::ok;
}

int collect_words(Context& cx, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int result = add(cx, lines[i], fmt::format("operation {}", i + 1));
    if (result != status::ok) return result;
  }
  return status::ok;
}

/// The file name, if it is not an operation, which has a blank after its name.
std::optional<std::string> file_of(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  const auto& word = words.front();
  if (word.starts_with('@')) return word.substr(1);
  if (word.find_first_of(" \t") == std::string::npos) return word;
  return std::nullopt;
}

int run(Context& cx, const Args& a) {
  if (a.words.empty()) {
    if (cx.input == Input::Arguments)
      throw SyntaxError("too few arguments: operations or a file expected");
    if (cx.rehearsal) throw UsageError("use --dry-run with exec, or with multi and its operations");
    if (cx.background)
      throw UsageError("multi in the background needs its operations as arguments");
    cx.transaction.begin();
    return status::ok;
  }
  cx.transaction.begin(true);
  const Collection collection{cx.transaction};
  const auto file = file_of(a.words);
  const int refused = file ? collect_file(cx, *file) : collect_words(cx, a.words);
  cx.out.begin_command("multi");
  if (refused != status::ok) return refused;
  if (const auto reads = cx.transaction.reads(); !reads.empty()) return cx.read_at_once(reads);
  return commit(cx, cx.transaction.operations());
}

}  // namespace

extern const Command multi_command = make_command<Args>(
    {.name = "multi",
     .group = "Nodes",
     .summary = "Run several operations as one transaction",
     .keywords = {"transaction", "txn", "batch", "atomic", "snapshot", "consistent", "begin"},
     .details =
         "Applies all operations or none. Operations are create (with -s and -e), set, delete and "
         "check, written as usual. Without arguments, multi opens a transaction: enter the "
         "operations line by line, then `exec` sends them and `discard` drops them. An invalid "
         "line is refused at once; in a script nothing is sent then.\n\nPrints a line for each "
         "operation: Created with the node's actual path, Set with the new version, Deleted, or "
         "Checked; with -o plain only the path. If an operation fails, none is applied, and its "
         "status is returned. If the connection is lost before the answer arrives, either all or "
         "none were applied, and the status is 10. @FILE names a file whatever its name is.\n\nA "
         "transaction can also read, but then cannot write: get and ls, each of one node, show how "
         "all of them were at one moment (ZooKeeper 3.6 and later; at most 500 nodes and 4 MiB).",
     .examples = {{"multi 'create /app/a x' 'set /app y'", "Do both, or neither."},
                  {"multi --dry-run 'check /app' 'create -s /app/job-'", "Would it work?"},
                  {"multi 'get -s /app/config' 'ls /app/jobs'", "What belongs together."},
                  {"multi", "Open a transaction."},
                  {"create /app/b x", "kept,"},
                  {"delete /app/b", "kept,"},
                  {"exec", "Commit it."}},
     .json = "op applied path [stat] | op applied path error | path data [stat] | path [children] "
             "[stat]",
     .writes = true,
     .allowed_in_transaction = true},
    declare, run);
}  // namespace zksh::command_multi
