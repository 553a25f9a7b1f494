// Node filter: selects nodes of a walk by the user's criteria.
#include "tree/node_filter.h"

#include "base/error.h"
#include "base/number.h"
#include "base/regex.h"
#include "base/time.h"
#include "client/acl_text.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/node_pattern.h"
#include "command/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fnmatch.h>
#include <memory>
#include <utility>
#include <vector>

namespace zksh {
namespace {

constexpr NamedValues<NodeKind, 4> node_types{{{"persistent", NodeKind::Persistent},
                                               {"ephemeral", NodeKind::Ephemeral},
                                               {"p", NodeKind::Persistent},
                                               {"e", NodeKind::Ephemeral}}};

std::optional<std::int64_t> size_or_none(const std::optional<std::string>& text,
                                         std::string_view what) {
  return text ? std::optional(parse_size(*text, what)) : std::nullopt;
}

using Test = std::function<bool(const TreeNode&)>;

Test acl_test(const std::string& entry) {
  const auto first = entry.find(':');
  if (first == std::string::npos)
    throw ValueError(fmt::format("-acl: \"{}\" does not have the form scheme:id[:perms]", entry));
  // A digest's id contains a colon, before its hash.
  const auto last = entry.rfind(':');
  const auto wanted = last == first ? std::nullopt : perms_of(entry.substr(last + 1));
  const auto identity = wanted ? entry.substr(0, last) : entry;
  return [identity, perms = wanted.value_or(0)](const TreeNode& node) {
    return std::ranges::any_of(node.acl, [&](const AclEntry& one) {
      const auto text = one.scheme + ':' + one.id;
      const auto user = text.substr(0, text.rfind(':'));  // without the hash
      return (one.perms & perms) == perms &&
             (matches_pattern(identity, text) || (one.scheme == "digest" && identity == user));
    });
  };
}

}  // namespace

void declare_node_filter(Options& o, NodeFilterOptions& f) {
  o.text("-name", f.name, "The name matches this pattern of *, ? and [ ].", "pattern");
  o.text("-iname", f.any_case_name, "The same, in upper or lower case.", "pattern");
  o.text("-regex", f.regex, "The whole path matches this regular expression (RE2's syntax).",
         "regex");
  o.choice("-type", f.type, node_types, "type",
           "The type: persistent or ephemeral, or their first letters.");
  declare_session(o, "-owner,--session", f.owner);
  o.text("-acl", f.acl,
         "The ACL has an entry for this identity: world:anyone, 'ip:10.*' (a pattern), digest:ann; "
         "with :PERMS, an entry that gives all of these permissions: world:anyone:w.",
         "scheme:id[:perms]");
  o.text("-newer", f.newer, "The value was written within this time: 90s, 5m, 2h, 7d.", "age");
  o.text("-older", f.older, "The value was not written within this time.", "age");
  o.text("-min-size", f.least_size, "The value has at least this size: 100, 10k, 1M.", "size");
  o.text("-max-size", f.most_size, "The value has at most this size.", "size");
  o.number("-min-version", f.least_version, "version",
           "The value was written at least this many times.");
  o.number("-max-version", f.most_version, "version",
           "The value was written at most this many times.");
  o.number("-min-depth,-mindepth", f.least_depth, "depth", "At least this deep below the path.");
  o.number("-max-depth,-maxdepth,--depth", f.most_depth, "depth",
           "At most this deep below the path; 0: only the path itself.");
  o.number("-min-children", f.least_children, "number", "At least this many children.");
  o.number("-max-children", f.most_children, "number",
           "At most this many children; 0: only leaves.");
}

void declare_session(Options& o, std::string_view names, std::optional<std::string>& into) {
  o.text(names, into, "Only the ephemerals of this session; `me` is this shell's session.",
         "session");
  o.suggest({"me"});
}

std::int64_t requested_session(const Context& cx, const std::string& text,
                               std::string_view option) {
  if (text != "me") return parse_session_id(text, option);
  cx.client.await_connection("/", cx.stop);
  return cx.client.session_id();
}

std::int64_t parse_session_id(const std::string& text, std::string_view what) {
  const auto id = id_in(std::string_view(text).substr(text.starts_with("0x") ? 2 : 0));
  if (!id)
    throw ValueError(
        fmt::format("{}: \"{}\" is not a session ID such as 0x100000abc0000", what, text));
  if (*id == 0)
    throw ValueError(
        fmt::format("{}: no session has the ID {} (as an ephemeralOwner it means that "
                    "the node is not ephemeral)",
                    what, text));
  return *id;
}

std::function<bool(const TreeNode&)> node_filter(const Context& cx,
                                                 const NodeFilterOptions& options) {
  std::vector<Test> tests;
  const auto add = [&](Test test) { tests.push_back(std::move(test)); };
  // Nobody knows whether a hidden Stat meets a criterion, so the node is not selected.
  if (options.needs_stats()) add([](const TreeNode& node) { return node.stat_readable; });
  const auto add_range = [&](std::string_view what, std::optional<std::int64_t> least,
                             std::optional<std::int64_t> most,
                             const std::function<std::int64_t(const TreeNode&)>& value_of) {
    if (least && most && *least > *most)
      throw ValueError(fmt::format("-min-{0} is greater than -max-{0}: nothing can match", what));
    if (least) add([=](const TreeNode& node) { return value_of(node) >= *least; });
    if (most) add([=](const TreeNode& node) { return value_of(node) <= *most; });
  };
  const auto add_name = [&](const std::optional<std::string>& pattern, int flags) {
    if (!pattern) return;
    add([pattern = *pattern, flags](const TreeNode& node) {
      return matches_pattern(pattern, std::string(base_name(node.path)), flags);
    });
  };
  add_name(options.name, 0);
  add_name(options.any_case_name, FNM_CASEFOLD);
  if (options.regex)
    add([regex = std::make_shared<Regex>(*options.regex, "-regex")](const TreeNode& node) {
      return regex->matches_whole(node.path);
    });
  if (options.type)
    add([ephemeral = *options.type == NodeKind::Ephemeral](const TreeNode& node) {
      return (node.stat.ephemeral_owner != 0) == ephemeral;
    });
  if (options.owner)
    add([owner = requested_session(cx, *options.owner, "-owner")](const TreeNode& node) {
      return node.stat.ephemeral_owner == owner;
    });
  if (options.acl) add(acl_test(*options.acl));
  const auto now = wall_clock_now();
  if (options.newer)
    add([since = now - parse_duration(*options.newer, "-newer").count()](const TreeNode& node) {
      return node.stat.mtime >= since;
    });
  if (options.older)
    add([until = now - parse_duration(*options.older, "-older").count()](const TreeNode& node) {
      return node.stat.mtime < until;
    });
  add_range("size", size_or_none(options.least_size, "-min-size"),
            size_or_none(options.most_size, "-max-size"),
            [](const TreeNode& node) { return node.stat.data_length; });
  add_range("version", options.least_version, options.most_version,
            [](const TreeNode& node) { return node.stat.version; });
  add_range("depth", options.least_depth, options.most_depth,
            [](const TreeNode& node) { return static_cast<std::int64_t>(node.depth); });
  add_range("children", options.least_children, options.most_children,
            [](const TreeNode& node) { return node.stat.num_children; });
  return [tests = std::move(tests)](const TreeNode& node) {
    return std::ranges::all_of(tests, [&](const Test& test) { return test(node); });
  };
}

}  // namespace zksh
