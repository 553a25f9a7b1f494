// OpenSsl: loads the library.
#include "client/open_ssl.h"

#include "base/error.h"
#include "base/shared_library.h"

#include <fmt/core.h>

namespace zksh {

const OpenSsl& open_ssl() {
  static const OpenSsl functions = [] {
    // libssl brings libcrypto, whose functions it finds, too.
    SharedLibrary library(fmt::format("libssl.so.{}", OPENSSL_SHLIB_VERSION).c_str());
    OpenSsl found;
#define ZKSH_FIND(name) ZKSH_FIND_IN(library, found, name);
    ZKSH_OPEN_SSL(ZKSH_FIND)
#undef ZKSH_FIND
    if (!library.problem().empty())
      throw UsageError(
          fmt::format("TLS needs OpenSSL {}, which cannot be loaded: {} (Debian: the "
                      "package libssl3, or libssl3t64)",
                      OPENSSL_VERSION_MAJOR, library.problem()));
    return found;
  }();
  return functions;
}

}  // namespace zksh
