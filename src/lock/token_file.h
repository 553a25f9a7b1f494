// TokenFile: a fencing token in a file.
#pragma once

#include <string>

namespace zksh {

/// Writes the token (of several locks: the tokens) and a newline. A file is replaced at once, so
/// that nobody reads half of a token, and stays there after the lock's end: a token never comes
/// back. What exists and is no file (a pipe) is written to. Throws Error.
void write_token_file(const std::string& file, const std::string& token);

}  // namespace zksh
