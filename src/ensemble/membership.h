// Membership: the servers that an ensemble's configuration names, and what a change makes of them.
#pragma once

#include "client/client.h"
#include "client/connect_string.h"

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
  std::string text;  ///< what stands behind the equals sign, with the role even if it was left out
  std::string host;  ///< at which the other servers find it, of several the first
  bool observer = false;
  /// Where clients find it; an address that means "every interface" is replaced by `host`. Nothing
  /// when the line does not tell.
  std::optional<ServerAddress> client{};
  /// "host:port" of all that it listens to: no two members can have the same.
  std::vector<std::string> ports{};

  bool operator==(const Member& other) const { return text == other.text; }
};

struct Membership {
  std::map<std::int64_t, Member> members{};  ///< by server number
  std::int64_t version = 0;
  bool groups = false;  ///< a quorum is counted by groups or weights

  std::size_t voters() const;
  /// How many voters must agree, where each counts the same.
  std::size_t quorum() const { return voters() / 2 + 1; }
};

/// The members in the text of a configuration (/zookeeper/config, the end of an answer to conf).
/// Lines that are none are left out: the text may be anything.
Membership parse_membership(std::string_view text);

/// What stands behind "server.3=" (QuorumPeer.QuorumServer of 3.8). Nothing when it is malformed.
std::optional<Member> parse_member(std::string_view text);

/// What the leader would say to a change, as far as the configuration tells it
/// (PrepRequestProcessor of 3.8). Whether reconfiguration is allowed, by whom, and whether the new
/// members are there, only the servers know.
struct ChangedMembership {
  int code = code::ok;
  std::string why{};  ///< there is another code
  Membership after{};
};
ChangedMembership change_membership(const Membership& before, const Reconfiguration& change);

/// One member or all of them as a change leaves them.
struct MemberChange {
  enum class Kind { Stays, Leaves, Joins, Changes, Unknown };
  Kind kind = Kind::Stays;  ///< Unknown: it was to leave, and is no member
  std::int64_t id = 0;
  std::string text{};    ///< after it, of one that leaves before it
  std::string before{};  ///< of one that changes
};
/// By server number.
std::vector<MemberChange> membership_changes(const Membership& before, const Membership& after,
                                             const Reconfiguration& change);

/// In the form of /zookeeper/config.
std::string membership_text(const Membership& membership);

}  // namespace zksh
