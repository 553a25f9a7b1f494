// edit: edit a node's value in an editor.
#include "base/process.h"
#include "base/scratch_directory.h"
#include "base/words.h"
#include "client/read_ahead.h"
#include "command/command.h"
#include "command/questions.h"
#include "node/value.h"

namespace zksh::command_edit {
namespace {

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

/// Prints a unified diff of two texts to stdout.
void show_diff(Context& cx, const std::string& path, const std::string& now,
               const std::string& yours) {
  const ScratchDirectory directory(cx.monitor(), "zksh-edit");
  const std::string old_file = directory.path() / "now";
  const std::string new_file = directory.path() / "yours";
  write_private_file(old_file, now);
  write_private_file(new_file, yours);
  std::string diff;
  run_piped(cx.monitor(),
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
  const auto now = ahead_get(cx.client, path).found(cx.stop);
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
  const auto now = ahead_get(cx.client, path).found(cx.stop);
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
  const auto before = ahead_get(cx.client, path).found(cx.stop);
  if (!before && !a.create)
    throw ZkError(ZkError(code::no_node, path),
                  fmt::format(" (`edit -c {}` creates it)", as_word(path)));
  const auto old_value = before ? before->data.value_or("") : "";
  // Do not let the user edit what would be discarded.
  if (cx.rehearsal) return save(cx, path, before, old_value);
  if (!is_text(old_value)) warn_of_bytes(cx, path, old_value.size());
  const auto file = edit_text({.monitor = cx.monitor(),
                               .signals = cx.services.signals,
                               .out = cx.out,
                               .stop = cx.stop,
                               .empty_input = cx.input == Input::Pipe},
                              value_file_name(path), old_value, "nothing was written",
                              [&](const std::string& text) {
                                return "; your text is in " + keep_value(path, text);
                              })
                        .value_or(old_value);
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
     .keywords = {"editor", "vi", "program", "replace", "transform", "vim", "nano", "append"},
     .details =
         "Opens the value in $VISUAL or $EDITOR (with arguments, if any), else in editor, nano or "
         "vi. The value is written if the editor exits with status 0, the text has changed, and "
         "nobody else has written meanwhile. Editors add a newline to the last line; zksh drops it "
         "if the old value had none, unless -n is given. The temporary file is readable only by "
         "you, and is removed afterwards.\n\nYour text is never lost: if somebody else has written "
         "first (status 6; 4 if the node was deleted), or the write fails, zksh saves it in a "
         "file, prints the file's name, and shows the difference. `set PATH @FILE` then writes "
         "it.\n\nThe editor may be any program: EDITOR='sed -i s/blue/green/' zksh edit "
         "/app/config changes a value unless somebody else was faster.\n\n--dry-run starts no "
         "editor; it reports whether the current value could be written.",
     .examples = {{"edit /app/config", "Edit a value."},
                  {"edit --create /app/new", "Edit a node, or create it."}},
     .writes = true},
    declare, run);

}  // namespace zksh::command_edit
