// Digest: the id that ZooKeeper's digest scheme derives from a user and a password.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace zksh {

/// FIPS 180-4. Used only to derive the ids that ZooKeeper uses; SHA-1 is not secure.
std::array<std::uint8_t, 20> sha1(std::string_view bytes);

/// "user:password" → "user:BASE64", as DigestAuthenticationProvider.generateDigest in 3.8.0.
/// Without a colon, the whole text is the user.
std::string digest_id(std::string_view credential);

}  // namespace zksh
