// Secrets: passwords and password hashes in a command line, found and masked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// The line with each secret in it replaced by ***; nullopt when it carries none. A secret is what
/// follows the scheme of `addauth` (a user's name before a colon is kept), the third part of an ACL
/// `digest:user:HASH:perms` or `auth:user:password:perms` in any command, and the password in
/// `digest user:password` (also behind a mistyped addauth). Odd blanks, quotes and quotes that are
/// not closed hide none. When in doubt, it masks.
std::optional<std::string> mask_secrets(std::string_view line);
/// The line, masked where it needs to be.
std::string without_secrets(const std::string& line);

}  // namespace zksh
