// Fuzzes ensemble configurations and changes of them: three lines for the joining, the leaving and
// all members, then the configuration.
#include "ensemble/membership.h"
#include "fuzz.h"

#include <fmt/core.h>

namespace zksh::fuzz {
namespace {

/// In the form of /zookeeper/config.
std::string membership_text(const Membership& membership) {
  std::string text;
  for (const auto& [id, member] : membership.members)
    text += fmt::format("server.{}={}\n", id, member.text);
  return text + fmt::format("version={:x}", membership.version);
}

bool same(const Membership& one, const Membership& other) {
  return one.members == other.members && one.version == other.version;
}

}  // namespace

void membership_fuzz(std::string_view bytes) {
  Input input(bytes);
  const std::string joining(input.line());
  const std::string leaving(input.line());
  const std::string members(input.line());
  const auto before = parse_membership(input.rest());
  const auto text = membership_text(before);
  require(same(parse_membership(text), before), "a membership reads back", text);
  require(before.quorum() * 2 > before.voters(), "a quorum is a majority");
  if (const auto member = parse_member(joining)) {
    const auto again = parse_member(member->text);
    require(again && *again == *member && again->ports == member->ports, "a member reads back",
            member->text);
  }
  Reconfiguration change{.joining = joining, .leaving = leaving};
  for (int i = 0; i < 2; ++i) {
    const auto changed = change_membership(before, change);
    require((changed.code == code::ok) == changed.why.empty(), "a refusal says why", changed.why);
    if (changed.code == code::ok) {
      require(changed.after.voters() > 0, "a voter is left");
      membership_changes(before, changed.after, change);
    }
    std::string all = members;
    std::ranges::replace(all, ' ', '\n');
    change = {.members = std::move(all)};
  }
}

}  // namespace zksh::fuzz
