// Value: values from arguments, safe changes of values, and editing them as files.
#pragma once

#include "client/nodes.h"
#include "command/command.h"
#include "command/terminal_program.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

class Client;

/// The value that an argument stands for: `@FILE` is the file's contents and `-` standard input
/// (neither on piped input, where zkCli takes them literally), `@@…` a text that begins with `@`,
/// anything else itself. May block while it reads. Throws Error naming the file.
std::string value_of(const Context& cx, const std::string& argument);

/// Passes the node to `decide`, and writes the value that it returns, provided that the version is
/// still the same. If somebody else changed the node meanwhile, repeats that: the server said that
/// nothing was written. No other failure is retried, in particular no lost connection, which leaves
/// open whether the value was written. Returns the Stat after the write, or nullopt if `decide`
/// returned nullopt. `read` is the node if it has just been read. Blocks; throws ZkError,
/// Cancelled, and what `decide` throws.
std::optional<Stat> change_value(Client& client, const std::string& path,
                                 const std::function<std::optional<Data>(const Node&)>& decide,
                                 const std::stop_token& stop, std::optional<Node> read = {});

/// A file name for a node's value: the node's name, whose extension tells editors the file type,
/// with _ for problematic characters.
std::string value_file_name(std::string_view path);

/// The value of an edited file. Editors always end the last line, so one final newline is dropped
/// if the old value had none.
std::string edited_value(std::string_view old_value, std::string file);

/// Whether its lines can be shown: UTF-8 without NUL bytes.
bool is_text(std::string_view bytes);

/// Creates a file that only this user may read. Throws Error if it exists or cannot be written.
void write_private_file(const std::string& name, std::string_view bytes);

/// Saves a value in a new private file in $TMPDIR, which is not removed later; returns its name.
/// Throws Error.
std::string keep_value(std::string_view path, std::string_view bytes);

/// $VISUAL or $EDITOR; nullopt if neither is set.
std::optional<std::string> chosen_editor();
/// The user's editor command, perhaps with arguments: $VISUAL or $EDITOR, else editor, nano or vi.
/// Throws Error with status 127 if there is none.
std::string editor_command();

/// The words that run an editor command, interpreted as a shell does, on a file.
std::vector<std::string> editor_words(const std::string& command, const std::string& file);

/// Opens a text in the user's editor, in a private file of this name, which is removed. Returns the
/// text as it was saved; nullopt if nothing was saved since the editor began, even the same text.
/// Blocks. If the editor fails or is interrupted, throws Error or Cancelled
/// with what that means, `consequence` ("nothing was written"), and what `keep` says about the
/// text, which is called if it was changed.
std::optional<std::string> edit_text(
    const TerminalSurroundings& around, const std::string& file_name, const std::string& text,
    const std::string& consequence,
    const std::function<std::string(const std::string& text)>& keep);

}  // namespace zksh
