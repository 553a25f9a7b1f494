// Secrets: finds and masks passwords and password hashes in a command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// The line with each secret replaced by ***; nullopt if there is none. Secrets are what follows
/// the scheme of `addauth` (a user name before a colon is kept), the third part of an ACL
/// `digest:user:HASH:perms` or `auth:user:password:perms` in any command, and the password in
/// `digest user:password` (also after a misspelled addauth). Unusual blanks and quotes, closed or
/// not, hide none. When in doubt, it masks.
std::optional<std::string> mask_secrets(std::string_view line);
/// The line, with its secrets masked.
std::string without_secrets(const std::string& line);

}  // namespace zksh
