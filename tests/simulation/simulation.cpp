// The simulation: runs of zksh's own sessions, watches and locks against the simulated ensemble.
//
//   simulation [--seed N] [--runs N | --seconds N] [-v] [--no-shrinking]
//              [--clients N] [--lockers N] [--length SECONDS] [--without NUMBER,…]
//
// Each run has a process of its own. Exits with 1 at the first fault, and prints the seed, the
// run's last events, and the smallest run with a fault that it could shrink that one to: with so
// many of the clients and of the lockers, for so long, and without some of its faults.
#include "base/digest.h"
#include "command/command.h"
#include "judge.h"
#include "lock/deadlines.h"
#include "lock/manager.h"
#include "lock/view.h"
#include "recipes/lock_distance.h"
#include "session/session.h"
#include "session/session_lease.h"
#include "tree/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// The simulation has no commands.
std::span<const zksh::Command* const> zksh::all_commands() { return {}; }

namespace simulation {
namespace {

using namespace std::chrono_literals;

/// What a run is made of; thrown with its seed.
struct Plan {
  int clients = 3;
  int lockers = 3;
  bool faults = true;
  bool wipes = false;
  Time length = 60 * second;
  Ensemble::Settings ensemble{};
  int timeout_ms = 8000;  ///< servers may grant less
  bool by_name = false;
  bool many_watches = false;
  bool rivals = false;  ///< contenders in another process
  Time lateness = 0;
  bool read_only = false;      ///< members without a leader serve readers
  bool only_cuts_off = false;  ///< there are no other faults than members without a leader
  Time limit = 0;  ///< if set, without faults: the time to servers, about the longest for a lock
};

Plan plan_of(Dice& d) {
  Plan plan;
  plan.faults = d.happens(0.8);
  plan.wipes = plan.faults && d.happens(0.1);
  plan.clients = static_cast<int>(d.number(3));
  plan.lockers = plan.wipes ? 0 : static_cast<int>(d.number(4));
  if (plan.clients + plan.lockers == 0) plan.clients = 2;
  plan.length = (20 + d.number(100)) * second;
  auto& e = plan.ensemble;
  constexpr std::array sizes{1, 3, 3, 3, 5};
  e.members = sizes.at(static_cast<std::size_t>(d.number(sizes.size() - 1)));
  e.tick = d.happens(0.5) ? 2 * second : (200 + d.number(1800)) * millisecond;
  constexpr std::array versions{304, 305, 306, 308, 309};
  const bool is_mixed = d.happens(0.3);
  const auto version = [&] {
    return versions.at(static_cast<std::size_t>(d.number(versions.size() - 1)));
  };
  const auto one = d.happens(0.5) ? 308 : version();
  for (int i = 0; i < e.members; ++i) e.versions.push_back(is_mixed ? version() : one);
  e.lag = d.delay(microsecond, 20 * millisecond);
  e.longest_lag = d.delay(millisecond, second);
  e.refusals = plan.faults && d.happens(0.2) ? 0.01 : 0;
  const auto tick = static_cast<int>(e.tick / millisecond);
  // Without faults, servers answer in time for the shortest timeout, too.
  if (!plan.faults) e.longest_lag = std::min(e.longest_lag, 2 * e.tick / 40);
  if (!plan.faults) e.lag = std::min(e.lag, 2 * e.tick / 100);
  plan.timeout_ms = std::clamp(static_cast<int>(2000 + d.number(10000)), 2 * tick, 20 * tick);
  const bool grants_less = d.happens(0.3);
  const bool differs = d.happens(0.3);
  const auto least = std::max(2 * tick, 1500);
  const auto less = [&] {
    return std::min(20 * tick, std::max(least, static_cast<int>(d.number(plan.timeout_ms))));
  };
  const auto same = grants_less ? less() : 20 * tick;
  for (int i = 0; i < e.members; ++i)
    e.longest_timeouts.push_back(grants_less && differs ? less() : same);
  e.is_prompt = d.happens(0.5);
  plan.by_name = d.happens(0.3);
  plan.rivals = plan.lockers > 0 && d.happens(0.6);
  plan.lateness = plan.faults ? d.delay(0, 20 * millisecond) : least * millisecond / 400;
  if (!plan.faults && d.happens(0.5)) {
    const auto granted =
        std::min(plan.timeout_ms, std::ranges::min(e.longest_timeouts)) * millisecond;
    constexpr Time nearest = 34;
    constexpr Time farthest = 26;
    plan.limit = granted / nearest + d.number(granted / farthest - granted / nearest);
    e.lag = std::min(e.lag, granted / 400);
    e.longest_lag = std::min(e.longest_lag, granted / 200);
  }
  plan.many_watches = plan.faults && d.happens(0.1);
  constexpr std::int32_t short_request = 160 * 1024;
  if (plan.many_watches) e.longest_request = short_request;
  return plan;
}

/// What has dice of its own, so that other plans stay as they are.
void plan_further(Plan& plan, Dice d) {
  plan.read_only = plan.faults && plan.ensemble.members > 1 && d.happens(0.4);
  plan.only_cuts_off = plan.read_only && d.happens(0.3);
  plan.ensemble.serves_read_only = plan.read_only;
  plan.ensemble.has_local_sessions = d.happens(0.7);
  // The last version of which a read-only member resumes sessions, with locks that they hold.
  constexpr int resumes = 306;
  if (plan.read_only && d.happens(0.5))
    for (auto& version : plan.ensemble.versions) version = std::min(version, resumes);
}

/// Observers are as the others of the plan, but farther away.
void plan_observers(Plan& plan, Dice d) {
  auto& e = plan.ensemble;
  e.observer_lag = plan.faults ? d.delay(microsecond, 300 * millisecond) : e.lag;
  e.observers = d.happens(0.25) ? static_cast<int>(1 + d.number(1)) : 0;
  e.members += e.observers;
  for (int i = 0; i < e.observers; ++i) {
    e.versions.push_back(e.versions.front());
    e.longest_timeouts.push_back(e.longest_timeouts.front());
  }
}

/// Members that grant very different timeouts: a session that moves gets another one.
void plan_grants(Plan& plan, Dice d) {
  auto& e = plan.ensemble;
  if (e.members == 1 || plan.limit > 0 || !d.happens(0.25)) return;
  const auto tick = static_cast<int>(e.tick / millisecond);
  const auto least = std::max(2 * tick, 1500);
  plan.timeout_ms = std::max(plan.timeout_ms, std::min(3 * least, 20 * tick));
  for (auto& granted : e.longest_timeouts) granted = d.happens(0.4) ? least : 20 * tick;
}

/// What is left of a run's plan.
struct Limits {
  int clients = INT_MAX;
  int lockers = INT_MAX;
  Time length = never;
  std::set<int> without{};  ///< the numbers of faults

  std::string options() const {
    std::string text;
    if (clients != INT_MAX) text += fmt::format(" --clients {}", clients);
    if (lockers != INT_MAX) text += fmt::format(" --lockers {}", lockers);
    if (length != never) text += fmt::format(" --length {}", length / second);
    if (!without.empty()) text += fmt::format(" --without {}", fmt::join(without, ","));
    return text;
  }
};

/// What a run tells the process that began it.
struct Told {
  int clients = 0;
  int lockers = 0;
  int faults = 0;
  Time ended = 0;
  // Of a run without a fault:
  std::uint64_t holds = 0;
  std::uint64_t lives = 0;  ///< of sessions
};

/// One run.
class Run {
 public:
  Run(std::uint64_t seed, bool prints, Limits limits, Told& told)
      : plan_(begin(seed)),
        limits_(std::move(limits)),
        told_(told),
        clients_(std::min(plan_.clients, limits_.clients)),
        lockers_(std::min(plan_.lockers, limits_.lockers)),
        fault_dice_(seed * 2 + 1),
        details_(0),
        secrets_(seed * 2 + 3),
        further_(seed * 2 + 5),
        apart_(seed * 2 + 9),
        locking_(seed * 2 + 13),
        lives_(seed * 2 + 15),
        has_secret_(secrets_.happens(0.3)),
        logs_in_(secrets_.happens(0.5)),
        ensemble_(plan_.ensemble) {
    plan_.length = std::min(plan_.length, limits_.length);
    judge_.print_notes(prints);
    ensemble_.agreed = [this](const Transaction& done) {
      judge_.agreed(done);
      for (auto& rival : rivals_) look(rival);
    };
    ensemble_.wiped = [this] { judge_.wiped(); };
    ensemble_.left = [this](int host) {
      if (!plan_.faults && !perished_.contains(host))
        tell(fmt::format("host {} left a server, though all was well", host));
    };
    ensemble_.reads_only = [this](int host, Time since) { check_search(host, since); };
    ensemble_.misunderstood = [this](int host, std::int32_t operation, int version) {
      tell(fmt::format("host {} sent the request {} to a server of 3.{}, which does not know it",
                       host, operation, version % 100));
    };
    make_late(plan_.lateness);
    on_deadlock([this](const char* what) { report(what); });
  }

  /// 0, or 1 after a fault, which it has printed.
  int play() {
    judge_.note(fmt::format(
        "{} members ({} observers), {} clients, {} lockers, tick {} ms, timeout {} ms, {}{}",
        plan_.ensemble.members, plan_.ensemble.observers, plan_.clients, plan_.lockers,
        plan_.ensemble.tick / millisecond, plan_.timeout_ms, plan_.faults ? "faults" : "no faults",
        plan_.wipes ? ", wipes" : ""));
    for (int i = 0; i < plan_.clients + plan_.lockers; ++i) arrange_paths(i);
    auto& threads_of_run =
        *new std::vector<std::thread>;  // after a fault they go on until the process ends
    for (int i = 0; i < clients_; ++i)
      threads_of_run.emplace_back([this, i] { guard([&] { client(i); }); });
    for (int i = 0; i < lockers_; ++i)
      threads_of_run.emplace_back([this, i] { guard([&] { locker(plan_.clients + i); }); });
    if (plan_.rivals) begin_rivals();
    if (lockers_ > 0 && !plan_.wipes) ask_for_locks();
    guard([&] { make_trouble(); });
    guard([&] { await_end(); });
    if (fault_.empty())
      for (auto& thread : threads_of_run) thread.join();
    guard([&] { judge_.check_writes(); });
    guard([&] { check_sessions(); });
    if (!fault_.empty()) return report(fault_.c_str());
    told_ = {.ended = now(), .holds = judge_.holds(), .lives = leases_.size()};
    constexpr std::size_t main_and_wires = 2;
    constexpr std::size_t epoll_and_bell = 2;
    sleep_for(second);
    if (threads() > main_and_wires)
      return report(fmt::format("{} threads are left", threads() - main_and_wires).c_str());
    if (descriptors() > epoll_and_bell)
      return report(fmt::format("{} descriptors are left", descriptors() - epoll_and_bell).c_str());
    return 0;
  }

  std::string tally() const {
    return fmt::format(
        "{} reads, {} walks, {} writes, {} watches, {} holds, {} revocations, {} read-only "
        "sessions, {} session lives, {:.0f} s",
        judge_.reads(), judge_.walks(), judge_.writes(), judge_.watches(), judge_.holds(),
        revocations_, ensemble_.read_only_sessions(), leases_.size(),
        static_cast<double>(now()) / second);
  }

 private:
  static Plan begin(std::uint64_t seed) {
    begin_simulation(seed);
    auto plan = plan_of(dice());
    plan_further(plan, Dice(seed * 2 + 7));
    plan_observers(plan, Dice(seed * 2 + 11));
    plan_grants(plan, Dice(seed * 2 + 17));
    return plan;
  }

  int report(const char* what) {
    told_ = {.clients = clients_, .lockers = lockers_, .faults = faults_, .ended = now()};
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n  %s\n", what, ensemble_.description().c_str());
    for (const auto& [who, what_for] : waiting_)
      std::fprintf(stderr, "  %s waits since %.3f: %s\n", who.c_str(),
                   static_cast<double>(what_for.first) / second, what_for.second.c_str());
    for (const auto& line : judge_.notes()) std::fprintf(stderr, "  %s\n", line.c_str());
    return 1;
  }

  template <class Action>
  void guard(Action&& action) {
    try {
      action();
    } catch (const Fault& fault) {
      found(fault.text);
    } catch (const std::exception& error) {
      found(std::string("an exception: ") + error.what());
    }
    ++ended_;
  }

  void found(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  /// Of what no thread has come upon.
  void tell(const std::string& fault) {
    judge_.note("FAULT: " + fault);
    found(fault);
  }

  bool is_over() const { return now() >= ends_ || !fault_.empty(); }

  void arrange_paths(int host) const {
    auto& d = dice();
    const auto delay =
        d.delay(20 * microsecond, d.happens(0.2) ? 150 * millisecond : 3 * millisecond);
    for (int s = 0; s < plan_.ensemble.members; ++s) {
      auto& p = path(host, s);
      p.delay = delay + d.number(delay / 2);
      p.jitter = d.delay(microsecond, plan_.faults ? delay : delay / 4);
      if (plan_.limit > 0) {
        p.delay = plan_.limit;
        p.jitter = d.number(plan_.limit / 20);
      }
      p.in_pieces = d.happens(0.2);
    }
  }

  zksh::SessionSettings settings() {
    zksh::SessionSettings settings;
    settings.read_only = plan_.read_only && apart_.happens(0.7);
    settings.session_timeout_ms = plan_.timeout_ms;
    return settings;
  }

  // Faults.

  struct Trouble {
    int host = 0;
    int server = 0;
    Time length = 0;

    std::string for_so_long() const { return fmt::format("for {} ms", length / millisecond); }
  };

  void make_trouble() {
    auto& d = fault_dice_;
    using Makes = void (Run::*)(const Trouble&);
    constexpr std::array<Makes, 11> kinds{&Run::cut_host,    &Run::reset_host, &Run::stop_server,
                                          &Run::cut_servers, &Run::freeze,     &Run::cut_leader,
                                          &Run::turn_away,   &Run::lose_names, &Run::slow_down,
                                          &Run::stop,        &Run::wipe};
    const auto last_kind =
        static_cast<std::int64_t>(plan_.wipes ? kinds.size() : kinds.size() - 1) - 1;
    ends_ = now() + plan_.length;
    if (plan_.read_only) cut_members_off();
    while (plan_.faults && !plan_.only_cuts_off && !is_over()) {
      sleep_for(d.delay(50 * millisecond, 8 * second));
      if (is_over()) break;
      const Trouble trouble{
          .host = host_of(static_cast<int>(d.number(plan_.clients + plan_.lockers - 1))),
          .server = static_cast<int>(d.number(plan_.ensemble.members - 1)),
          .length = d.delay(10 * millisecond, d.happens(0.3) ? 3 * timeout() : 2 * second)};
      const auto kind = kinds.at(static_cast<std::size_t>(d.number(last_kind)));
      details_ = Dice(d.bits());
      if (limits_.without.contains(faults_++)) continue;
      last_fault_ = std::max(last_fault_, now() + trouble.length);
      (this->*kind)(trouble);
    }
    while (!is_over()) sleep_for(second);
    // All is well from now on.
    while (now() < last_fault_ && fault_.empty()) sleep_for(second);
    ensemble_.heal();
    judge_.note("healed");
    healed_ = now();
  }

  void cut_host(const Trouble& t) {
    auto& d = details_;
    const bool up = d.happens(0.6);
    const bool down = !up || d.happens(0.6);
    const bool all = d.happens(0.5);
    judge_.note(fmt::format("cut {}{} of host {} and {} {}", up ? "up" : "", down ? "down" : "",
                            t.host, all ? "all servers" : fmt::format("s{}", t.server),
                            t.for_so_long()));
    for (int s = 0; s < plan_.ensemble.members; ++s) {
      if (!all && s != t.server) continue;
      auto& p = path(t.host, s);
      p.cut_up = p.cut_up || up;
      p.cut_down = p.cut_down || down;
      path_changed(t.host, s);
      after(t.length, [this, host = t.host, s] {
        if (perished_.contains(host)) return;
        auto& then = path(host, s);
        then.cut_up = then.cut_down = false;
        path_changed(host, s);
      });
    }
  }

  void reset_host(const Trouble& t) {
    judge_.note(fmt::format("reset host {} and s{}", t.host, t.server));
    reset_connections(t.host, t.server);
  }

  void stop_server(const Trouble& t) {
    judge_.note(fmt::format("stop s{} {}", t.server, t.for_so_long()));
    ++disturbances_;
    ensemble_.stop(t.server);
    after(t.length, [this, t] { ensemble_.start(t.server); });
  }

  void cut_servers(const Trouble& t) {
    const int other = static_cast<int>(details_.number(plan_.ensemble.members - 1));
    if (other == t.server) return;
    judge_.note(fmt::format("cut s{} and s{} {}", t.server, other, t.for_so_long()));
    ++disturbances_;
    ensemble_.cut(t.server, other, true);
    after(t.length, [this, t, other] { ensemble_.cut(t.server, other, false); });
  }

  void freeze(const Trouble& t) {
    judge_.note(fmt::format("freeze s{} {}", t.server, t.for_so_long()));
    ++disturbances_;
    ensemble_.freeze(t.server, t.length);
  }

  void cut_leader(const Trouble& t) {
    const int leader = ensemble_.leader();
    if (leader < 0) return;
    judge_.note(fmt::format("cut the leader s{} off {}", leader, t.for_so_long()));
    ++disturbances_;
    for (int s = 0; s < plan_.ensemble.members; ++s) {
      if (s == leader) continue;
      ensemble_.cut(leader, s, true);
      after(t.length, [this, leader, s] { ensemble_.cut(leader, s, false); });
    }
  }

  /// Now and then, for long enough that it becomes read-only.
  void cut_members_off() {
    const auto& e = plan_.ensemble;
    const auto grace = e.sync_limit * e.tick + std::max(e.tick, 2 * second);
    after(apart_.delay(second, 20 * second), [this, grace] {
      if (is_over()) return;
      const int members = plan_.ensemble.members;
      const int member = static_cast<int>(apart_.number(members - 1));
      const bool all = apart_.happens(0.3);
      const auto length =
          std::min(apart_.delay(grace, grace + 60 * second), ends_ - now() + 5 * second);
      const bool happens = !limits_.without.contains(faults_++);
      for (int i = 0; happens && i < members; ++i)
        if (all || i == member) cut_off(i, length);
      if (!all) after(grace + plan_.ensemble.tick, [=, this] { lead_to(member, happens); });
      cut_members_off();
    });
  }

  void cut_off(int member, Time length) {
    judge_.note(fmt::format("cut s{} off for {} ms", member, length / millisecond));
    ++disturbances_;
    last_fault_ = std::max(last_fault_, now() + length);
    for (int s = 0; s < plan_.ensemble.members; ++s) {
      if (s == member) continue;
      ensemble_.cut(member, s, true);
      after(length, [this, member, s] { ensemble_.cut(member, s, false); });
    }
  }

  /// Some hosts find only this member for a while, and so read there.
  void lead_to(int member, bool happens) {
    for (int slot = 0; slot < plan_.clients + plan_.lockers; ++slot) {
      const auto length = apart_.delay(second, 6 * second);
      if (!apart_.happens(0.5) || !happens || is_over()) continue;
      const int host = host_of(slot);
      for (int s = 0; s < plan_.ensemble.members; ++s) {
        if (s == member) continue;
        path(host, s).refuses = true;
        reset_connections(host, s);
        after(length, [=, this] {
          if (!perished_.contains(host)) path(host, s).refuses = false;
        });
      }
    }
  }

  /// A client at a read-only member finds one that takes writes: it looks for one after 0.2, 0.6,
  /// 1.4, 3 s, and so on, asks one server each time, and learns the answer the next time.
  void check_search(int host, Time since) {
    const auto patience = 30 * second;
    if (now() - since < patience || !plan_.only_cuts_off) return;
    for (int s = 0; s < plan_.ensemble.members; ++s)
      if (ensemble_.serves_since(s, since))
        tell(fmt::format("host {} is at a read-only server since {} ms, though s{} takes writes",
                         host, since / millisecond, s));
  }

  void turn_away(const Trouble& t) {
    const bool silent = details_.happens(0.5);
    judge_.note(fmt::format("s{} {} host {} {}", t.server, silent ? "is silent to" : "refuses",
                            t.host, t.for_so_long()));
    auto& p = path(t.host, t.server);
    (silent ? p.silent : p.refuses) = true;
    reset_connections(t.host, t.server);
    after(t.length, [this, t] {
      if (perished_.contains(t.host)) return;
      path(t.host, t.server).silent = path(t.host, t.server).refuses = false;
      reset_connections(t.host, t.server);
    });
  }

  void lose_names(const Trouble& t) {
    judge_.note("names do not resolve " + t.for_so_long());
    set_names(details_.happens(0.5) ? Names::Hang : Names::Fail);
    after(t.length, [] { set_names(Names::Resolve); });
  }

  void slow_down(const Trouble& t) {
    auto& p = path(t.host, t.server);
    const auto before = p.delay;
    p.delay = details_.delay(microsecond, 400 * millisecond);
    judge_.note(fmt::format("host {} and s{}: {} us away {}", t.host, t.server,
                            p.delay / microsecond, t.for_so_long()));
    ++slow_[t.host];
    after(t.length, [t, before] { path(t.host, t.server).delay = before; });
  }

  void stop(const Trouble& t) {
    judge_.note("all clients are stopped " + t.for_so_long());
    ++disturbances_;
    stop_process(t.length);
  }

  void wipe(const Trouble& /*t*/) {
    judge_.note("wipe");
    ++disturbances_;
    ensemble_.wipe();
  }

  Time timeout() const { return static_cast<Time>(plan_.timeout_ms) * millisecond; }

  /// Until the programs have ended: each must, now that all is well.
  void await_end() {
    const Time longest = 90 * second;
    const auto began = now();
    while (fault_.empty() && ended_ < clients_ + lockers_ + 1) {
      sleep_for(100 * millisecond);
      if (now() - began < longest) continue;
      judge_.note("still waiting");
      judge_.fault("a program waits without an end, though all is well");
    }
  }

  /// What may break a connection of this host, or its servers.
  std::uint64_t troubles(int host) const {
    return breaks(host) + disturbances_ + (slow_.contains(host) ? slow_.at(host) : 0);
  }

  /// Whether something that began at this time may still have been under an earlier fault's
  /// effects.
  bool is_troubled(Time began) const {
    const auto recovery =
        plan_.ensemble.tick * 2 * plan_.ensemble.sync_limit + timeout() + 5 * second;
    return last_fault_ > 0 && began < last_fault_ + recovery;
  }

  class Waiting {
   public:
    Waiting(Run& run, const std::string& who, std::string what) : run_(run), who_(who) {
      run_.waiting_[who] = {now(), std::move(what)};
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { run_.waiting_.erase(who_); }

   private:
    Run& run_;
    const std::string& who_;
  };

  // A client's program.

  static std::string some_path() {
    auto& d = dice();
    std::string path = fmt::format("/n{}", d.number(3));
    if (d.happens(0.5)) path += fmt::format("/c{}", d.number(3));
    return path;
  }

  /// The code of what `action` throws; ok if nothing.
  template <class Action>
  static int code_of(Action&& action, bool* unknown = nullptr) {
    try {
      action();
      return zksh::code::ok;
    } catch (const zksh::ZkError& error) {
      if (unknown != nullptr) *unknown = error.outcome_unknown();
      return error.code();
    } catch (const zksh::Error&) {
      return zksh::code::connection_loss;  // no server's name resolves
    }
  }

  void client(int slot) {
    while (client_lives(slot, host_of(slot))) continue;
    judge_.note(fmt::format("client {} has ended", slot));
  }

  /// Whether it has ended in the middle of its work, and another begins.
  bool client_lives(int slot, int host) {
    const auto who = next_name("client", slot);
    zksh::Monitor monitor;
    auto& d = dice();
    auto own = settings();
    if (is_insider(host) && !logs_in_)
      own.credentials.push_back({.scheme = "digest", .secret = credential});
    zksh::Session session(monitor, own, ensemble_.connect_string(host, plan_.by_name),
                          [](const auto&, const auto&) {});
    Judge::Seen seen;
    if (plan_.many_watches && host == slot) watch_much(who, session);
    const auto dies_at = some_death(0.4);
    while (!is_over() && now() < dies_at) {
      sleep_for(d.delay(microsecond, d.happens(0.1) ? 3 * second : 20 * millisecond));
      if (is_insider(host) && logs_in_ && session.session_id() != logged_in_[host])
        log_in(host, who, session);
      Request(*this, host, who, session, seen).make();
      note_session(who, session);
    }
    if (!is_over()) return end_life(slot, who, session);
    settle(who, session);
    return false;
  }

  // Lives, and how they end.

  /// The host of a client or locker, whose first was its number; that of one that has perished is
  /// not used again.
  int host_of(int slot) const { return hosts_.contains(slot) ? hosts_.at(slot) : slot; }
  std::string next_name(const char* kind, int slot) {
    const auto life = lived_[slot]++;
    return life == 0 ? fmt::format("{} {}", kind, slot) : fmt::format("{} {}.{}", kind, slot, life);
  }
  Time some_death(double probability) {
    constexpr int last_host = 120;  // of an address: twice that
    if (next_host_ > last_host || !lives_.happens(probability)) return never;
    return now() + lives_.delay(100 * millisecond, 60 * second);
  }
  void note_session(const std::string& who, zksh::Session& session) {
    const auto id = session.session_id();
    if (id == 0 || leases_.contains(id)) return;
    leases_[id] = zksh::of_session<zksh::SessionLease>(id);
    judge_.note(fmt::format("{} has the session 0x{:x}", who, id));
  }

  /// A process is killed: its connections end. A machine vanishes: nothing more comes from it.
  void perish(int slot, const std::string& who, zksh::Session& session, bool vanishes) {
    const int host = host_of(slot);
    judge_.note(fmt::format("{} {}", who, vanishes ? "vanishes" : "is killed"));
    note_session(who, session);
    if (const auto id = session.session_id(); id != 0) dead_.insert(id);
    perished_.insert(host);
    for (int s = 0; s < plan_.ensemble.members; ++s) {
      auto& p = path(host, s);
      (vanishes ? p.cut_up : p.refuses) = true;
      p.cut_down = vanishes;
      path_changed(host, s);
      if (!vanishes) reset_connections(host, s);
    }
    constexpr int parity = 2;  // decides who has the credential
    hosts_[slot] = next_host_ * parity + slot % parity;
    ++next_host_;
    arrange_paths(hosts_[slot]);
  }

  /// In the middle of the work. True.
  bool end_life(int slot, const std::string& who, zksh::Session& session) {
    watched_on_[host_of(slot)].clear();
    note_session(who, session);
    constexpr std::int64_t ways = 4;
    const auto way = lives_.number(ways);
    if (way <= 1) perish(slot, who, session, way == 1);
    if (way == 2) judge_.note(who + " goes");  // as its destructor closes it
    if (way > 2) close(host_of(slot), who, session, way == ways);
    return true;
  }

  /// The server ends the session at once; but who leaves one without ephemerals does not wait for
  /// that.
  void close(int host, const std::string& who, zksh::Session& session, bool leaves) {
    const auto id = session.session_id();
    const auto began = now();
    const auto troubles_before = troubles(host);
    const bool waits = session.current_state() == zksh::SessionState::Connected &&
                       (!leaves || judge_.has_ephemerals(id));
    if (leaves) {
      session.begin_close();  // as at the end of a script
      session.leave();
    } else {
      session.close();
    }
    judge_.note(fmt::format("{} has closed its session 0x{:x}", who, id));
    constexpr Time patience = 1400 * millisecond;  // it waits for 1.5 s at most
    if (!waits || now() - began >= patience) return;
    // An event ends the wait, too, if the answer is further behind: so a moment later.
    after(patience, [=, this] {
      const bool is_well = troubles(host) == troubles_before && !is_troubled(began);
      if (is_well && !judge_.has_ended(id))
        tell(fmt::format("{} has closed its session 0x{:x}, which lives on", who, id));
    });
  }

  /// In the end: no session that has expired had a longer lease, and those of the dead are over.
  void check_sessions() {
    const auto lives = [this](std::int64_t id) { return ensemble_.has_session(id); };
    if (std::ranges::any_of(dead_, lives))
      sleep_for(2 * timeout() + 4 * second + 2 * plan_.ensemble.tick);
    for (const auto id : dead_)
      if (lives(id)) judge_.fault(fmt::format("the session 0x{:x} outlives its client", id));
    for (const auto& [id, end] : judge_.ended_sessions()) {
      const auto known = leases_.find(id);
      if (known == leases_.end() || !end.expired) continue;
      const auto lease = known->second->end().time_since_epoch().count();
      if (lease > end.at)
        judge_.fault(fmt::format("the session 0x{:x} expired at {} ms, and had a lease until {} ms",
                                 id, end.at / millisecond, lease / millisecond));
    }
  }

  // Every other client has a credential, and with it all rights to this node.
  static constexpr auto secret = "/secret";
  static constexpr auto credential = "ann:secret";

  bool is_insider(int host) const { return has_secret_ && host % 2 == 0; }

  void log_in(int host, const std::string& who, zksh::Session& session) {
    const Waiting waiting(*this, who, "the log-in");
    const auto before = session.session_id();
    const int code = code_of([&] { session.add_auth("digest", credential, {}); });
    judge_.note(fmt::format("{} logs in: {}", who, code));
    if (code == zksh::code::ok && session.session_id() == before) logged_in_[host] = before;
  }

  /// More than fits into a request of the C client's when the connection is restored.
  void watch_much(const std::string& who, zksh::Session& session) {
    const std::stop_token never_stops;
    const Waiting waiting(*this, who, "many watches");
    much_watched_.push_back(std::make_shared<zksh::Guarded<std::deque<zksh::Event>>>());
    constexpr int count = 250;
    constexpr std::size_t length = 800;
    std::vector<zksh::Pending<zksh::Stat>> answers;
    code_of([&] { session.await_connection("/", never_stops); });
    for (int i = 0; i < count; ++i)
      answers.push_back(session.start_exists(fmt::format("/{}{}", std::string(length, 'x'), i),
                                             zksh::Watch::into(much_watched_.back())));
    for (const auto& answer : answers) code_of([&] { session.await(answer, never_stops); });
    judge_.note(fmt::format("{} has set {} watches", who, count));
  }

  /// A random request of a client, and what the judge says of its answer.
  class Request {
   public:
    Request(Run& run, int host, const std::string& who, zksh::Session& session, Judge::Seen& seen)
        : run_(run), judge_(run.judge_), host_(host), who_(who), session_(session), seen_(seen) {}

    void make() {
      using Makes = void (Request::*)();
      if (run_.further_.happens(0.15)) make_further();
      if (run_.has_secret_ && dice().happens(0.5)) return reach_secret();
      constexpr std::array<Makes, 14> kinds{
          &Request::get,      &Request::get,    &Request::exists,       &Request::list,
          &Request::set,      &Request::set,    &Request::set,          &Request::create,
          &Request::create,   &Request::remove, &Request::set_in_multi, &Request::read_jointly,
          &Request::watch_on, &Request::walk};
      const auto which = static_cast<std::size_t>(dice().number(kinds.size() - 1));
      const Waiting waiting(run_, who_, fmt::format("request {} of {}", which, target_));
      (this->*kinds.at(which))();
    }

   private:
    /// Another request before the usual one.
    void make_further() {
      auto& d = run_.further_;
      Request other(run_, host_, who_, session_, seen_);
      other.target_ = fmt::format("/n{}", d.number(3));
      if (run_.has_secret_ && d.happens(0.2)) other.target_ = secret;
      using Makes = void (Request::*)();
      constexpr std::array<Makes, 6> kinds{&Request::get_acl,         &Request::set_acl,
                                           &Request::set_version,     &Request::remove_version,
                                           &Request::set_acl_version, &Request::sync_and_get};
      const auto which = static_cast<std::size_t>(d.number(kinds.size() - 1));
      const Waiting waiting(run_, who_,
                            fmt::format("further request {} of {}", which, other.target_));
      (other.*kinds.at(which))();
      session_before_ = session_.session_id();
      wipes_ = judge_.wipes();
      troubles_ = run_.troubles(host_);
      began_ = now();
    }

    void reach_secret() {
      target_ = secret;
      using Makes = void (Request::*)();
      constexpr std::array<Makes, 12> kinds{
          &Request::create, &Request::create, &Request::get,          &Request::get,
          &Request::get,    &Request::get,    &Request::list,         &Request::list,
          &Request::set,    &Request::remove, &Request::set_in_multi, &Request::read_jointly};
      // An outsider could create it for all.
      const auto which = static_cast<std::size_t>(dice().number(kinds.size() - 1));
      const bool creates = which < 2 && run_.is_insider(host_);
      const Waiting waiting(run_, who_, fmt::format("request {} of {}", which, target_));
      creates ? create() : (this->*kinds.at(std::max<std::size_t>(which, 2)))();
    }

    /// Of what asks for a right to the target: a session with the credential is not refused,
    /// whatever became of its connection, and no other client reaches the secret.
    void check_access(int code) {
      if (target_ != secret) return;
      const bool is_insider = run_.is_insider(host_);
      const auto now_it_is = session_.session_id();
      const bool is_in =
          !run_.logs_in_ || (now_it_is == session_before_ && now_it_is == run_.logged_in_[host_]);
      if (is_insider && is_in && code == zksh::code::no_auth)
        judge_.fault(fmt::format("{} is refused {}, and has the credential", who_, target_));
      if (!is_insider && code == zksh::code::ok)
        judge_.fault(fmt::format("{} has reached {} without a right to it", who_, target_));
    }

    /// Whether what was read or written is one session's, of one history.
    bool counts() {
      const auto id = session_.session_id();
      if (id != seen_.session) seen_ = {.session = id};
      return wipes_ == judge_.wipes() && (session_before_ == id || session_before_ == 0);
    }
    static bool is_of_servers(int code) {
      return code == zksh::code::ok || code == zksh::code::no_node;
    }
    zksh::Watch some_watch() {
      if (dice().happens(0.4))
        watched_.mailbox = std::make_shared<zksh::Guarded<std::deque<zksh::Event>>>();
      return watched_.mailbox ? zksh::Watch::into(watched_.mailbox) : zksh::Watch::none();
    }
    void note_watch() {
      watched_.who = who_;
      watched_.path = target_;
      watched_.earliest = seen_.zxid;
      watched_.session = session_.session_id();
      watched_.wipes = wipes_;
      if (watched_.mailbox && watched_.session == session_before_) judge_.watched(watched_);
    }

    void get() {
      zksh::Node node;
      const auto watch = some_watch();
      const int code = code_of([&] { node = session_.get(target_, watch, never_stops_); });
      judge_.note(fmt::format("{} get {}: {} {}", who_, target_, code, node.data.value_or("")));
      check_access(code);
      if (!counts() || !is_of_servers(code)) return;
      watched_.latest = judge_.saw_node(who_, seen_, target_, code, node, true);
      if (code == zksh::code::ok) note_watch();
    }

    void exists() {
      std::optional<zksh::Stat> stat;
      const auto watch = some_watch();
      const int code = code_of([&] { stat = session_.exists(target_, watch, never_stops_); });
      const auto* const found = stat ? "there" : "missing";
      judge_.note(fmt::format("{} exists {}: {} {}", who_, target_, code, found));
      if (!counts() || code != zksh::code::ok) return;
      const zksh::Node node{.data = {}, .stat = stat.value_or(zksh::Stat{})};
      watched_.latest = judge_.saw_node(who_, seen_, target_,
                                        stat ? zksh::code::ok : zksh::code::no_node, node, false);
      watched_.on_missing = !stat;
      note_watch();
    }

    void get_acl() {
      zksh::NodeAcl read;
      const int code = code_of([&] { read = session_.get_acl(target_, never_stops_); });
      judge_.note(fmt::format("{} getAcl {}: {} {}", who_, target_, code, read.stat.aversion));
      check_access(code);
      if (counts() && is_of_servers(code)) judge_.saw_acl(who_, seen_, target_, code, read);
    }

    /// After a sync, what anybody knows to be done is seen.
    void sync_and_get() {
      const auto acknowledged = judge_.acknowledged();
      int code = code_of([&] { session_.await_connection(target_, never_stops_); });
      if (code == zksh::code::ok)
        code = session_.await(session_.start_sync(target_), never_stops_).code;
      judge_.note(fmt::format("{} sync {}: {}", who_, target_, code));
      if (counts() && code == zksh::code::ok) seen_.zxid = std::max(seen_.zxid, acknowledged);
      get();
    }

    void list() {
      zksh::Children children;
      const auto watch = some_watch();
      const int code = code_of([&] { children = session_.children(target_, watch, never_stops_); });
      judge_.note(fmt::format("{} ls {}: {} {}", who_, target_, code, children.names.size()));
      check_access(code);
      if (!counts() || !is_of_servers(code)) return;
      watched_.latest = judge_.saw_children(who_, seen_, target_, code, children.names.strings());
      watched_.of_children = true;
      if (code == zksh::code::ok) note_watch();
    }

    void read_jointly() {
      const std::vector<zksh::ReadOp> reads{{.what = zksh::ReadOp::What::Value, .path = target_},
                                            {.what = zksh::ReadOp::What::Names, .path = "/"}};
      zksh::Outcome<std::vector<zksh::ReadResult>> outcome;
      const auto failure = code_of([&] {
        const auto start = [&] { return session_.start_reads(reads).answer; };
        outcome = session_.insist(start(), target_, start, never_stops_);
      });
      if (failure != zksh::code::ok) outcome.code = failure;
      judge_.note(fmt::format("{} reads {}: {}", who_, target_, outcome.code));
      if (outcome.code == zksh::code::ok) check_access(outcome.value.at(0).code);
      if (!counts() || outcome.code != zksh::code::ok) return;
      const auto& node = outcome.value.at(0);
      if (is_of_servers(node.code))
        judge_.saw_node(who_, seen_, target_, node.code, {.data = node.data, .stat = node.stat},
                        true);
      const auto& listed = outcome.value.at(1);
      if (listed.code == zksh::code::ok)
        judge_.saw_children(who_, seen_, "/", listed.code, listed.names.strings());
    }

    /// As `ls -R` and `dump` read a tree, of 30 nodes here.
    void walk() {
      std::vector<zksh::TreeNode> nodes;
      zksh::WalkPlan plan;
      plan.tops = {"/"};
      plan.data = dice().happens(0.5);
      plan.enter = [&](zksh::TreeNode& node) { nodes.push_back(std::move(node)); };
      const int code = code_of([&] { zksh::walk_tree(session_, plan, never_stops_); });
      judge_.note(fmt::format("{} walks: {}, {} nodes", who_, code, nodes.size()));
      if (const auto found = std::ranges::find(nodes, secret, &zksh::TreeNode::path);
          found != nodes.end()) {
        target_ = secret;
        check_access(found->readable ? zksh::code::ok : zksh::code::no_auth);
      }
      if (counts() && code == zksh::code::ok) judge_.walked(who_, seen_, nodes, plan.data);
    }

    /// A persistent watch begins or ends. Its events are not judged, but it takes the place of
    /// one-shot watches, which are.
    void watch_on() {
      auto& kept = run_.watched_on_[host_];
      auto& d = dice();
      int code = 0;
      if (!kept.empty() && d.happens(0.5)) {
        code = code_of([&] {
          session_.await(session_.start_end_watch(kept.back().first, kept.back().second),
                         never_stops_);
        });
        kept.pop_back();
      } else {
        kept.emplace_back(target_, std::make_shared<zksh::Guarded<std::deque<zksh::Event>>>());
        const auto mode = d.happens(0.5) ? zksh::WatchMode::Recursive : zksh::WatchMode::Persistent;
        code = code_of([&] {
          session_.await(session_.start_add_watch(target_, mode, kept.back().second), never_stops_);
        });
      }
      judge_.note(fmt::format("{} watches {}: {}", who_, target_, code));
      counts();
    }

    using What = Judge::Write::What;

    template <class Action>
    void write(What what, Action&& action, std::int32_t version = -1) {
      Judge::Write done{.what = what, .value = value_, .version = version};
      done.began = judge_.last_zxid();
      done.code = code_of([&] { done.stat = action(); }, &done.is_unknown);
      judge_.note(fmt::format("{} {} {} {} (version {}): {}{}", who_,
                              what == What::Remove ? "delete" : "write", target_, value_, version,
                              done.code, done.is_unknown ? " unknown" : ""));
      // Creations and removals ask for rights to the parent.
      const bool asks = what == What::Set || what == What::SetInMulti || what == What::SetAcl;
      if (asks) check_access(done.code);
      done.path = target_;
      done.may_be_unknown = run_.troubles(host_) != troubles_ || run_.is_troubled(began_);
      if (counts()) judge_.wrote(who_, seen_, done);
    }

    void set() { set_if(-1); }
    void set_if(std::int32_t version) {
      write(
          What::Set,
          [&] {
            const zksh::SetOp op{.path = target_, .data = value_, .version = version};
            return std::optional(session_.set(op, never_stops_));
          },
          version);
    }

    /// Of the node now, or one that it had or will have.
    std::int32_t some_version(bool of_acl) {
      std::int32_t version = 0;
      code_of([&] {
        const auto stat = session_.exists(target_, zksh::Watch::none(), never_stops_);
        if (stat) version = of_acl ? stat->aversion : stat->version;
      });
      auto& d = run_.further_;
      if (d.happens(0.2)) version += static_cast<std::int32_t>(d.number(2)) - 1;
      return std::max(version, 0);
    }
    void set_version() { set_if(some_version(false)); }

    /// The rights stay as they are.
    void set_acl_if(std::int32_t version) {
      value_ += ":x";
      zksh::Acl acl = zksh::open_acl();
      if (target_ == secret)
        acl = {{.perms = 31, .scheme = "digest", .id = zksh::digest_id(credential)}};
      acl.push_back({.perms = 1, .scheme = "digest", .id = value_});
      write(
          What::SetAcl,
          [&] {
            const auto stat = session_.set_acl(target_, acl, version, never_stops_);
            return stat.code == zksh::code::ok ? std::optional(stat.value) : std::nullopt;
          },
          version);
    }
    void set_acl() { set_acl_if(-1); }
    void set_acl_version() { set_acl_if(some_version(true)); }

    void set_in_multi() {
      const std::vector<zksh::Op> ops{zksh::CheckOp{.path = "/"},
                                      zksh::SetOp{.path = target_, .data = value_}};
      write(What::SetInMulti,
            [&] { return std::optional(session_.multi(ops, never_stops_).at(1).stat); });
    }

    void create() {
      auto& d = dice();
      zksh::CreateOp op{.path = target_, .data = value_, .sequential = d.happens(0.1)};
      if (d.happens(0.2) && target_.rfind('/') > 0) op.mode = zksh::CreateMode::Ephemeral;
      if (target_ == secret) {
        op.sequential = false;
        op.acl = {{.perms = 31, .scheme = "digest", .id = zksh::digest_id(credential)}};
      }
      write(op.sequential ? What::CreateSequential : What::Create, [&] {
        target_ = session_.create(op, never_stops_).path;
        return std::optional<zksh::Stat>();
      });
    }

    void remove() { remove_if(-1); }
    void remove_if(std::int32_t version) {
      write(
          What::Remove,
          [&] {
            session_.remove({.path = target_, .version = version}, never_stops_);
            return std::optional<zksh::Stat>();
          },
          version);
    }
    void remove_version() {
      if (target_ != secret) target_ += fmt::format("/c{}", run_.further_.number(3));
      remove_if(some_version(false));
    }

    Run& run_;
    Judge& judge_;
    int host_;
    const std::string& who_;
    zksh::Session& session_;
    Judge::Seen& seen_;
    std::string target_ = some_path();
    std::string value_ = fmt::format("w{}", ++run_.values_);
    std::int64_t session_before_ = session_.session_id();
    std::uint64_t wipes_ = judge_.wipes();
    std::uint64_t troubles_ = run_.troubles(host_);
    Time began_ = now();
    Judge::Watched watched_{};
    std::stop_token never_stops_{};
  };

  /// When all is well again: the session must have got there, and its watches must have fired.
  void settle(const std::string& who, zksh::Session& session) {
    while (healed_ == 0 && fault_.empty()) sleep_for(100 * millisecond);
    const std::stop_token never_stops;
    {
      const Waiting waiting(*this, who, "the servers to be well");
      while (!ensemble_.is_settled() && fault_.empty()) sleep_for(100 * millisecond);
    }
    {
      const Waiting waiting(*this, who, "a read after all is well");
      for (int tries = 0; fault_.empty(); ++tries) {
        const auto code = code_of([&] { session.get("/", zksh::Watch::none(), never_stops); });
        judge_.note(fmt::format("{} get / in the end: {}", who, code));
        if (code == zksh::code::ok) break;
        sleep_for(100 * millisecond);
      }
      code_of([&] { session.await(session.start_sync("/"), never_stops); });
      const auto& versions = plan_.ensemble.versions;
      if (std::ranges::min(versions) >= 306) check_joint_reads(who, session);
    }
    meet(settled_);
    // The ephemerals of sessions that were lost are gone after two timeouts.
    sleep_for(2 * timeout() + 4 * second + 2 * plan_.ensemble.tick);
    if (fault_.empty()) judge_.check_watches_of(who, session.monitor(), session.session_id());
    meet(checked_);
  }

  /// Servers that were ill when they were asked what they can do are asked again.
  void check_joint_reads(const std::string& who, zksh::Session& session) {
    const std::stop_token never_stops;
    const std::vector<zksh::ReadOp> reads(2, {.what = zksh::ReadOp::What::Value, .path = "/"});
    const auto until = now() + 30 * second;  // a look-up of names may still hang
    while (fault_.empty()) {
      const auto sent = session.start_reads(reads);
      code_of([&] { session.await(sent.answer, never_stops); });
      if (sent.requests == 1) return;
      if (now() > until) judge_.fault(who + " sends joint reads one by one, though all is well");
      sleep_for(100 * millisecond);
    }
  }

  /// Waits until all clients have come here.
  void meet(int& arrived) {
    ++arrived;
    while (arrived < clients_ && fault_.empty()) sleep_for(100 * millisecond);
  }

  // A locker's program.

  void locker(int slot) {
    while (locker_lives(slot, host_of(slot))) continue;
    judge_.note(fmt::format("locker {} has ended", slot));
  }

  /// As client_lives.
  bool locker_lives(int slot, int host) {
    const auto who = next_name("locker", slot);
    zksh::Monitor monitor;
    auto& d = dice();
    zksh::Session session(monitor, settings(), ensemble_.connect_string(host, plan_.by_name),
                          [](const auto&, const auto&) {});
    zksh::LockManager manager(
        session, {.say = [this, who](const std::string& line) { judge_.note(who + ": " + line); },
                  .changed = {}});
    const auto dies_at = some_death(0.3);
    while (!is_over() && now() < dies_at && !perished_.contains(host)) {
      sleep_for(d.delay(microsecond, d.happens(0.1) ? 3 * second : 100 * millisecond));
      hold_once(slot, host, who, session, manager);
      note_session(who, session);
    }
    if (perished_.contains(host)) return true;
    if (!is_over()) {
      manager.close(3s);
      return end_life(slot, who, session);
    }
    while (healed_ == 0 && fault_.empty()) sleep_for(100 * millisecond);
    manager.close(3s);
    return false;
  }

  zksh::LockRequest some_request() {
    auto& d = dice();
    zksh::LockRequest request;
    switch (d.number(3)) {
      case 0:
        request.paths = {"/rw"};
        request.read_write = true;
        request.mode = d.happens(0.6) ? zksh::LockMode::Shared : zksh::LockMode::Exclusive;
        break;
      case 1:
        request.paths = {"/sem"};
        request.recipe = zksh::RecipeKind::Semaphore;
        request.leases = 2;
        request.quantity = locking_.happens(0.2) ? 2 : 1;
        break;
      default:
        request.paths = {fmt::format("/lock{}", d.number(1))};
        if (locking_.happens(0.3)) make_multiple(request);
    }
    return request;
  }

  /// Both locks, in either order, or the herd's way to one.
  void make_multiple(zksh::LockRequest& request) {
    if (locking_.happens(0.2)) {
      request.recipe = zksh::RecipeKind::Herd;
      return;
    }
    request.paths.emplace_back(request.path() == "/lock0" ? "/lock1" : "/lock0");
    request.recipe = zksh::RecipeKind::Multi;
    request.atomic = locking_.happens(0.5);
  }

  void hold_once(int slot, int host, const std::string& who, zksh::Session& session,
                 zksh::LockManager& manager) {
    auto& d = dice();
    const std::stop_token never_stops;
    zksh::Lock::Plan plan{.request = some_request()};
    plan.options.program = {"writes"};
    plan.options.quiet = true;
    const auto name = fmt::format("{}", fmt::join(plan.request.paths, " "));
    const Waiting waiting(*this, who, "the lock " + name);
    {
      const auto code = code_of([&] { session.await_connection("/", never_stops); });
      if (code != zksh::code::ok) return;
    }
    std::shared_ptr<zksh::Lock> lock;
    try {
      zksh::refuse_distance(session, {}, never_stops);
      lock = manager.ask(plan);
    } catch (const zksh::Error& error) {
      judge_.note(fmt::format("{} is refused {}: {}", who, name, error.what()));
      return;
    }
    judge_.note(fmt::format("{} asks for {} ({})", who, name, zksh::kind_of(lock->plan().request)));
    manager.await_held(
        *lock,
        zksh::Clock::now() + std::chrono::nanoseconds(d.delay(10 * millisecond, 60 * second)),
        never_stops);
    if (lock->status().is_held()) {
      program(slot, host, who, session, *lock);
    } else if (lives_.happens(0.02) && some_death(1) != never) {
      perish(slot, who, session, lives_.happens(0.5));
    } else {
      judge_.note(fmt::format("{} gives {} up", who, name));
    }
    if (perished_.contains(host)) return;
    const Waiting leaving(*this, who, "the release of " + name);
    manager.give_back(*lock);
    // While no server answers, the manager goes on by itself.
    while (fault_.empty() && !manager.await_gone(*lock, zksh::Clock::now() + 1s, never_stops))
      continue;
    const auto gone = lock->status();
    if (gone.stage == zksh::LockStatus::Stage::Stuck && fault_.empty())
      judge_.fault(fmt::format("{} cannot give {} back: {}", who, name, gone.reason));
    manager.forget(*lock);
  }

  // Rivals: contenders in another process, of which nothing fails, at the leader itself.

  struct Rival {
    std::string lock;
    std::string node{};  ///< empty: it does not want the lock
    enum class Stage { Waiting, Holding, Leaving } stage = Stage::Waiting;
    Time next = 0;  ///< when it wants the lock again
    std::string who() const { return "the rival of " + lock; }
  };

  void begin_rivals() {
    for (const auto* lock : {"/lock0", "/lock1"}) rivals_.push_back({.lock = lock});
    tend_rivals();
  }

  void tend_rivals() {
    for (auto& rival : rivals_) tend(rival);
    after(50 * millisecond, [this] { tend_rivals(); });
  }

  void tend(Rival& rival) {
    if (rival.node.empty()) {
      if (is_over() || now() < rival.next) return;
      rival.node = ensemble_.enter_queue(rival.lock);
      rival.stage = Rival::Stage::Waiting;
      return;
    }
    const bool is_there = ensemble_.tree().contains(rival.node);
    if (rival.stage == Rival::Stage::Holding) return;
    if (is_over() || rival.stage == Rival::Stage::Leaving) {
      rival.stage = Rival::Stage::Leaving;
      if (is_there) ensemble_.leave_queue(rival.node);
    }
    // Its creation or its removal may have been lost with a leader.
    if (is_there || judge_.names_below(rival.lock).contains(name_of(rival))) return;
    rival.node.clear();
    rival.next = now() + dice().delay(millisecond, 10 * second);
  }

  static std::string name_of(const Rival& rival) {
    return rival.node.substr(rival.lock.size() + 1);
  }

  /// Takes the lock as soon as its node is the first.
  void look(Rival& rival) {
    if (rival.node.empty() || rival.stage != Rival::Stage::Waiting) return;
    const auto own = name_of(rival);
    const auto& names = judge_.names_below(rival.lock);
    constexpr std::size_t digits = 10;
    const auto number = [](const std::string& name) {
      return name.size() < digits ? name : name.substr(name.size() - digits);
    };
    if (!names.contains(own)) return;
    for (const auto& name : names)
      if (number(name) < number(own)) return;
    rival.stage = Rival::Stage::Holding;
    judge_.note(fmt::format("{} HOLDS it ({})", rival.who(), own));
    try {
      judge_.begin_hold(rival.lock, {.who = rival.who()}, judge_.created(rival.node));
    } catch (const Fault& fault) {
      found(fault.text);
    }
    after(dice().delay(millisecond, second), [this, &rival] {
      judge_.end_hold(rival.who(), rival.lock);
      rival.stage = Rival::Stage::Leaving;
      tend(rival);
    });
  }

  /// A program under a lock, and its watchdog, which kills it. They go on while zksh is stopped.
  struct Watched {
    Time kill_at = never;
    bool is_over = false;
    bool was_killed = false;
    std::function<void()> ended{};

    void end() {
      if (!std::exchange(is_over, true) && ended) ended();
    }
  };
  static void watch(const std::shared_ptr<Watched>& program) {
    at(std::max(now(), program->kill_at) + dice().delay(0, 2 * millisecond), [program] {
      if (program->is_over) return;
      if (now() < program->kill_at) return watch(program);
      program->was_killed = true;
      program->end();
    });
  }

  /// What a program under the lock would do, which LockProgram and its watchdog end
  /// (lock/program.cpp).
  void program(int slot, int host, const std::string& who, zksh::Session& session,
               zksh::Lock& lock) {
    auto& d = dice();
    auto& monitor = session.monitor();
    const std::stop_token never_stops;
    zksh::ProgramDeadlines deadlines(zksh::OnLost::Terminate, lock.status().lease.timeout,
                                     std::nullopt);
    for (;;) {
      const auto seen = lock.status().lease.end;
      const bool lasts = session.lease_lasts(deadlines.reserve());
      const bool wanted =
          monitor.with_lock([&](const zksh::Monitor::Held& held) { return lock.is_wanted(held); });
      if (!wanted) return;
      if (lasts) break;
      monitor.wait_until(never_stops, zksh::Clock::now() + 60s,
                         [&](const zksh::Monitor::Held& held) {
                           return lock.status(held).lease.end != seen || !lock.is_wanted(held);
                         });
      if (is_over()) return;
    }
    if (!lock.occupy()) return;
    const auto name = lock.name();
    const auto troubles_before = troubles(host);
    const auto status = lock.status();
    const auto started = std::make_shared<Watched>();
    const auto wind_up = [&](zksh::BootClock::time_point safe_until) {
      started->kill_at = deadlines.watchdog_kills(safe_until).time_since_epoch().count();
    };
    wind_up(status.lease.end);
    watch(started);
    sleep_for(d.delay(100 * microsecond, 20 * millisecond));  // a process is made
    const bool may_start = zksh::BootClock::now() < status.lease.end - deadlines.reserve();
    if (!may_start || started->is_over) {
      started->end();
      return lock.vacate();
    }
    started->ended = [this, who, name, paths = lock.paths()] {
      for (const auto& path : paths) judge_.end_hold(who, path);
      judge_.note(fmt::format("{}: the program under {} is dead", who, name));
    };
    judge_.note(fmt::format("{} HOLDS {} (token 0x{:x}, node {})", who, name, status.holding.token,
                            status.holding.nodes.front()));
    begin_holds(who, lock.plan().request, status.holding);
    held_.insert(status.holding.nodes.begin(), status.holding.nodes.end());
    const auto finish =
        zksh::Clock::now() +
        std::chrono::nanoseconds(d.delay(microsecond, d.happens(0.3) ? 4 * timeout() : second));
    // A program that does not heed SIGTERM is killed.
    const bool heeds = d.happens(0.5);
    bool told = false;
    const auto dies_at = lives_.happens(0.1) ? some_death(0.3) : never;
    bool was_asked = false;
    std::string end = "finishes";
    for (;;) {
      const auto now_it_is = lock.status();
      if (now_it_is.lease.timeout > 0ms) deadlines.set_timeout(now_it_is.lease.timeout);
      wind_up(now_it_is.lease.end);
      const auto time = zksh::BootClock::now();
      if (!now_it_is.is_held()) deadlines.lose(time);
      const bool wanted =
          monitor.with_lock([&](const zksh::Monitor::Held& held) { return lock.is_wanted(held); });
      const bool is_asked = now_it_is.is_held() && !wanted;
      if (is_asked) deadlines.ask(time);
      const auto step = deadlines.step(time, now_it_is.lease.end);
      if (step == zksh::ProgramDeadlines::Step::Terminate) told = true;
      if (started->is_over) {
        end = "has been killed by its watchdog, and leaves";
        break;
      }
      if (step == zksh::ProgramDeadlines::Step::Kill || (told && heeds)) {
        end = is_asked ? "was asked for it, and gives back" : "is ended";
        if (!now_it_is.is_held()) end = "has lost it";
        was_asked = is_asked;
        break;
      }
      if (zksh::Clock::now() >= finish) break;
      if (now() >= dies_at) return die(slot, who, session, lock, *started);
      const auto next =
          std::min(finish, zksh::Clock::time_point(std::chrono::nanoseconds(dies_at)));
      const auto look = std::min(next, zksh::wait_until(deadlines.next(now_it_is.lease.end)));
      monitor.wait_until(never_stops, look, [&](const zksh::Monitor::Held& held) {
        return lock.status(held).lease.end != now_it_is.lease.end ||
               lock.status(held).stage != now_it_is.stage || lock.is_wanted(held) != wanted;
      });
    }
    // A kernel takes a while for a kill.
    if (end != "finishes") sleep_for(d.delay(microsecond, 10 * millisecond));
    started->end();
    judge_.note(fmt::format("{} {} {}", who, end, name));
    const bool must_last = end != "finishes" && !was_asked;
    if (must_last && troubles(host) == troubles_before && !plan_.faults)
      judge_.fault(who + " was ended under " + name + ", though all was well");
    lock.vacate();
  }

  /// With its program; but if zksh alone is killed, the program goes on until its watchdog kills
  /// it.
  void die(int slot, const std::string& who, zksh::Session& session, zksh::Lock& lock,
           Watched& program) {
    const bool vanishes = lives_.happens(0.5);
    perish(slot, who, session, vanishes);
    if (vanishes) program.end();
    lock.vacate();
  }

  void begin_holds(const std::string& who, const zksh::LockRequest& request,
                   const zksh::Holding& holding) {
    for (std::size_t i = 0; i < request.paths.size(); ++i)
      judge_.begin_hold(request.paths[i],
                        {.who = who,
                         .shared = request.mode == zksh::LockMode::Shared,
                         .leases = std::max(request.leases, 1),
                         .quantity = request.quantity},
                        holding.tokens.empty() ? holding.token : holding.tokens.at(i));
  }

  // Somebody, of whom nothing fails, asks holders to give locks back.

  void ask_for_locks() {
    after(locking_.delay(100 * millisecond, 20 * second), [this] {
      if (is_over()) return;
      constexpr std::array places{"/lock0", "/lock1", "/rw", "/sem/leases"};
      ask_for(places.at(static_cast<std::size_t>(locking_.number(places.size() - 1))));
      ask_for_locks();
    });
  }

  /// Writes into the first node, which holds the lock or soon does.
  void ask_for(const std::string& place) {
    const auto& names = judge_.names_below(place);
    constexpr std::size_t digits = 10;
    const auto number = [](const std::string& name) {
      return name.size() < digits ? name : name.substr(name.size() - digits);
    };
    const auto first = std::ranges::min_element(names, {}, number);
    if (first == names.end()) return;
    const auto node = place + '/' + *first;
    if (std::ranges::find(rivals_, node, &Rival::node) != rivals_.end()) return;
    const auto data = judge_.data(node);
    const std::string word = locking_.happens(0.5) ? "__REVOKE__" : "unlock";
    if (!ensemble_.write_into(node, zksh::is_zksh_owner(data)
                                        ? zksh::release_request(word, "the simulation", data)
                                        : word))
      return;
    ++revocations_;
    judge_.note(fmt::format("somebody asks for {}", node));
    // A multi-lock that waits for its other locks hears of it when it gets them: a waiting
    // contender has one watch, on its predecessor.
    if (plan_.faults || !held_.contains(node)) return;
    after(timeout() + 5 * second, [this, place, name = *first] {
      if (judge_.names_below(place).contains(name))
        tell(fmt::format("{}/{} was not given back, as asked, though all was well", place, name));
    });
  }

  Plan plan_;
  Limits limits_;
  Told& told_;
  int clients_;
  int lockers_;
  Dice fault_dice_;  ///< apart, so that the same faults happen at other lengths
  Dice details_;
  Dice secrets_;     ///< likewise
  Dice further_;     ///< of further requests
  Dice apart_;       ///< of members without a leader, and of who reads there
  Dice locking_;     ///< of several locks at once, and of who asks for them
  Dice lives_;       ///< of clients that end in the middle of their work
  bool has_secret_;  ///< a node that only some clients may reach
  bool logs_in_;     ///< by a request to each session; else the settings have the credential
  int faults_ = 0;
  Judge judge_;
  Ensemble ensemble_;
  std::string fault_;
  int ended_ = 0;
  Time ends_ = never;
  Time last_fault_ = 0;
  Time healed_ = 0;
  std::uint64_t disturbances_ = 0;
  std::map<int, std::uint64_t> slow_;
  std::map<int, std::int64_t> logged_in_;  ///< the session in which a host last did
  std::map<int, int> hosts_;               ///< host_of
  std::map<int, int> lived_;
  std::set<int> perished_;  ///< hosts
  int next_host_ = 10;
  std::set<std::int64_t> dead_;  ///< sessions of the perished
  std::map<std::int64_t, std::shared_ptr<zksh::SessionLease>> leases_;
  std::uint64_t values_ = 0;
  std::uint64_t revocations_ = 0;
  std::set<std::string> held_;  ///< the nodes of locks that were held, by lockers
  std::map<std::string, std::pair<Time, std::string>> waiting_;
  int settled_ = 0;
  int checked_ = 0;
  std::vector<Rival> rivals_;
  std::map<int, std::vector<std::pair<std::string, zksh::Mailbox>>> watched_on_;
  std::vector<zksh::Mailbox> much_watched_;
};

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;
  double seconds = 0;
  bool prints = false;
  bool shrinks = true;
  Limits limits{};
};

/// A run in this process, which ends with it. The tally goes to stdout.
[[noreturn]] void run_here(const Options& options, Told& told) {
  alarm(600);  // a run that calls nothing, on a busy machine
  auto* const run = new Run(options.seed, options.prints, options.limits, told);
  const int result = run->play();
  std::printf("%s\n", run->tally().c_str());
  std::fflush(stdout);
  _exit(result);
}

/// What the run of a seed told, and its status as of waitpid.
int run_apart(const Options& options, Told& told) {
  void* const shared =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& there = *new (shared) Told;
  const auto child = fork();
  if (child == 0) run_here(options, there);
  int status = 0;
  waitpid(child, &status, 0);
  told = there;
  munmap(shared, sizeof(Told));
  return status;
}

/// The limits within which a run still has a fault, if not always the same one.
Limits shrink(Options options, Told told) {
  std::fflush(stdout);
  const int out = dup(STDOUT_FILENO);
  const int err = dup(STDERR_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  Limits best = options.limits;
  const auto try_with = [&](auto&& change) {
    options.limits = best;
    change(options.limits);
    Told then;
    if (run_apart(options, then) == 0) return false;
    best = options.limits;
    told = then;
    return true;
  };
  const auto whole = told.ended / second + 1;
  for (const auto length : {whole / 8, whole / 4, whole / 2, whole})
    if (try_with([&](Limits& limits) { limits.length = length * second; })) break;
  for (int i = told.lockers == 0 ? 1 : 0; i < told.clients; ++i)
    if (try_with([&](Limits& limits) { limits.clients = i; })) break;
  for (int i = told.clients == 0 ? 1 : 0; i < told.lockers; ++i)
    if (try_with([&](Limits& limits) { limits.lockers = i; })) break;
  for (int i = told.faults - 1; i >= 0; --i)
    try_with([&](Limits& limits) { limits.without.insert(i); });
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  return best;
}

std::uint64_t number_of(const char* text) {
  std::uint64_t number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

std::set<int> numbers_in(std::string_view text) {
  std::set<int> numbers;
  while (!text.empty()) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    numbers.insert(number);
    const auto comma = text.find(',');
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return numbers;
}

bool take_limit(Limits& limits, std::string_view word, const char* value) {
  if (word == "--clients")
    limits.clients = static_cast<int>(number_of(value));
  else if (word == "--lockers")
    limits.lockers = static_cast<int>(number_of(value));
  else if (word == "--length")
    limits.length = static_cast<Time>(number_of(value)) * second;
  else if (word == "--without")
    limits.without = numbers_in(value);
  else
    return false;
  return true;
}

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "-v") {
      options.prints = true;
    } else if (word == "--no-shrinking") {
      options.shrinks = false;
    } else if (i + 1 < count && word == "--seed") {
      options.seed = number_of(words[++i]);
    } else if (i + 1 < count && word == "--runs") {
      options.runs = number_of(words[++i]);
    } else if (i + 1 < count && word == "--seconds") {
      options.seconds = static_cast<double>(number_of(words[++i]));
      options.runs = UINT64_MAX;
    } else if (i + 1 < count && take_limit(options.limits, word, words[i + 1])) {
      ++i;
    } else {
      std::fprintf(stderr,
                   "usage: simulation [--seed N] [--runs N | --seconds N] [-v] [--no-shrinking]\n"
                   "  [--clients N] [--lockers N] [--length SECONDS] [--without NUMBER,…]\n");
      std::exit(2);
    }
  }
  return options;
}

/// What runs without a fault were made of.
struct Total {
  std::uint64_t runs = 0;
  std::uint64_t holds = 0;
  std::uint64_t lives = 0;
  Time time = 0;

  void add(const Told& told) {
    ++runs;
    holds += told.holds;
    lives += told.lives;
    time += told.ended;
  }
  void print() const {
    std::puts(fmt::format("{} runs without a fault", runs).c_str());
    if (runs < 2) return;
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto seconds = [](const timeval& one) {
      return static_cast<double>(one.tv_sec) + static_cast<double>(one.tv_usec) / 1e6;
    };
    const auto taken = seconds(used.ru_utime) + seconds(used.ru_stime);
    constexpr double hour = 3600;
    std::puts(fmt::format("{} holds, {} session lives, {:.1f} h of virtual time; in an hour of a "
                          "processor: {:.0f} holds, {:.0f} session lives, {:.0f} h",
                          holds, lives, static_cast<double>(time) / second / hour,
                          static_cast<double>(holds) / taken * hour,
                          static_cast<double>(lives) / taken * hour,
                          static_cast<double>(time) / second / taken)
                  .c_str());
  }
};

int simulate(Options options) {
  const auto began = std::chrono::steady_clock::now();
  Total total;
  for (std::uint64_t runs = 0;; ++runs, ++options.seed) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    const bool is_late = options.seconds > 0 && taken.count() >= options.seconds;
    if (runs >= options.runs || is_late) {
      total.print();
      return 0;
    }
    Told told;
    const int status = run_apart(options, told);
    if (status == 0) {
      total.add(told);
      continue;
    }
    fmt::print(stderr, "seed {}: {} after {} runs; to see it again: --seed {}{} -v\n", options.seed,
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a fault", runs + 1,
               options.seed, options.limits.options());
    if (options.shrinks && !options.prints)
      fmt::print(stderr, "the smallest run with a fault: --seed {}{} -v\n", options.seed,
                 shrink(options, told).options());
    return 1;
  }
}

}  // namespace
}  // namespace simulation

int main(int count, char** words) {
  // Addresses decide the order of some maps: they must be the same in each run.
  const int present = personality(0xffffffff);
  if ((present & ADDR_NO_RANDOMIZE) == 0 &&
      personality(static_cast<unsigned long>(present) | ADDR_NO_RANDOMIZE) >= 0)
    execv("/proc/self/exe", words);
  return simulation::simulate(simulation::options_of(count, words));
}
