// Judge: what clients have seen, compared with what the ensemble agreed on.
#include "judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace simulation {
namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string shown(const std::optional<std::string>& data) {
  return data ? '"' + *data + '"' : "null";
}

}  // namespace

std::vector<Judge::Version>& Judge::history_of(const std::string& path) {
  auto& all = nodes_[path];
  if (all.empty())
    all.push_back({.exists = path == "/" || path.starts_with("/zookeeper"), .data = ""});
  return all;
}

std::vector<Judge::Names>& Judge::children_of(const std::string& path) {
  auto& all = lists_[path];
  if (all.empty()) {
    all.push_back({.exists = path == "/" || path.starts_with("/zookeeper")});
    if (path == "/") all.back().names = {"zookeeper"};
    if (path == "/zookeeper") all.back().names = {"config", "quota"};
  }
  return all;
}

void Judge::add_version(const std::string& path, Version version) {
  auto& all = history_of(path);
  if (all.back().zxid == version.zxid && all.size() > 1)
    all.back() = std::move(version);
  else
    all.push_back(std::move(version));
}

template <class How>
void Judge::alter_names(const std::string& path, std::int64_t zxid, How&& how) {
  auto& all = children_of(path);
  auto next = all.back();
  next.zxid = zxid;
  how(next);
  if (all.back().zxid == zxid && all.size() > 1)
    all.back() = std::move(next);
  else
    all.push_back(std::move(next));
}

void Judge::created(const Transaction& done, const Change& change) {
  add_version(change.path, {.zxid = done.zxid,
                            .exists = true,
                            .data = change.data,
                            .czxid = done.zxid,
                            .mzxid = done.zxid,
                            .fired = done.zxid,
                            .owner = change.owner,
                            .acl = change.acl});
  alter_names(change.path, done.zxid, [](Names& names) {
    names = {.zxid = names.zxid, .exists = true, .pzxid = names.zxid};
  });
  alter_names(parent_of(change.path), done.zxid, [&](Names& names) {
    names.names.insert(name_of(change.path));
    names.pzxid = names.zxid;
    ++names.creations;
  });
  if (change.data) ++written_[*change.data];
}

void Judge::removed(const Transaction& done, const Change& change) {
  removals_.push_back({.zxid = done.zxid,
                       .session = done.session,
                       .path = change.path,
                       .version = history_of(change.path).back().version});
  add_version(change.path, {.zxid = done.zxid, .fired = done.zxid});
  alter_names(change.path, done.zxid, [](Names& names) { names = {.zxid = names.zxid}; });
  alter_names(parent_of(change.path), done.zxid, [&](Names& names) {
    names.names.erase(name_of(change.path));
    names.pzxid = names.zxid;
  });
}

void Judge::agreed(const Transaction& done) {
  last_zxid_ = done.zxid;
  for (const auto& change : done.changes) {
    Version next;
    if (!change.path.empty()) next = history_of(change.path).back();
    next.zxid = done.zxid;
    switch (change.what) {
      case Change::What::Create:
        created(done, change);
        break;
      case Change::What::Remove:
        removed(done, change);
        break;
      case Change::What::Set:
        next.data = change.data;
        next.version = change.version;
        next.mzxid = next.fired = done.zxid;
        add_version(change.path, std::move(next));
        if (change.data) ++written_[*change.data];
        break;
      case Change::What::SetAcl:
        next.acl = change.acl;
        next.aversion = change.version;
        add_version(change.path, std::move(next));
        for (const auto& entry : change.acl) ++written_[entry.id];
        break;
      case Change::What::CloseSession:
        ended_sessions_[change.owner] = {.at = now(), .expired = done.request == 0};
        break;
      case Change::What::OpenSession:
        break;
    }
  }
}

void Judge::wiped() {
  ++wipes_;
  nodes_.clear();
  lists_.clear();
  tokens_.clear();
  removals_.clear();
  last_zxid_ = acknowledged_ = 0;
}

void Judge::note(std::string line) {
  line = fmt::format("{:10.6f} {}", static_cast<double>(now()) / second, line);
  if (prints_) std::fprintf(stderr, "%s\n", line.c_str());
  notes_.push_back(std::move(line));
  constexpr std::size_t most = 60;
  if (notes_.size() > most) notes_.pop_front();
}

void Judge::fault(std::string text) {
  note("FAULT: " + text);
  throw Fault{std::move(text)};
}

/// When the state, not before this moment, was one that matches.
template <class All, class Matches>
std::optional<Judge::Moments> Judge::moments(const All& all, std::int64_t not_before,
                                             Matches&& matches) const {
  std::optional<Moments> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool had_ended = i + 1 < all.size() && all[i + 1].zxid <= not_before;
    if (had_ended || !matches(all[i])) continue;
    const auto from = std::max(all[i].zxid, not_before);
    if (!found) found = {.earliest = from, .latest = from};
    found->latest = from;
  }
  return found;
}

bool Judge::shows(const Version& version, const zksh::Stat& stat) {
  return version.exists && version.mzxid == stat.mzxid && version.czxid == stat.czxid &&
         version.version == stat.version && version.aversion == stat.aversion &&
         version.owner == stat.ephemeral_owner &&
         std::cmp_equal(version.data.value_or("").size(), stat.data_length);
}

/// What a node's Stat says of its children.
void Judge::check_count(const std::string& who, const Seen& seen, const std::string& path,
                        const zksh::Stat& stat) {
  const auto found = moments(children_of(path), seen.zxid, [&](const Names& list) {
    const auto count = static_cast<std::int32_t>(list.names.size());
    return list.exists && list.pzxid == stat.pzxid && count == stat.num_children &&
           2 * list.creations - count == stat.cversion;
  });
  if (!found)
    fault(
        fmt::format("{}: the Stat of {} counts {} children (cversion {}, pzxid 0x{:x}), which "
                    "was not so at or after 0x{:x}, which the session had seen",
                    who, path, stat.num_children, stat.cversion, stat.pzxid, seen.zxid));
}

std::int64_t Judge::saw_node(const std::string& who, Seen& seen, const std::string& path, int code,
                             const zksh::Node& node, bool with_data) {
  ++reads_;
  const auto found = moments(history_of(path), seen.zxid, [&](const Version& version) {
    if (code == zksh::code::no_node) return !version.exists;
    return shows(version, node.stat) && (!with_data || version.data == node.data);
  });
  if (!found)
    fault(
        fmt::format("{}: a read of {} gave {} (mzxid 0x{:x}, version {}, aversion {}), which was "
                    "not so at or after 0x{:x}, which the session had seen",
                    who, path, code == zksh::code::no_node ? "no node" : shown(node.data),
                    node.stat.mzxid, node.stat.version, node.stat.aversion, seen.zxid));
  if (code != zksh::code::no_node) check_count(who, seen, path, node.stat);
  seen.zxid = found->earliest;
  return found->latest;
}

std::int64_t Judge::saw_acl(const std::string& who, Seen& seen, const std::string& path, int code,
                            const zksh::NodeAcl& read) {
  ++reads_;
  const auto is_same = [](const Entry& one, const zksh::AclEntry& other) {
    return one.perms == other.perms && one.scheme == other.scheme && one.id == other.id;
  };
  const auto found = moments(history_of(path), seen.zxid, [&](const Version& version) {
    if (code == zksh::code::no_node) return !version.exists;
    return shows(version, read.stat) && std::ranges::equal(version.acl, read.acl, is_same);
  });
  if (!found)
    fault(
        fmt::format("{}: the ACL of {} was read as of aversion {} with {} entries, which was not "
                    "so at or after 0x{:x}, which the session had seen",
                    who, path, read.stat.aversion, read.acl.size(), seen.zxid));
  seen.zxid = found->earliest;
  return found->latest;
}

std::int64_t Judge::saw_children(const std::string& who, Seen& seen, const std::string& path,
                                 int code, const std::vector<std::string>& names) {
  ++reads_;
  const std::set<std::string> sorted(names.begin(), names.end());
  const auto found = moments(children_of(path), seen.zxid, [&](const Names& list) {
    if (code == zksh::code::no_node) return !list.exists;
    return list.exists && list.names == sorted;
  });
  if (!found)
    fault(fmt::format(
        "{}: a list of {} gave {}, which was not so at or after 0x{:x}, which the session had seen",
        who, path, code == zksh::code::no_node ? "no node" : fmt::format("{}", sorted), seen.zxid));
  seen.zxid = found->earliest;
  return found->latest;
}

void Judge::walked(const std::string& who, Seen& seen, const std::vector<zksh::TreeNode>& nodes,
                   bool with_data) {
  ++walks_;
  const auto before = seen.zxid;
  std::set<std::string> visited;
  for (const auto& node : nodes) {
    if (!visited.insert(node.path).second)
      fault(fmt::format("{}: a walk has visited {} twice", who, node.path));
    // Requests for several nodes are on their way at a time, in an order of the walk's own.
    Seen then{.session = seen.session, .zxid = before};
    saw_node(who, then, node.path, zksh::code::ok, {.data = node.data, .stat = node.stat},
             with_data && node.readable);
    seen.zxid = std::max(seen.zxid, then.zxid);
    if (!node.readable) continue;
    then.zxid = before;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < node.children->size(); ++i) names.emplace_back((*node.children)[i]);
    saw_children(who, then, node.path, zksh::code::ok, names);
    seen.zxid = std::max(seen.zxid, then.zxid);
  }
  for (const auto& [path, all] : nodes_) {
    if (path == "/zookeeper/config") continue;  // a server of 3.4 has none
    const bool stayed = moments(all, before, [](const Version& v) { return v.exists; }) &&
                        !moments(all, before, [&](const Version& v) {
                          return !v.exists || v.czxid != all.back().czxid;
                        });
    if (stayed && !visited.contains(path))
      fault(fmt::format("{}: a walk has missed {}, which was there since 0x{:x}", who, path,
                        all.back().czxid));
  }
}

/// The state that this write has made.
const Judge::Version* Judge::version_with(const Write& write) {
  for (const auto& version : history_of(write.path)) {
    const bool is_in_acl =
        std::ranges::find(version.acl, write.value, &Entry::id) != version.acl.end();
    const bool is_it = write.what == Write::What::SetAcl ? is_in_acl : version.data == write.value;
    if (version.exists && is_it) return &version;
  }
  return nullptr;
}

/// Whether there was a reason for this code since the write was sent.
void Judge::check_failure(const std::string& who, const Write& write) {
  using What = Write::What;
  if (write.what == What::SetInMulti || write.what == What::CreateSequential) return;
  const bool creates = write.what == What::Create;
  const auto& all = history_of(
      creates && write.code != zksh::code::node_exists ? parent_of(write.path) : write.path);
  const auto was = [&](auto&& matches) { return moments(all, write.began, matches).has_value(); };
  bool had_reason = true;
  if (write.code == zksh::code::no_node)
    had_reason = was([](const Version& v) { return !v.exists; });
  else if (write.code == zksh::code::node_exists)
    had_reason = creates && was([](const Version& v) { return v.exists; });
  else if (write.code == zksh::code::no_children_for_ephemerals)
    had_reason = creates && was([](const Version& v) { return v.owner != 0; });
  else if (write.code == zksh::code::bad_version)
    had_reason = write.version != -1 && was([&](const Version& v) {
                   const auto now_it_is = write.what == What::SetAcl ? v.aversion : v.version;
                   return v.exists && now_it_is != write.version;
                 });
  else if (write.code == zksh::code::not_empty)
    had_reason = write.what == What::Remove &&
                 moments(children_of(write.path), write.began,
                         [](const Names& list) { return !list.names.empty(); });
  if (!had_reason)
    fault(
        fmt::format("{}: a write to {} (version {}) failed with {}, for which there was no "
                    "reason since 0x{:x}",
                    who, write.path, write.version, write.code, write.began));
}

void Judge::wrote(const std::string& who, Seen& seen, const Write& write) {
  ++writes_;
  const bool removes = write.what == Write::What::Remove;
  const auto own = [&](const Removal& one) {
    return one.zxid > write.began && one.session == seen.session && one.path == write.path;
  };
  const auto times =
      removes ? std::ranges::count_if(removals_, own) : std::ptrdiff_t{written_[write.value]};
  const auto what = removes ? fmt::format("a removal of {}", write.path)
                            : fmt::format("a write of {} to {}", write.value, write.path);
  if (write.code == zksh::code::ok && times != 1)
    fault(fmt::format("{}: {} succeeded, and was done {} times", who, what, times));
  if (times > 1) fault(fmt::format("{}: {} was done {} times", who, what, times));
  if (write.code != zksh::code::ok && !write.is_unknown) {
    if (times != 0)
      fault(fmt::format("{}: {} failed with {}, and was done", who, what, write.code));
    if (!removes) failed_.push_back(write.value);
    check_failure(who, write);
  }
  if (write.is_unknown && !write.may_be_unknown)
    fault(fmt::format("{}: the outcome of {} is called unknown ({}), and nothing was cut", who,
                      what, write.code));
  if (write.code != zksh::code::ok) return;
  const auto removal = std::ranges::find_if(removals_, own);
  const auto* const made = removes ? nullptr : version_with(write);
  const auto zxid = removes ? removal->zxid : made != nullptr ? made->zxid : 0;
  seen.zxid = std::max(seen.zxid, zxid);
  acknowledged_ = std::max(acknowledged_, zxid);
  if (removes && write.version != -1 && removal->version != write.version)
    fault(fmt::format("{}: {} asked for version {}, and found {}", who, what, write.version,
                      removal->version));
  if (made != nullptr) {
    const auto version = write.what == Write::What::SetAcl ? made->aversion : made->version;
    if (write.version != -1 && version != write.version + 1)
      fault(fmt::format("{}: {} asked for version {}, and made {}", who, what, write.version,
                        version));
    // The C client's setAcl returns no Stat: zksh reads it behind, perhaps after others' writes.
    if (write.stat && write.what == Write::What::SetAcl)
      saw_node(who, seen, write.path, zksh::code::ok, {.data = {}, .stat = *write.stat}, false);
    else if (write.stat && !shows(*made, *write.stat))
      fault(fmt::format("{}: {} made version {}, and was answered with {}", who, what, version,
                        write.stat->version));
  }
}

void Judge::check_writes() {
  for (const auto& value : failed_)
    if (written_[value] != 0)
      fault(fmt::format("the write of {} had failed, and was done later", value));
}

void Judge::check_watches_of(const std::string& who, zksh::Monitor& monitor, std::int64_t session) {
  for (const auto& one : watched_) {
    if (one.who != who || one.wipes != wipes_ || one.session != session) continue;
    std::size_t events = 0;
    monitor.with_lock([&](const zksh::Monitor::Held& held) {
      for (const auto& event : (*one.mailbox)(held))
        if (event.type != zksh::Event::Type::Session) ++events;
    });
    bool changed = false;
    bool may_have_changed = false;
    bool there_now = false;
    if (one.of_children) {
      const auto& all = children_of(one.path);
      changed = all.back().zxid > one.latest;
      may_have_changed = all.back().zxid > one.earliest;
    } else {
      const auto& all = history_of(one.path);
      changed = all.back().fired > one.latest;
      may_have_changed = all.back().fired > one.earliest;
      there_now = all.back().exists;
    }
    // A node that came and went while the connection was away leaves no trace of itself.
    const bool may_be_missed = one.on_missing && !there_now;
    const auto what =
        fmt::format("{}: the watch of {}{} (session 0x{:x}, set at 0x{:x})", one.who,
                    one.of_children ? "the children of " : "", one.path, one.session, one.latest);
    if (events > 1) fault(fmt::format("{} has fired {} times", what, events));
    if (events == 0 && changed && !may_be_missed)
      fault(what + " has not fired, though there was a change");
    if (events > 0 && !may_have_changed) fault(what + " has fired, though there was no change");
  }
}

void Judge::begin_hold(const std::string& path, Hold hold, std::int64_t token) {
  ++holds_;
  auto& holders = holders_[path];
  int taken = hold.quantity;
  for (const auto& other : holders) {
    taken += other.quantity;
    if (hold.leases == 1 && !(hold.shared && other.shared))
      fault(fmt::format("{} holds {}, and so does {}", hold.who, path, other.who));
  }
  if (hold.leases > 1 && taken > hold.leases)
    fault(fmt::format("{} holds {} of {} leases of {}, and others {}", hold.who, hold.quantity,
                      hold.leases, path, taken - hold.quantity));
  if (hold.leases == 1 && !hold.shared) {
    auto& last = tokens_[path];
    if (token <= last)
      fault(fmt::format("{} holds {} with the token {}, after {}", hold.who, path, token, last));
    last = token;
  }
  holders.push_back(std::move(hold));
}

void Judge::end_hold(const std::string& who, const std::string& path) {
  auto& holders = holders_[path];
  const auto found = std::ranges::find(holders, who, &Hold::who);
  if (found != holders.end()) holders.erase(found);
}

}  // namespace simulation
