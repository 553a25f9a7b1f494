// Digest: the id that ZooKeeper's digest scheme makes of a user and a password.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace zksh {

/// FIPS 180-4. Good enough to name a password's holder as ZooKeeper does, and for nothing else.
std::array<std::uint8_t, 20> sha1(std::string_view bytes);

/// "user:password" → "user:BASE64", as DigestAuthenticationProvider.generateDigest of 3.8.0.
/// Without a colon all of it is the user.
std::string digest_id(std::string_view credential);

}  // namespace zksh
