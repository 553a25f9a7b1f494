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

void Judge::agreed(const Transaction& done) {
  for (const auto& change : done.changes) {
    const auto add = [&](Version version) {
      auto& all = history_of(change.path);
      if (all.back().zxid == done.zxid && all.size() > 1)
        all.back() = std::move(version);
      else
        all.push_back(std::move(version));
    };
    const auto alter = [&](const std::string& path, auto&& how) {
      auto& all = children_of(path);
      auto next = all.back();
      next.zxid = done.zxid;
      how(next);
      if (all.back().zxid == done.zxid && all.size() > 1)
        all.back() = std::move(next);
      else
        all.push_back(std::move(next));
    };
    switch (change.what) {
      case Change::What::Create:
        add({.zxid = done.zxid,
             .exists = true,
             .data = change.data,
             .czxid = done.zxid,
             .mzxid = done.zxid});
        alter(change.path, [](Names& names) { names = {.zxid = names.zxid, .exists = true}; });
        alter(parent_of(change.path),
              [&](Names& names) { names.names.insert(name_of(change.path)); });
        if (change.data) ++written_[*change.data];
        break;
      case Change::What::Remove:
        add({.zxid = done.zxid});
        alter(change.path, [](Names& names) { names = {.zxid = names.zxid}; });
        alter(parent_of(change.path),
              [&](Names& names) { names.names.erase(name_of(change.path)); });
        break;
      case Change::What::Set:
        add({.zxid = done.zxid,
             .exists = true,
             .data = change.data,
             .czxid = history_of(change.path).back().czxid,
             .mzxid = done.zxid});
        if (change.data) ++written_[*change.data];
        break;
      default:
        break;
    }
  }
}

void Judge::wiped() {
  ++wipes_;
  nodes_.clear();
  lists_.clear();
  tokens_.clear();
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

std::int64_t Judge::saw_node(const std::string& who, Seen& seen, const std::string& path, int code,
                             const zksh::Node& node, bool with_data) {
  ++reads_;
  const auto found = moments(history_of(path), seen.zxid, [&](const Version& version) {
    if (code == zksh::code::no_node) return !version.exists;
    return version.exists && version.mzxid == node.stat.mzxid && version.czxid == node.stat.czxid &&
           (!with_data || version.data == node.data);
  });
  if (!found)
    fault(
        fmt::format("{}: a read of {} gave {} (mzxid 0x{:x}), which was not so at or after 0x{:x}, "
                    "which the session had seen",
                    who, path, code == zksh::code::no_node ? "no node" : shown(node.data),
                    node.stat.mzxid, seen.zxid));
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

void Judge::wrote(const std::string& who, Seen& seen, const std::string& path,
                  const std::string& value, int code, bool is_unknown, bool may_be_unknown) {
  ++writes_;
  const auto found = written_.find(value);
  const int times = found == written_.end() ? 0 : found->second;
  if (code == zksh::code::ok && times != 1)
    fault(fmt::format("{}: a write of {} to {} succeeded, and was done {} times", who, value, path,
                      times));
  if (times > 1)
    fault(fmt::format("{}: a write of {} to {} was done {} times", who, value, path, times));
  if (code != zksh::code::ok && !is_unknown && times != 0)
    fault(fmt::format("{}: a write of {} to {} failed with {}, and was done", who, value, path,
                      code));
  if (is_unknown && !may_be_unknown)
    fault(
        fmt::format("{}: the outcome of a write to {} is called unknown ({}), and nothing was cut",
                    who, path, code));
  if (code != zksh::code::ok) return;
  for (const auto& version : history_of(path))
    if (version.exists && version.data == value) seen.zxid = std::max(seen.zxid, version.zxid);
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
      changed = all.back().zxid > one.latest;
      may_have_changed = all.back().zxid > one.earliest;
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

void Judge::begin_hold(const std::string& who, const std::string& path, bool shared, int leases,
                       std::int64_t token) {
  ++holds_;
  auto& holders = holders_[path];
  int taken = 1;
  for (const auto& other : holders) {
    ++taken;
    if (leases == 1 && !(shared && other.shared))
      fault(fmt::format("{} holds {}, and so does {}", who, path, other.who));
  }
  if (leases > 1 && taken > leases)
    fault(fmt::format("{} holds one of {} leases of {}, and {} others do", who, leases, path,
                      taken - 1));
  if (leases == 1 && !shared) {
    auto& last = tokens_[path];
    if (token <= last)
      fault(fmt::format("{} holds {} with the token {}, after {}", who, path, token, last));
    last = token;
  }
  holders.push_back({.who = who, .shared = shared, .leases = leases});
}

void Judge::end_hold(const std::string& who, const std::string& path) {
  auto& holders = holders_[path];
  const auto found = std::ranges::find(holders, who, &Hold::who);
  if (found != holders.end()) holders.erase(found);
}

}  // namespace simulation
