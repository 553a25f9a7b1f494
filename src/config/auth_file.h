// Auth file: the credentials that a file keeps, so that none stands on a command line.
#pragma once

#include "client/client.h"

#include <string>
#include <vector>

namespace zksh {

struct AuthFile {
  std::vector<Credential> credentials;  ///< in the order of the file; at least one
  std::string warning;  ///< a sentence when others than the owner can read the file, else empty
};

/// A line each: the scheme, blanks, and the credential, which is the rest of the line without the
/// blanks around it. Empty lines, and those whose first character is #, count for nothing.
/// `name` is for messages, which hold nothing of the text. Throws UsageError naming the line that
/// has no credential, or when there is none at all.
std::vector<Credential> parse_auth_file(const std::string& text, const std::string& name);

/// A sentence for the user when others than the owner can read or write a file with credentials,
/// else empty.
std::string warning_of_readers(const std::string& name);

/// Reads a file. Throws UsageError as parse_auth_file, or when it cannot be read.
AuthFile read_auth_file(const std::string& name);

}  // namespace zksh
