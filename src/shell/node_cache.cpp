// NodeCache: lists of children for completion, fetched in the background.
#include "shell/node_cache.h"

#include "base/mapped.h"
#include "client/acl_text.h"
#include "client/client.h"
#include "client/node_path.h"
#include "node/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <sys/eventfd.h>
#include <utility>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_use = 60s;       // for a list whose watch was lost in any way
constexpr auto kinds_are_good = 5s;     // no watch reports that a child gets its first child
constexpr auto kinds_patience = 250ms;  // and two round trips; then the names alone must do
constexpr auto noticeable = 400ms;

std::size_t bytes_of(const std::vector<std::string>& names) {
  std::size_t bytes = 0;
  for (const auto& name : names)
    bytes += sizeof(std::string) + (name.capacity() > 15 ? name.capacity() + 16 : 0);
  return bytes;
}

/// The part of sorted names that begins with a prefix.
std::span<const std::string> names_with_prefix(const std::vector<std::string>& names,
                                               std::string_view prefix) {
  const auto cut = [&](const std::string& name) {
    return std::string_view(name).substr(0, prefix.size());
  };
  // Not std::ranges::equal_range: clang 14 cannot decompose its result.
  return {std::ranges::lower_bound(names, prefix, {}, cut),
          std::ranges::upper_bound(names, prefix, {}, cut)};
}

/// The children whose kinds a completion needs: the only match, which decides how the line
/// continues, or those that are listed.
std::vector<std::string> to_be_known(const std::vector<std::string>& names, std::string_view prefix,
                                     std::size_t room) {
  const auto range = names_with_prefix(names, prefix);
  if (range.empty()) return {};
  if (range.size() > 1 && common_beginning(range.front(), range.back()).size() > prefix.size())
    return {};
  const auto listed = range.first(std::min(range.size(), room));
  return {listed.begin(), listed.end()};
}

}  // namespace

/// A fetch and its results: written by its job, read after the job's end.
struct NodeCache::Fetch {
  std::string parent;
  std::string prefix;
  std::size_t room = 0;
  bool lists = true;  ///< whether it reads the children, and not only the kinds of some
  std::vector<std::string> asked;  ///< the names whose kinds it reads
  int code = code::ok;
  std::vector<std::string> names{};
  std::map<std::string, Kind> kinds{};
  std::atomic<bool> slow = false;
  bool given_up = false;  ///< its result is not needed any more
  bool fired = false;     ///< the list has already changed
  std::unique_ptr<Job> job{};

  void give_up() {
    given_up = true;
    job->stop();
  }

  void list(Client& client, const Mailbox& mailbox, int wake_fd, const std::stop_token& stop) {
    const auto pending = client.start_children(parent, Watch::into(mailbox));
    const auto answered = [&](const Monitor::Held& held) { return (*pending)(held).has_value(); };
    auto& monitor = client.monitor();
    if (!monitor.wait_until(stop, Clock::now() + noticeable, answered)) {
      slow = true;
      eventfd_write(wake_fd, 1);
      if (!monitor.wait(stop, answered)) {
        code = code::closing;
        return;
      }
    }
    auto outcome =
        monitor.with_lock([&](const Monitor::Held& held) { return std::move(*(*pending)(held)); });
    code = outcome.code;
    names = outcome.value.names.strings();
    std::ranges::sort(names);
    asked = to_be_known(names, prefix, room);
  }

  void describe(Client& client, const std::stop_token& stop) {
    const auto stats = mapped(asked, [&](const std::string& name) {
      return client.start_exists(join_path(parent, name), Watch::none());
    });
    const auto have_answer = [&](const Monitor::Held& held) {
      return std::ranges::all_of(
          stats, [&](const Pending<Stat>& stat) { return (*stat)(held).has_value(); });
    };
    auto& monitor = client.monitor();
    const auto patience = kinds_patience + 2 * client.round_trip().value_or(0ns);
    monitor.wait_until(stop, Clock::now() + patience, have_answer);
    monitor.with_lock([&](const Monitor::Held& held) {
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto& stat = (*stats[i])(held);
        if (!stat || stat->code != code::ok) continue;
        kinds[asked[i]] = {.has_children = stat->value.num_children > 0,
                           .is_ephemeral = stat->value.ephemeral_owner != 0,
                           .read_at = Clock::now()};
      }
    });
  }
};

NodeCache::NodeCache(Client& client, int wake_fd, Limits limits)
    : client_(client),
      wake_fd_(wake_fd),
      limits_(limits),
      mailbox_(std::make_shared<Guarded<std::deque<Event>>>()) {}

NodeCache::~NodeCache() = default;

Candidates NodeCache::candidates(const List& list, const std::string& prefix, std::size_t room) {
  const auto range = names_with_prefix(list.names, prefix);
  Candidates nodes;
  nodes.count = range.size();
  if (range.empty()) return nodes;
  nodes.common = common_beginning(range.front(), range.back());
  nodes.first.reserve(std::min(range.size(), room));
  for (const auto& name : range.first(std::min(range.size(), room))) {
    const auto found = list.kinds.find(name);
    const bool known = found != list.kinds.end();
    const auto kind = known ? found->second : Kind();
    nodes.first.push_back({.text = kind.has_children ? name + '/' : name,
                           .mark = kind.is_ephemeral ? '*' : '\0',
                           .open = kind.has_children || !known});
  }
  return nodes;
}

bool NodeCache::knows(const List& list, const std::vector<std::string>& names) const {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const auto kind = list.kinds.find(name);
    return kind != list.kinds.end() && Clock::now() - kind->second.read_at < kinds_are_good;
  });
}

Candidates NodeCache::matches(const std::string& parent, const std::string& prefix,
                              std::size_t room, bool may_ask) {
  follow_session();
  take_events();
  const auto found = lists_.find(parent);
  const auto is_old = [&](const List& list) {
    return list.old || Clock::now() - list.fetched > longest_use;
  };
  if (found == lists_.end() || (may_ask && is_old(found->second))) {
    Candidates nothing;
    nothing.awaited = may_ask && ask(parent, prefix, room, {});
    return nothing;
  }
  auto& list = found->second;
  list.used = ++uses_;
  auto nodes = candidates(list, prefix, room);
  auto unknown = to_be_known(list.names, prefix, room);
  if (may_ask && !knows(list, unknown))
    nodes.awaited = ask(parent, prefix, room, std::move(unknown));
  return nodes;
}

namespace {

std::vector<std::string> identities_in(const Acl& acl) {
  std::vector<std::string> identities;
  identities.reserve(acl.size());
  // A hash is a secret, and not needed.
  for (const auto& entry : acl)
    if (entry.id.find(',') == std::string::npos)
      identities.push_back(fmt::format("{}:{}", entry.scheme, user_of(entry)));
  return identities;
}

}  // namespace

Candidates NodeCache::acl_identities(const std::string& path, bool may_ask) {
  return look_up(acl_, path, may_ask, [&client = client_, path](const std::stop_token& stop) {
    const auto answer = client.await(client.start_get_acl(path), stop);
    return answer.code == code::ok ? identities_in(answer.value.acl) : std::vector<std::string>();
  });
}

Candidates NodeCache::value(const std::string& path, bool may_ask) {
  constexpr std::size_t longest = 1000;
  return look_up(value_, path, may_ask, [&client = client_, path](const std::stop_token& stop) {
    const auto answer = client.await(client.start_get(path, Watch::none()), stop);
    const auto data = answer.code == code::ok ? answer.value.data.value_or("") : "";
    const bool fits = !data.empty() && data.size() <= longest && is_text(data);
    return fits ? std::vector{data} : std::vector<std::string>();
  });
}

/// `read` is called on a thread of its own.
Candidates NodeCache::look_up(std::unique_ptr<Known>& known, const std::string& path, bool may_ask,
                              Read read) {
  const bool same = known && known->path == path;
  const bool comes = same && known->job && !known->job->status();
  if (same && !comes && Clock::now() - known->fetched < kinds_are_good)
    return Candidates(known->texts);
  Candidates nothing;
  nothing.awaited = may_ask && is_connected(client_.current_state());
  if (!nothing.awaited || comes) return nothing;
  known = std::make_unique<Known>();
  known->path = path;
  known->job =
      std::make_unique<Job>(client_.monitor(), wake_fd_,
                            [&into = *known, read = std::move(read)](const std::stop_token& stop) {
                              try {
                                into.texts = read(stop);
                                into.fetched = Clock::now();
                              } catch (const Cancelled&) {
                                return status::ok;  // nobody waits for it any more
                              }
                              return status::ok;
                            });
  return nothing;
}

/// Starts a fetch of the kinds of `names`, or if that is empty, of the children.
bool NodeCache::ask(const std::string& parent, const std::string& prefix, std::size_t room,
                    std::vector<std::string> names) {
  if (!is_connected(client_.current_state())) return false;
  const bool lists = names.empty();
  for (const auto& fetch : fetches_)
    if (fetch->parent == parent && fetch->prefix == prefix && fetch->lists == lists &&
        !fetch->given_up)
      return true;
  // An abandoned fetch ends as soon as its thread runs.
  if (fetches_.size() >= 2 * limits_.requests) return false;
  if (fetches_.size() >= limits_.requests) {
    const auto oldest = std::ranges::find(fetches_, false, &Fetch::given_up);
    if (oldest != fetches_.end()) (*oldest)->give_up();
  }
  auto& fetch = *fetches_.emplace_back(std::make_unique<Fetch>());
  fetch.parent = parent;
  fetch.prefix = prefix;
  fetch.room = room;
  fetch.lists = lists;
  fetch.asked = std::move(names);
  fetch.job = std::make_unique<Job>(client_.monitor(), wake_fd_,
                                    [&fetch, &client = client_, mailbox = mailbox_,
                                     wake_fd = wake_fd_](const std::stop_token& stop) {
                                      if (fetch.lists) fetch.list(client, mailbox, wake_fd, stop);
                                      if (fetch.code == code::ok && !stop.stop_requested())
                                        fetch.describe(client, stop);
                                      return status::ok;
                                    });
  return true;
}

bool NodeCache::process_finished() {
  bool came = false;
  for (auto* const known : {acl_.get(), value_.get()})
    if (known && known->job && known->job->status()) {
      known->job.reset();
      came = true;
    }
  if (fetches_.empty()) return came;
  const auto ended = std::stable_partition(
      fetches_.begin(), fetches_.end(),
      [](const std::unique_ptr<Fetch>& fetch) { return !fetch->job->status(); });
  if (ended == fetches_.end()) return came;
  follow_session();
  take_events();
  std::for_each(ended, fetches_.end(), [this](std::unique_ptr<Fetch>& fetch) { keep(*fetch); });
  fetches_.erase(ended, fetches_.end());
  make_room();
  return true;
}

bool NodeCache::is_slow() const {
  return std::ranges::any_of(fetches_, [](const std::unique_ptr<Fetch>& fetch) {
    return fetch->slow && !fetch->given_up;
  });
}

void NodeCache::keep(Fetch& fetch) {
  if (fetch.given_up || fetch.code != code::ok) return;
  const auto known = lists_.find(fetch.parent);
  if (!fetch.lists && known == lists_.end()) return;
  auto& list = fetch.lists ? lists_[fetch.parent] : known->second;
  if (fetch.lists) {
    list.bytes = bytes_of(fetch.names);
    list.names = std::move(fetch.names);
    list.kinds.clear();
    list.fetched = Clock::now();
    list.old = fetch.fired;  // good enough for those who wait for it, but not later
  }
  list.used = ++uses_;
  constexpr std::size_t most_kinds = 2000;
  if (list.kinds.size() > most_kinds) list.kinds.clear();
  for (auto& [name, kind] : fetch.kinds) list.kinds[name] = kind;
}

void NodeCache::take_events() {
  const auto events = client_.monitor().with_lock(
      [&](const Monitor::Held& held) { return std::exchange((*mailbox_)(held), {}); });
  for (const auto& event : events) {
    lists_.erase(event.path);
    for (const auto& fetch : fetches_)
      if (fetch->parent == event.path) fetch->fired = true;
  }
}

/// A new session does not have the previous one's watches.
void NodeCache::follow_session() {
  const auto session = client_.session_id();
  if (session == session_) return;
  session_ = session;
  mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  lists_.clear();
  for (const auto& fetch : fetches_) fetch->give_up();
}

void NodeCache::make_room() {
  std::size_t bytes = 0;
  for (const auto& [path, list] : lists_) bytes += list.bytes;
  // The last one stays whatever its size: it is being waited for.
  while (lists_.size() > 1 && (lists_.size() > limits_.lists || bytes > limits_.bytes)) {
    const auto oldest =
        std::ranges::min_element(lists_, {}, [](const auto& entry) { return entry.second.used; });
    bytes -= oldest->second.bytes;
    client_.drop_watches(oldest->first, mailbox_, WatchKind::OfChildren);
    lists_.erase(oldest);
  }
}

}  // namespace zksh
