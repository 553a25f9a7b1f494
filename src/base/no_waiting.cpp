// NoWaiting: the end of a process whose thread would have waited.
#include "base/no_waiting.h"

#include <cstdio>
#include <cstdlib>

namespace zksh {

void NoWaiting::fail(const char* what) {
  std::fprintf(stderr, "zksh: a bug: %s on a thread of the C client, which must not wait\n", what);
  std::abort();
}

}  // namespace zksh
