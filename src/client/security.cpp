// Security: the TLS and SASL settings of a session.
#include "client/security.h"

#include "base/error.h"

#include <fmt/core.h>

namespace zksh {

void refuse_missing(std::string_view asked, std::string_view what) {
  throw UsageError(
      fmt::format("{}, but this zksh was built without {}, which Debian's ZooKeeper C client "
                  "lacks; build with cmake -DZKSH_ZOOKEEPER_SOURCE=… (zksh-security(7))",
                  asked, what));
}

}  // namespace zksh
