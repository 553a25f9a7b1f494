// edit: edit a node's value in an editor.
#include "base/fd.h"
#include "base/file.h"
#include "base/process.h"
#include "base/program_terminal.h"
#include "base/quoting.h"
#include "base/signal_relay.h"
#include "command/command.h"
#include "command/questions.h"
#include "node/value.h"
#include "sandbox/scratch_directory.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace zksh::command_edit {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;

/// Runs a program in its own process group with zksh's standard streams and, if zksh has it, the
/// terminal; but with an empty input if zksh's own commands come from standard input.
///
/// Signals that would end zksh go to the program instead. If the terminal stops the program
/// (Ctrl-Z), zksh stops too, and both continue together. A stop of the command ends the program
/// with SIGTERM, and SIGKILL after two seconds; SIGKILL to zksh sends it SIGTERM. zksh always gets
/// the terminal back, with its previous modes.
///
/// Used on the command's thread, since the kernel's death signal depends on the thread.
class OnTerminal {
 public:
  explicit OnTerminal(Context& cx) : cx_(cx), terminal_(!cx.background) {}

  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() { cx_.out.hold_back({}); }

  /// Returns the program's exit status (128 + n: ended by signal n). Blocks until it has ended.
  /// Throws Cancelled after a stop, and Error with status 126 or 127 if the program cannot be
  /// executed.
  int run(const std::vector<std::string>& words) {
    start(words);
    const int result = supervise();
    give_back(result > status::signal_base);
    return result;
  }

 private:
  void start(const std::vector<std::string>& words) {
    Program program{.words = words,
                    .group = Program::Group::Own,
                    .terminal = terminal_.to_lend(),
                    .death_signal = SIGTERM};
    Fd empty;
    // Without a terminal an editor would wait for keys that nobody can press.
    if (cx_.input == Input::Pipe || !Questions::possible()) {
      empty = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      program.redirections.push_back({.target = STDIN_FILENO, .source = empty.get()});
    }
    cx_.out.await_printed();
    process_.emplace(cx_.client.monitor(), program);
    if (program.terminal >= 0) {
      terminal_.was_lent(process_->pid());
      hold_back();
    }
    registration_.emplace(cx_.services.signals, [this](const Monitor::Held& held, int signal) {
      if (process_->status(held)) return false;
      process_->signal(signal);
      if (process_->stopped(held)) process_->signal(SIGCONT);
      return true;
    });
  }

  int supervise() {
    auto& monitor = cx_.client.monitor();
    for (;;) {
      const bool news = monitor.wait(cx_.stop, [&](const Monitor::Held& held) {
        return process_->status(held) || is_stopped_by_terminal(held);
      });
      if (!news) end();
      if (const auto ended = process_->status()) return *ended;
      follow_stop();
    }
  }

  bool is_stopped_by_terminal(const Monitor::Held& held) const {
    const int signal = process_->stop_signal(held);
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
  }

  void follow_stop() {
    const int signal = cx_.client.monitor().with_lock(
        [&](const Monitor::Held& held) { return process_->stop_signal(held); });
    const auto followed =
        terminal_.follow_stop(process_->pid(), signal, [this] { cx_.out.hold_back({}); });
    if (followed == ProgramTerminal::Followed::StaysStopped)
      process_->signal(SIGKILL);  // it would wait forever
    if (terminal_.lent()) hold_back();
    process_->signal(SIGCONT);
    // Otherwise the stop would be handled twice.
    cx_.client.monitor().wait_until(cx_.stop, Clock::now() + 1s, [&](const Monitor::Held& held) {
      return !process_->stopped(held) || process_->status(held);
    });
  }

  /// Output from zksh would spoil the program's screen.
  void hold_back() {
    cx_.out.hold_back([] { return true; });
  }

  void give_back(bool with_modes) {
    terminal_.take_back();
    if (with_modes) terminal_.restore_modes();
    cx_.out.hold_back({});
  }

  [[noreturn]] void end() {
    process_->signal(SIGTERM);
    process_->signal(SIGCONT);
    cx_.client.monitor().wait_until({}, Clock::now() + patience, [&](const Monitor::Held& held) {
      return process_->status(held).has_value();
    });
    process_->signal(SIGKILL);
    process_->wait();
    give_back(true);
    throw Cancelled();
  }

  Context& cx_;
  ProgramTerminal terminal_;
  std::optional<Process> process_;
  std::optional<SignalRelay::Registration> registration_;
};

struct Args {
  bool create = false;
  bool newline = false;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.flag("-c,--create", a.create, "Create the node if it does not exist.");
  o.flag("-n,--newline", a.newline, "Keep a final newline even if the old value had none.");
  o.node("path", a.path, "The node to edit.");
}

/// The node as it is now; nullopt if it does not exist.
std::optional<Node> look(Context& cx, const std::string& path) {
  auto outcome = cx.client.ask(
      path, [&] { return cx.client.start_get(path, Watch::none()); }, cx.stop);
  if (outcome.code == code::no_node) return std::nullopt;
  if (outcome.code != code::ok) throw ZkError(outcome.code, path);
  return std::move(outcome.value);
}

/// Says where a copy of the edited file is, if it was changed.
std::string kept_text(const std::string& path, const std::string& file, const std::string& before) {
  const auto after = read_file(file);
  return after == before ? "" : "; your text is in " + keep_value(path, after);
}

/// The file's contents after editing. Throws Error if the editor failed.
std::string edited(Context& cx, const std::string& path, const std::string& before) {
  const auto editor = editor_command();
  const ScratchDirectory directory(cx.client.monitor(), "zksh-edit");
  const std::string file = directory.path() / value_file_name(path);
  write_private_file(file, before);
  int result = status::ok;
  try {
    result = OnTerminal(cx).run(editor_words(editor, file));
  } catch (const Cancelled&) {
    throw Cancelled("the editor was interrupted; nothing was written" +
                    kept_text(path, file, before));
  }
  if (result == status::ok) return read_file(file);
  throw Error(fmt::format("the editor exited with status {}; nothing was written{}", result,
                          kept_text(path, file, before)));
}

/// Prints a unified diff of two texts to stdout.
void show_diff(Context& cx, const std::string& path, const std::string& now,
               const std::string& yours) {
  const ScratchDirectory directory(cx.client.monitor(), "zksh-edit");
  const std::string old_file = directory.path() / "now";
  const std::string new_file = directory.path() / "yours";
  write_private_file(old_file, now);
  write_private_file(new_file, yours);
  std::string diff;
  run_piped(cx.client.monitor(),
            {.words = {"diff", "-u", "--label", path + " (now)", "--label", path + " (yours)",
                       old_file, new_file},
             .out = [&](std::string_view bytes) { diff += bytes; }},
            cx.stop);
  cx.out.out(cx.out.shown_lines(diff));
}

int report_conflict(Context& cx, const std::string& path, const std::optional<Node>& before,
                    const std::string& yours) {
  const auto kept = keep_value(path, yours);
  const auto shown = cx.out.shown_in_error(path);
  const auto now = look(cx, path);
  if (!now) {
    cx.out.err_line("{} was deleted meanwhile; nothing was written. Your text is in {}", shown,
                    kept);
    return status::no_node;
  }
  cx.out.err_line(
      "{} was {} meanwhile (it has version {} now); nothing was written. Your text is in {}", shown,
      before ? "changed" : "created", now->stat.version, kept);
  const auto value = now->data.value_or("");
  if (is_text(value) && is_text(yours))
    show_diff(cx, path, value, yours);
  else
    cx.out.err_line("not shown, since it is binary: {} bytes now, {} bytes yours", value.size(),
                    yours.size());
  return status::bad_version;
}

/// Returns the answer's code.
int write(Context& cx, const std::string& path, const std::optional<Node>& before,
          const std::string& value) {
  if (!before)
    return cx.client.await(cx.client.start_create({.path = path, .data = value}), cx.stop).code;
  // A recreated node may have reached the same version.
  const auto now = look(cx, path);
  if (!now) return code::no_node;
  if (now->stat.czxid != before->stat.czxid) return code::bad_version;
  return cx.client
      .await(cx.client.start_set({.path = path, .data = value, .version = before->stat.version}),
             cx.stop)
      .code;
}

int save(Context& cx, const std::string& path, const std::optional<Node>& before,
         const std::string& value) {
  int result = code::ok;
  try {
    result = write(cx, path, before, value);
  } catch (const Error&) {
    cx.out.err_line_regardless(
        fmt::format("your text is in {}", cx.out.shown_in_error(keep_value(path, value))));
    throw;
  }
  const bool conflict =
      result == code::bad_version || result == (before ? code::no_node : code::node_exists);
  if (conflict) return report_conflict(cx, path, before, value);
  if (result != code::ok) {
    cx.out.err_line("your text is in {}", keep_value(path, value));
    throw ZkError(result, path, true, value.size());
  }
  cx.out.err_line("{} {}", before ? "Changed" : "Created", cx.out.shown_in_error(path));
  return status::ok;
}

void warn_of_bytes(Context& cx, const std::string& path, std::size_t size) {
  const auto word = as_word(path);
  cx.out.err_line(
      "{}: the value is binary ({}); many editors change bytes that you do not touch. `get "
      "--raw {} > FILE` and `set {} @FILE` do not",
      cx.out.shown_in_error(path), counted(size, "byte"), word, word);
}

int run(Context& cx, const Args& a) {
  if (cx.background)
    throw ValueError("an editor needs the terminal; it cannot run in the background");
  const auto path = cx.resolve(a.path);
  if (!cx.rehearsal && !chosen_editor() && !Questions::possible()) {
    editor_command();  // throws if there is none at all
    throw ValueError(
        "there is no terminal for an editor; `set PATH @FILE` writes a file's "
        "contents, and $EDITOR may name a program that needs no terminal",
        path);
  }
  cx.client.await_connection(path, cx.stop);
  const auto before = look(cx, path);
  if (!before && !a.create)
    throw ZkError(ZkError(code::no_node, path),
                  fmt::format(" (`edit -c {}` creates it)", as_word(path)));
  const auto old_value = before ? before->data.value_or("") : "";
  // Do not let the user edit what would be discarded.
  if (cx.rehearsal) return save(cx, path, before, old_value);
  if (!is_text(old_value)) warn_of_bytes(cx, path, old_value.size());
  const auto file = edited(cx, path, old_value);
  const auto value = a.newline ? file : edited_value(old_value, file);
  if (before && value == old_value) {
    cx.out.err_line("{}: not changed", cx.out.shown_in_error(path));
    return status::ok;
  }
  if (!before && value.empty()) {
    cx.out.err_line("{}: the text is empty; nothing was created", cx.out.shown_in_error(path));
    return status::ok;
  }
  return save(cx, path, before, value);
}

}  // namespace

extern const Command edit_command = make_command<Args>(
    {.name = "edit",
     .group = "Nodes",
     .summary = "Change the value of a node in an editor",
     .keywords = {"editor", "vi", "program", "replace", "transform"},
     .details =
         "Opens the value in $VISUAL or $EDITOR (with arguments, if any), else in editor, "
         "nano or vi. The value is written if the editor exits with status 0, the text has "
         "changed, and nobody else has written meanwhile. Editors add a newline to the last "
         "line; zksh drops it if the old value had none, unless -n is given. The temporary "
         "file is readable only by you, and is removed afterwards.\n\nYour text is never "
         "lost: if somebody else has written first (status 6; 4 if the node was deleted), "
         "or the write fails, zksh saves it in a file, prints the file's name, and shows "
         "the difference. `set PATH @FILE` then writes it.\n\nThe editor may be any program: "
         "EDITOR='sed -i s/blue/green/' zksh edit /app/config changes a value unless "
         "somebody else was faster.\n\n--dry-run starts no editor; "
         "it reports whether the current value could be written.",
     .examples = {{"edit /app/config", "Edit a value."},
                  {"edit --create /app/new", "Edit a node, or create it."}},
     .strict = true,
     .writes = true},
    declare, run);

}  // namespace zksh::command_edit
