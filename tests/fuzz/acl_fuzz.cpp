// Fuzzes ACLs as users write them, as zkCli prints them, and as a field of a dump.
#include "client/acl_text.h"
#include "fuzz.h"
#include "tree/tree_text.h"

namespace zksh::fuzz {

void acl_fuzz(std::string_view bytes) {
  const auto parsed = parse_acl(bytes);
  require(parsed.acl.size() + parsed.complaints.size() <= 2 * bytes.size() + 1,
          "output is bounded");
  const auto lines = acl_lines(parsed.acl);
  require(static_cast<std::size_t>(std::ranges::count(lines, '\n')) == 2 * parsed.acl.size(),
          "two lines each", lines);
  const bool whole =
      std::ranges::none_of(parsed.acl, [](const AclEntry& entry) { return entry.scheme.empty(); });
  if (!parsed.acl.empty() && whole) {
    const auto field = acl_field(parsed.acl);
    require_harmless(field);
    require(parse_acl_field(field) == parsed.acl, "a field reads back", field);
  }
  accepts([&] {
    const auto acl = parse_acl_field(bytes);
    require(!acl.empty(), "a field has an entry");
    require(parse_acl_field(acl_field(acl)) == acl, "a field reads back", acl_field(acl));
  });
}

}  // namespace zksh::fuzz
