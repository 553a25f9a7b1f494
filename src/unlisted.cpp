// Unlisted: what is said of them.
#include "unlisted.h"

#include <fmt/format.h>

namespace zksh {

int Unlisted::report(Context& cx, int otherwise, std::string_view what) const {
  if (empty()) return otherwise;
  cx.out.err_line("incomplete: no permission to {} {}{}", what, cx.out.shown_in_error(first_),
                  count_ > 1 ? fmt::format(" and {} more", count_ - 1) : "");
  return status::not_authorised;
}

}  // namespace zksh
