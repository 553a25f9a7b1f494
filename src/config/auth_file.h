// AuthFile: credentials read from a file, so that they need not be on the command line.
#pragma once

#include "client/client.h"

#include <string>
#include <vector>

namespace zksh {

struct AuthFile {
  std::vector<Credential> credentials;  ///< in the order of the file; at least one
  std::string warning;  ///< a sentence for the user if others than the owner can read or write the
                        ///< file; else empty
};

/// Parses lines of a scheme, blanks and a credential, which is the rest of the line without
/// surrounding blanks. Empty lines and lines that begin with # are skipped. `name` is for messages,
/// which never quote the text. Throws UsageError naming a line without a credential, or if there is
/// none at all.
std::vector<Credential> parse_auth_file(const std::string& text, const std::string& name);

/// A sentence for the user if others than the owner can read or write the file; else empty.
std::string warning_of_readers(const std::string& name);

/// Reads and parses a file. Throws UsageError as parse_auth_file, or if the file cannot be read.
AuthFile read_auth_file(const std::string& name);

}  // namespace zksh
