// LockFlaws: how each library treats the names of the others.
#include "recipes/lock_flaws.h"

#include "base/mapped.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace zksh {
namespace {

/// Contenders of one kind see the same others, and are seen by the same others.
enum class Kind {
  Mutex,
  Go,
  OtherMutex,
  ReadWrite,
  KazooLock,
  KazooRead,
  CLock,
  JavaLock,
  All,
  Documentation,
  Lease,
  Unknown
};

bool is_read_write(const Contender& contender) {
  return contender.has(ContenderTag::Read) || contender.has(ContenderTag::Write);
}

Kind kind_of(const Contender& contender) {
  const bool kazoo =
      contender.has(ContenderTag::KazooLock) || contender.has(ContenderTag::KazooRead);
  const bool mutex = contender.has(ContenderTag::Lock);
  if (static_cast<int>(kazoo) + static_cast<int>(mutex) +
          static_cast<int>(is_read_write(contender)) >
      1)
    return Kind::All;
  const auto& name = contender.nodes.front();
  switch (name.tag) {
    case ContenderTag::Lock:
      if (name.made_by() == Library::Go) return Kind::Go;
      return name.prefix().starts_with("_c_") ? Kind::Mutex : Kind::OtherMutex;
    case ContenderTag::Read:
    case ContenderTag::Write:
      return Kind::ReadWrite;
    case ContenderTag::KazooLock:
      return Kind::KazooLock;
    case ContenderTag::KazooRead:
      return Kind::KazooRead;
    case ContenderTag::Session:
      return name.made_by() == Library::CLock ? Kind::CLock : Kind::JavaLock;
    case ContenderTag::DocRead:
    case ContenderTag::DocWrite:
      return Kind::Documentation;
    case ContenderTag::Lease:
      return Kind::Lease;
    case ContenderTag::Unknown:
      break;
  }
  return Kind::Unknown;
}

bool has_dash(std::string_view name) { return name.find('-') != std::string_view::npos; }

/// Whether a number follows the last dash: all that zoo_lock.c, WriteLock and samuel/go-zookeeper
/// look at.
bool number_follows_dash(const LockName& name) {
  const auto dash = name.text.rfind('-');
  return dash != std::string::npos && dash + 1 < name.text.size() &&
         name.text.find_first_not_of("0123456789", dash + 1) == std::string::npos;
}

Sight sees_when(bool condition) { return condition ? Sight::Sees : Sight::Blind; }

/// samuel/go-zookeeper parses what follows the last dash; go-zookeeper/zk what follows "lock-", or
/// else the last "__". Names do not show which of them a contender uses.
Sight go_sight(const Contender& other) {
  const bool old_reads = std::ranges::all_of(other.nodes, number_follows_dash);
  const bool new_reads = std::ranges::all_of(other.nodes, [](const LockName& name) {
    return name.text.find("lock-") != std::string::npos ||
           name.text.find("__") != std::string::npos;
  });
  return old_reads && new_reads ? Sight::Sees : Sight::Fails;
}

/// zoo_lock.c parses what follows the last dash of every child, and crashes if there is none.
Sight session_lock_sight(const Contender& other, bool crashes) {
  const bool dashed = std::ranges::all_of(other.nodes, has_dash, &LockName::text);
  if (crashes && !dashed) return Sight::Fails;
  return sees_when(std::ranges::any_of(other.nodes, number_follows_dash));
}

Sight kazoo_lock_sight(const Contender& other) {
  if (other.has(ContenderTag::KazooLock)) return Sight::Sees;
  // WriteLock waits for readers, Lock does not.
  return other.has(ContenderTag::KazooRead) ? Sight::Unsure : Sight::Blind;
}

std::string contender_text(const Contender& contender, bool zksh) {
  const bool shared = contender.mode == LockMode::Shared;
  const auto name = with_short_guids(contender.nodes.front().text);
  if (zksh || kind_of(contender) == Kind::All)
    return fmt::format("zksh {} {}", shared ? "reader" : "contender", name);
  const bool read_write = kind_of(contender) == Kind::ReadWrite;
  const auto library =
      kind_of(contender) == Kind::OtherMutex ? Library::Unknown : contender.nodes.front().made_by();
  return fmt::format("{} {} {}", library_name(library),
                     shared       ? "reader"
                     : read_write ? "writer"
                                  : "contender",
                     name);
}

/// What makes the observer see the other; empty: nothing does. `own`: the other contender is the
/// user's, who can choose different names for it.
std::string remedy(const Contender& observer, const Contender& other, bool own) {
  std::string text = own && kind_of(other) != Kind::All ? "use --compat all" : "";
  const auto add = [&](std::string_view more) {
    text += text.empty() ? "" : ", or ";
    text += more;
  };
  const auto kind = kind_of(observer);
  const bool kazoo = kind == Kind::KazooLock || kind == Kind::KazooRead;
  if (kazoo && other.has(ContenderTag::Lock))
    add("give it extra_lock_patterns=[\"lock-\"]");
  else if (kazoo && is_read_write(other))
    add(kind == Kind::KazooRead ? "give it extra_lock_patterns=[\"__WRIT__\"]"
                                : "give it extra_lock_patterns=[\"__READ__\", \"__WRIT__\"]");
  if (kind == Kind::ReadWrite && own && other.has(ContenderTag::Lock)) add("use rwlock");
  return text.empty() ? text : fmt::format(" ({})", text);
}

/// How an observer that cannot parse the other's name fails.
std::string failure(const Contender& observer, const Contender& other) {
  if (kind_of(observer) == Kind::CLock) return "crashes on the name of";
  const bool old_reads = std::ranges::all_of(other.nodes, number_follows_dash);
  return old_reads ? "fails, if it is one of go-zookeeper/zk, on the name of"
                   : "fails, if it is one of samuel/go-zookeeper, on the name of";
}

/// A contender of each kind that lock_sight distinguishes.
struct Representative {
  const Contender* contender;
  bool zksh;
};

std::vector<Representative> representatives(const LockQueue& queue, std::string_view own,
                                            const ContenderKeys& zksh) {
  std::map<std::tuple<Kind, LockMode, bool, bool>, Representative> first;
  for (const auto& contender : queue.contenders) {
    if (contender.key() == own) continue;
    const bool ours = zksh.contains(contender.key()) || kind_of(contender) == Kind::All;
    const bool dashed = std::ranges::all_of(contender.nodes, has_dash, &LockName::text);
    first.try_emplace({kind_of(contender), contender.mode, ours, dashed},
                      Representative{&contender, ours});
  }
  return mapped(first, [](const auto& entry) { return entry.second; });
}

/// The flaw in how `observer` sees `other`; empty if there is none.
std::string flaw_of(const Representative& observer, const Representative& other,
                    bool other_is_own) {
  if (observer.zksh || !observer.contender->excludes(*other.contender)) return {};
  const auto who = contender_text(*observer.contender, false);
  const auto whom =
      other_is_own ? std::string("this lock") : contender_text(*other.contender, other.zksh);
  const auto sight = lock_sight(*observer.contender, *other.contender);
  if (sight == Sight::Sees) return {};
  if (sight == Sight::Blind)
    return fmt::format("{} cannot see {}{}", who, whom,
                       remedy(*observer.contender, *other.contender, other_is_own));
  if (sight == Sight::Fails)
    return fmt::format("{} {} {}", who, failure(*observer.contender, *other.contender), whom);
  if (kind_of(*observer.contender) == Kind::KazooLock)
    return fmt::format("{} does not wait for {}, unless it is a WriteLock", who,
                       other_is_own ? "this reader" : whom);
  return fmt::format("{} may not see {}", who, whom);
}

/// Adds the flaws in both directions between two contenders, neither of which is the own one.
void add_flaws_between(const Representative& a, const Representative& b,
                       std::vector<std::string>& flaws) {
  const bool blind = !a.zksh && !b.zksh && a.contender->excludes(*b.contender) &&
                     lock_sight(*a.contender, *b.contender) == Sight::Blind &&
                     lock_sight(*b.contender, *a.contender) == Sight::Blind;
  if (blind) {
    flaws.push_back(fmt::format("{} and {} do not see each other",
                                contender_text(*a.contender, a.zksh),
                                contender_text(*b.contender, b.zksh)));
    return;
  }
  for (auto flaw : {flaw_of(a, b, false), flaw_of(b, a, false)})
    if (!flaw.empty()) flaws.push_back(std::move(flaw));
}

/// kazoo's ReadLock before 2.9 also waits for writers after it, which wait for it.
void add_reader_deadlock(const LockQueue& queue, std::string_view own, const ContenderKeys& zksh,
                         std::vector<std::string>& flaws) {
  const Contender* reader = nullptr;
  for (const auto& contender : queue.contenders) {
    const bool concerned = own.empty() || contender.key() == own;
    const bool writes = contender.mode == LockMode::Exclusive;
    if (reader && concerned && writes && contender.has(ContenderTag::KazooLock)) {
      flaws.push_back(fmt::format(
          "{} has a writer behind it: a ReadLock of kazoo before 2.9 waits for that writer forever",
          contender_text(*reader, false)));
      return;
    }
    const bool kazoo = kind_of(contender) == Kind::KazooRead && contender.key() != own &&
                       !zksh.contains(contender.key());
    if (kazoo && !reader) reader = &contender;
  }
}

/// Adds the flaw that a holder of kazoo's Semaphore and `what`, at the same lock node, do not see
/// each other.
void add_flaw_of_kazoo_lease(const LockQueue& queue, std::string_view what,
                             std::vector<std::string>& flaws) {
  const auto lease = std::ranges::find_if(queue.others, is_hex32);
  if (lease != queue.others.end())
    flaws.push_back(fmt::format("the kazoo semaphore holder {}… and {} do not see each other",
                                lease->substr(0, 8), what));
}

/// Adds the flaws of a library with its own kind, and with children that are not contenders.
void add_other_flaws(const LockQueue& queue, const std::vector<Representative>& kinds,
                     std::vector<std::string>& flaws) {
  const auto java = std::ranges::count_if(queue.contenders, [](const Contender& contender) {
    return kind_of(contender) == Kind::JavaLock;
  });
  const auto dashless = std::ranges::find_if_not(queue.others, has_dash);
  for (const auto& kind : kinds) {
    const auto who = contender_text(*kind.contender, kind.zksh);
    const auto library = kind_of(*kind.contender);
    if (library == Kind::JavaLock && java > 1)
      flaws.push_back(who + " waits forever if the one before it leaves at the wrong moment");
    if (library == Kind::Go && !queue.others.empty())
      flaws.push_back(fmt::format("{} fails on the name {}", who, queue.others.front()));
    if (library == Kind::CLock && dashless != queue.others.end())
      flaws.push_back(fmt::format("{} crashes on the name {}", who, *dashless));
  }
}

}  // namespace

Sight lock_sight(const Contender& observer, const Contender& other) {
  if (!observer.excludes(other)) return Sight::Sees;
  const auto kind = kind_of(observer);
  // The library is unknown.
  if (kind == Kind::Documentation || kind == Kind::Unknown)
    return kind_of(other) == kind ? Sight::Sees : Sight::Unsure;
  switch (kind) {
    case Kind::OtherMutex:
      return other.has(ContenderTag::Lock) ? Sight::Sees : Sight::Unsure;
    case Kind::Mutex:
      // It sorts by what follows "lock-"; names without it come last, by their first letter.
      return sees_when(other.has(ContenderTag::Lock));
    case Kind::ReadWrite:
      return sees_when(is_read_write(other));
    case Kind::KazooLock:
      return kazoo_lock_sight(other);
    case Kind::KazooRead:
      return sees_when(other.has(ContenderTag::KazooLock));
    case Kind::Go:
      return go_sight(other);
    case Kind::CLock:
    case Kind::JavaLock:
      return session_lock_sight(other, kind == Kind::CLock);
    case Kind::Lease:
      return sees_when(other.has(ContenderTag::Lease));
    default:
      return Sight::Sees;
  }
}

std::optional<std::size_t> seen_predecessor(const LockQueue& queue, std::size_t index,
                                            const ContenderKeys& zksh) {
  const auto& observer = queue.contenders[index];
  if (zksh.contains(observer.key())) return queue.predecessor(index);
  while (index-- > 0) {
    const auto& other = queue.contenders[index];
    if (observer.excludes(other) && lock_sight(observer, other) != Sight::Blind) return index;
  }
  return std::nullopt;
}

std::vector<std::string> lock_flaws(const LockQueue& queue, std::string_view own,
                                    const ContenderKeys& zksh) {
  std::vector<std::string> flaws;
  const auto kinds = representatives(queue, own, zksh);
  if (const auto place = own.empty() ? std::nullopt : queue.index_of(own)) {
    const Representative self{&queue.contenders[*place], true};
    for (const auto& observer : kinds)
      if (auto flaw = flaw_of(observer, self, true); !flaw.empty())
        flaws.push_back(std::move(flaw));
  } else {
    for (std::size_t a = 0; a < kinds.size(); ++a)
      for (std::size_t b = a + 1; b < kinds.size(); ++b)
        add_flaws_between(kinds[a], kinds[b], flaws);
    add_other_flaws(queue, kinds, flaws);
  }
  if (!queue.contenders.empty() && is_semaphore(queue.others))
    flaws.emplace_back(
        "this is also a semaphore (child \"leases\"): its holders, such as Curator's "
        "InterProcessSemaphoreMutex, and this lock do not see each other (use semaphore)");
  if (!queue.contenders.empty()) add_flaw_of_kazoo_lease(queue, "this lock", flaws);
  add_reader_deadlock(queue, own, zksh, flaws);
  return flaws;
}

std::optional<std::string> counter_flaw(const LockQueue& queue, std::int64_t counter) {
  const bool beyond = std::ranges::any_of(queue.contenders, [](const Contender& contender) {
    return contender.nodes.front().sequence < 0 ||
           contender.nodes.back().sequence == last_sequence || contender.sequence == last_sequence;
  });
  if (beyond || counter >= last_sequence)
    return fmt::format(
        "the sequence counter is exhausted ({}): zksh orders by creation, but with other libraries "
        "two can hold the lock at once; use a new lock node",
        last_sequence);
  if (counter < late_sequence) return std::nullopt;
  return fmt::format(
      "the sequence counter is almost exhausted ({} of {}); with other libraries two can then hold "
      "the lock at once; use a new lock node",
      counter, last_sequence);
}

std::vector<std::string> semaphore_flaws(const LockQueue& queue) {
  std::vector<std::string> flaws;
  if (!queue.contenders.empty())
    flaws.push_back(fmt::format("{} and this semaphore do not see each other",
                                contender_text(queue.contenders.front(), false)));
  add_flaw_of_kazoo_lease(queue, "this semaphore", flaws);
  return flaws;
}

}  // namespace zksh
