// acl_argument: parses the ACL argument of create and setAcl.
#include "node/acl_argument.h"

#include "client/acl_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zksh {

Acl acl_argument(Context& cx, const std::string& text, const std::string& path) {
  auto parsed = parse_acl(text);
  // The remaining entries might lock everybody out of the node, even its owner.
  if (cx.input != Input::Pipe && !parsed.complaints.empty())
    throw ZkError(
        ZkError(code::invalid_acl, cx.resolve(path, true)),
        fmt::format(
            ": {}; nothing was written (an entry is scheme:id:perms; perms are letters of cdrwa)",
            fmt::join(parsed.complaints, "; ")));
  for (const auto& complaint : parsed.complaints)
    cx.out.err_line("{}", cx.out.shown_in_error(complaint));
  return std::move(parsed.acl);
}

void refuse_empty(const Acl& acl) {
  if (acl.empty()) throw ZkError(code::invalid_acl, "null");
}

}  // namespace zksh
