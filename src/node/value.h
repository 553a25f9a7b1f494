// Value: where values come from, how they are changed safely, and edited as files.
#pragma once

#include "client/client.h"
#include "command/command.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The bytes that an argument stands for: `@FILE` the file's, `-` standard input's (both not on
/// piped input, where zkCli takes them as they are), `@@…` a text that begins with `@`, else the
/// text. May block while it reads. Throws Error naming the file.
std::string value_of(const Context& cx, const std::string& argument);

/// Hands `decide` what the node is now, and writes what it returns on the condition that the
/// version is still the one that was read. When somebody else was faster, all of that is done
/// again: the server said that nothing was written. No other failure is tried again, a lost
/// connection least of all, which leaves open whether the value was written. Returns the Stat after
/// the write, or nothing when `decide` returned nothing. Blocks; throws ZkError, Cancelled, and
/// what `decide` throws.
std::optional<Stat> change_value(Client& client, const std::string& path,
                                 const std::function<std::optional<Data>(const Node&)>& decide,
                                 const std::stop_token& stop);

/// A file's name for a node's value: the node's own name, so that an editor knows what it is by its
/// ending, with _ for what makes names awkward.
std::string value_file_name(std::string_view path);

/// The value that an edited file stands for: editors end the last line, whether the old value did
/// or not, so one final newline is dropped where the old value has none.
std::string edited_value(std::string_view old_value, std::string file);

/// Whether a diff of it says something: UTF-8 without a NUL byte.
bool is_text(std::string_view bytes);

/// Makes a file that only this user may read. Throws Error when it exists or cannot be written.
void write_private_file(const std::string& name, std::string_view bytes);

/// Keeps a value in a new private file in $TMPDIR, which nobody removes; returns its name. Throws
/// Error.
std::string keep_value(std::string_view path, std::string_view bytes);

/// The user's editor: $VISUAL or $EDITOR, which may have arguments; else editor, nano or vi. Throws
/// Error with status 127 when there is none.
std::string editor_command();

/// The words that start an editor, whose command is read as a shell reads it, on a file.
std::vector<std::string> editor_words(const std::string& command, const std::string& file);

}  // namespace zksh
