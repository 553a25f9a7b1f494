// AclArgument: an ACL as create and setAcl take it on their command lines.
#include "acl_argument.h"

#include "acl_text.h"

namespace zksh {

Acl acl_argument(Context& cx, const std::string& text) {
  auto parsed = parse_acl(text);
  for (const auto& complaint : parsed.complaints)
    cx.out.err_line("{}", cx.out.shown_in_error(complaint));
  return std::move(parsed.acl);
}

void refuse_empty(const Acl& acl) {
  if (acl.empty()) throw ZkError(code::invalid_acl, "null");
}

}  // namespace zksh
