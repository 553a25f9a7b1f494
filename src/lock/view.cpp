// LockView: combines the queue, the nodes' data and the servers' account.
#include "lock/view.h"

#include "base/number.h"
#include "base/text.h"
#include "base/words.h"
#include "client/node_path.h"
#include "recipes/lock_flaws.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zksh {

std::string own_deadlock_text(const Deadlock& deadlock) {
  const auto& links = deadlock.links;
  std::string text =
      links.front().held ? "deadlock: its holder" : "deadlock: a contender ahead of it";
  for (std::size_t i = 1; i < links.size(); ++i) {
    text += fmt::format(" waits for {}", as_word(links[i].path));
    if (i + 1 < links.size())
      text += links[i].held ? ", whose holder" : ", where a contender ahead of it";
  }
  return text +
         (links.back().held ? ", which this shell holds" : ", where this shell is ahead of it");
}

std::string deadlock_text(const Deadlock& deadlock) {
  const auto& links = deadlock.links;
  std::string text = "deadlock: " + session_text(links.front().session);
  for (std::size_t i = 0; i < links.size(); ++i)
    text += fmt::format("{} waits at {} for {}", i == 0 ? "" : ", which", as_word(links[i].path),
                        session_text(links[(i + 1) % links.size()].session));
  return text;
}

Json deadlock_json(const Deadlock& deadlock) {
  return Json::array(deadlock.links, [](const Deadlock::Link& link) {
    return Json::object()
        .set("session", session_text(link.session))
        .set("path", link.path)
        .set("held", link.held);
  });
}

namespace {

constexpr std::string_view zksh_mark = "via=zksh/";

/// Whether the contender is zksh's, by its data, or by names that only zksh uses.
bool is_zksh(const Contender& contender, const QueueNode& entry) {
  const bool all_names =
      contender.has(ContenderTag::Lock) &&
      (contender.has(ContenderTag::KazooLock) || contender.has(ContenderTag::KazooRead));
  return all_names || is_zksh_owner(entry.data) || is_zksh_owner(entry.before);
}

const QueueNode& entry_of(const Contender& contender, const QueueNodes& children) {
  static const QueueNode none;
  for (const auto& node : contender.nodes)
    if (const auto found = children.entries.find(node.text); found != children.entries.end())
      return found->second;
  return none;
}

LockQueue queue_of(const QueueNodes& children) {
  if (!order_needs_stats(children.names)) return make_lock_queue(children.names);
  std::map<std::string, std::int64_t> czxids;
  for (const auto& [name, entry] : children.entries) czxids.emplace(name, entry.stat.czxid);
  return make_lock_queue(children.names, czxids);
}

class ViewMaker {
 public:
  ViewMaker(const QueueReading& reading, ServersAccount account, std::string_view chroot,
            std::int64_t own_session)
      : reading_(reading), chroot_(chroot), own_session_(own_session) {
    view_.path = reading.path;
    view_.account = std::move(account);
  }

  LockView make() {
    if (reading_.leases) add_leases();
    add_queue();
    for (auto& seat : view_.seats) seat.watches = seat.waits_for;
    if (view_.account.watchers) measure();
    for (auto& seat : view_.seats)
      if (seat.watches) view_.seats[*seat.watches - 1].watched_by.push_back(seat.number);
    view_.counter = sequence_counter(reading_.queue.stat);
    view_.kind = kind();
    add_flaws();
    return std::move(view_);
  }

 private:
  Seat& add_seat(const Contender& contender, const QueueNode& entry) {
    auto& seat = view_.seats.emplace_back();
    seat.number = view_.seats.size();
    seat.contender = contender;
    seat.made_by = is_zksh(contender, entry) ? Library::Zksh : contender.nodes.front().made_by();
    seat.asked_to_release = is_release_request(entry.data);
    seat.owner = entry.data;
    if (seat.asked_to_release)
      seat.owner = entry.before ? entry.before : owner_before_request(entry.data);
    seat.owner_length = entry.stat.data_length;
    seat.readable = entry.readable;
    seat.session = entry.stat.ephemeral_owner;
    seat.created = entry.stat.ctime;
    seat.token = entry.stat.czxid;
    const auto& account = view_.account;
    if (const auto found = account.addresses.find(seat.session); found != account.addresses.end())
      seat.address = found->second;
    if (!seat.address.empty() || account.all_addresses) seat.connected = !seat.address.empty();
    if (account.sessions && seat.session != 0)
      seat.alive = account.sessions->contains(seat.session);
    if (const auto found = account.expiries.find(seat.session); found != account.expiries.end())
      seat.expires = found->second;
    return seat;
  }

  void add_leases() {
    view_.limit = reading_.limit;
    const auto leases = queue_of(*reading_.leases);
    view_.seats.reserve(leases.contenders.size());
    for (const auto& lease : leases.contenders) {
      auto& seat = add_seat(lease, entry_of(lease, *reading_.leases));
      seat.lease = true;
      seat.state = SeatState::Holds;
    }
    view_.others = leases.others;
  }

  void add_queue() {
    queue_ = queue_of(reading_.queue);
    view_.others.insert(view_.others.end(), queue_.others.begin(), queue_.others.end());
    first_ = view_.seats.size() + 1;
    for (const auto& contender : queue_.contenders) {
      const auto& seat = add_seat(contender, entry_of(contender, reading_.queue));
      if (seat.made_by == Library::Zksh) zksh_.emplace(contender.key());
    }
    for (std::size_t i = 0; i < queue_.contenders.size(); ++i) {
      auto& seat = view_.seats[first_ - 1 + i];
      if (queue_.holds(i)) {
        seat.state = reading_.leases ? SeatState::Next : SeatState::Holds;
      } else if (const auto before = seen_predecessor(queue_, i, zksh_)) {
        seat.waits_for = first_ + *before;
      } else {
        seat.state = SeatState::MayHold;
      }
    }
  }

  std::string path_of(const std::string& name) const {
    const auto parent = reading_.leases ? join_path(reading_.path, "locks") : reading_.path;
    return (chroot_ == "/" ? "" : std::string(chroot_)) + join_path(parent, name);
  }

  /// Servers know only sessions, which may have several contenders; then the recipe's rules decide.
  Seat* watcher(std::int64_t session, const Seat& watched) {
    Seat* nearest = nullptr;
    for (auto i = watched.number; i < view_.seats.size(); ++i) {
      auto& seat = view_.seats[i];
      if (seat.session != session) continue;
      if (seat.waits_for == watched.number) return &seat;
      if (!nearest) nearest = &seat;
    }
    return session == watched.session ? nullptr : nearest;
  }

  /// Whether the servers' reports show what a contender watches.
  bool is_known(const Seat& seat, const std::set<std::int64_t>& watching) const {
    if (seat.session == 0 || seat.alive == false) return true;  // nothing
    // A client that is connected to none of the servers asked may be connected to another one.
    return seat.session != own_session_ &&
           (seat.connected == true || watching.contains(seat.session));
  }

  void measure() {
    std::set<std::int64_t> watching;
    for (const auto& [path, sessions] : *view_.account.watchers)
      watching.insert(sessions.begin(), sessions.end());
    const auto waits = [](const Seat& seat) { return seat.state == SeatState::Waits; };
    const auto known = [&](const Seat& seat) { return is_known(seat, watching); };
    view_.measured = std::ranges::none_of(view_.seats, waits) ||
                     std::ranges::any_of(
                         view_.seats, [&](const Seat& seat) { return waits(seat) && known(seat); });
    if (!view_.measured) {
      view_.account.no_watchers =
          "no server that was asked reports the connections of those who wait (cons)";
      return;
    }
    for (auto& seat : view_.seats) {
      // This shell's own locks watch whom they should.
      const bool own = seat.session == own_session_ && seat.made_by == Library::Zksh;
      seat.watch_unknown = waits(seat) && !known(seat) && !own;
      if (!own) seat.watches.reset();
    }
    for (auto& seat : view_.seats)
      if (!seat.lease) find_watchers(seat);
  }

  void find_watchers(Seat& seat) {
    std::set<std::int64_t> sessions;
    for (const auto& node : seat.contender.nodes)
      if (const auto found = view_.account.watchers->find(path_of(node.text));
          found != view_.account.watchers->end())
        sessions.insert(found->second.begin(), found->second.end());
    sessions.erase(own_session_);
    for (const auto session : sessions) {
      if (auto* by = watcher(session, seat)) {
        // A session may watch other nodes too, as `locks -w` does.
        if (!by->watches || by->watches != by->waits_for) by->watches = seat.number;
        if (by->state != SeatState::MayHold) continue;
        by->state = SeatState::Waits;
        by->waits_for = by->watches;
      } else if (session != seat.session) {
        ++seat.other_watchers;
      }
    }
  }

  std::string kind() const {
    if (reading_.leases) return "semaphore";
    if (queue_.contenders.empty()) return "free";
    const bool read_write = std::ranges::any_of(queue_.contenders, [](const Contender& each) {
      return each.mode == LockMode::Shared ||
             (each.has(ContenderTag::Write) && !each.has(ContenderTag::Lock));
    });
    return read_write ? "read/write" : "exclusive";
  }

  void add_flaws() {
    auto& flaws = view_.flaws;
    flaws = lock_flaws(queue_, {}, zksh_);
    if (auto flaw = counter_flaw(queue_, view_.counter)) flaws.push_back(std::move(*flaw));
    const auto leases = first_ - 1;
    if (view_.limit && static_cast<std::int64_t>(leases) > *view_.limit)
      flaws.push_back(
          fmt::format("{} hold a lease although there are {}: not all use the same number", leases,
                      *view_.limit));
    for (const auto& seat : view_.seats) {
      if (seat.session == 0 && seat.token != 0)
        flaws.push_back(fmt::format(
            "#{} is a persistent node, which belongs to no session; only deleting it removes it",
            seat.number));
      if (seat.alive == false)
        flaws.push_back(fmt::format(
            "#{} belongs to session {}, which has ended; only deleting its node removes it",
            seat.number, session_text(seat.session)));
    }
  }

  const QueueReading& reading_;
  std::string_view chroot_;
  std::int64_t own_session_;
  LockQueue queue_;
  ContenderKeys zksh_;     ///< keys of those that are zksh's
  std::size_t first_ = 1;  ///< number of the first in the queue
  LockView view_;
};

/// The value after `key`, up to `end`; nullopt if there is none.
std::optional<std::string_view> field(std::string_view data, std::string_view key,
                                      std::string_view end) {
  const auto begin = data.find(key);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto value = data.substr(begin + key.size());
  const auto length = value.find(end);
  if (length == std::string_view::npos) return std::nullopt;
  return value.substr(0, length);
}

}  // namespace

LockView make_lock_view(const QueueReading& reading, ServersAccount account,
                        std::string_view chroot, std::int64_t own_session) {
  return ViewMaker(reading, std::move(account), chroot, own_session).make();
}

std::size_t leases_taken(const LockView& view) {
  std::size_t taken = 0;
  for (const auto& seat : view.seats)
    if (seat.lease) taken += seat.contender.nodes.size();
  return taken;
}

std::string parent_of(const LockView& view, const Seat& seat) {
  if (view.kind != "semaphore") return view.path;
  return join_path(view.path, seat.lease ? "leases" : "locks");
}

std::string node_of(const LockView& view, const Seat& seat) {
  return join_path(parent_of(view, seat), seat.contender.nodes.front().text);
}

QueueNode& entry_of(QueueReading& reading, const Seat& seat) {
  auto& children = seat.lease ? *reading.leases : reading.queue;
  return children.entries[seat.contender.nodes.front().text];
}

Data owner_beginning(Data data) {
  if (!data || data->size() <= longest_owner) return data;
  data->resize(longest_owner);
  for (std::size_t back = 1; back <= 3; ++back) {
    const auto at = longest_owner - back;
    if ((static_cast<unsigned char>((*data)[at]) & 0xC0U) != 0xC0U) continue;
    if (!decode_utf8(*data, at).valid) data->resize(at);
    break;
  }
  return data;
}

std::optional<std::int64_t> semaphore_limit(const Data& data) {
  return data ? number_in<std::int64_t>(*data) : std::nullopt;
}

bool is_release_request(const Data& data) {
  if (!data) return false;
  const auto word = data->substr(0, data->find(" by "));
  return word == "__REVOKE__" || word == "unlock";
}

std::string release_request(const std::string& word, const std::string& asker, const Data& owner) {
  auto request = word + " by " + asker;
  const auto known = is_release_request(owner) ? owner_before_request(owner) : owner;
  // The view of a queue reads no more than that of each node.
  if (!known || known->empty() || request.size() + known->size() >= longest_owner) return request;
  return request + '\n' + *known;
}

Data owner_before_request(const Data& request) {
  const auto end = is_release_request(request) ? request->find('\n') : std::string::npos;
  return end == std::string::npos ? std::nullopt : Data(request->substr(end + 1));
}

bool is_zksh_owner(const Data& data) {
  if (!data) return false;
  const auto mark = data->rfind(zksh_mark);
  return mark != std::string::npos && (mark == 0 || (*data)[mark - 1] == ' ') &&
         data->find(' ', mark) == std::string::npos;
}

std::string short_owner(const Data& data) {
  if (!data) return "-";
  if (!is_zksh_owner(data)) return *data;
  const auto host = field(*data, "host=", " ");
  const auto pid = field(*data, " pid=", " ");
  const auto user = field(*data, " user=", " ");
  const auto command = field(*data, " cmd=\"", "\"");
  if (data->starts_with("host=") && host && pid && user && command)
    return fmt::format("{}@{} {} {}", *user, *host, *pid, *command);
  auto text = data->substr(0, data->rfind(zksh_mark));
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string_view seat_mode(const Seat& seat) {
  if (seat.lease) return "lease";
  if (seat.contender.mode == LockMode::Shared) return "read";
  const bool write =
      (seat.contender.has(ContenderTag::Write) || seat.contender.has(ContenderTag::DocWrite)) &&
      !seat.contender.has(ContenderTag::Lock);
  return write ? "write" : "excl";
}

}  // namespace zksh
