// Membership: the members in an ensemble's configuration, and the effect of a reconfiguration.
#pragma once

#include "client/connect_string.h"
#include "client/nodes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A line "server.3=10.0.0.3:2888:3888:participant;10.0.0.3:2181" of a configuration.
struct Member {
  std::string text;  ///< the part after the equals sign, completed by the role
  std::string host;  ///< for the other servers; the first if there are several
  bool observer = false;
  /// The address for clients; a wildcard address is replaced by `host`. nullopt if the line has
  /// none.
  std::optional<ServerAddress> client{};
  /// "host:port" of all addresses it listens on; members must not share any.
  std::vector<std::string> ports{};

  bool operator==(const Member& other) const { return text == other.text; }
};

struct Membership {
  std::map<std::int64_t, Member> members{};  ///< by server number
  std::int64_t version = 0;
  bool groups = false;  ///< the quorum uses groups or weights

  std::size_t voters() const;
  /// The number of voters that make a quorum if all have the same weight.
  std::size_t quorum() const { return voters() / 2 + 1; }
};

/// Parses a configuration (/zookeeper/config, or the end of an answer to conf). Ignores all other
/// lines: the text may be anything.
Membership parse_membership(std::string_view text);

/// Parses the part after "server.3=" (QuorumPeer.QuorumServer in 3.8). nullopt if it is malformed.
std::optional<Member> parse_member(std::string_view text);

/// The leader's answer to a change, as far as the configuration determines it (PrepRequestProcessor
/// in 3.8). Only the servers know whether and to whom reconfiguration is allowed, and whether the
/// new members are up.
struct ChangedMembership {
  int code = code::ok;
  std::string why{};  ///< the reason for any other code
  Membership after{};
};
ChangedMembership change_membership(const Membership& before, const Reconfiguration& change);

/// How a change affects a member.
struct MemberChange {
  enum class Kind { Stays, Leaves, Joins, Changes, Unknown };
  Kind kind = Kind::Stays;  ///< Unknown: to be removed, but not a member
  std::int64_t id = 0;
  std::string text{};    ///< after the change; before it if the member leaves
  std::string before{};  ///< if the member changes
};
/// The changes by server number.
std::vector<MemberChange> membership_changes(const Membership& before, const Membership& after,
                                             const Reconfiguration& change);

}  // namespace zksh
