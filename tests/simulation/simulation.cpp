// The simulation: runs of zksh's own sessions, watches and locks against the simulated ensemble.
//
//   simulation [--seed N] [--runs N | --seconds N] [-v] [--only WHAT,…]
//
// Each run has a process of its own. Exits with 1 at the first fault, and prints the seed and the
// run's last events.
#include "judge.h"
#include "lock/deadlines.h"
#include "lock/manager.h"
#include "recipes/lock_distance.h"
#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/personality.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

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
  int timeout_ms = 8000;
  bool by_name = false;
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
  plan.by_name = d.happens(0.3);
  return plan;
}

/// One run.
class Run {
 public:
  Run(std::uint64_t seed, bool prints) : plan_(begin(seed)), ensemble_(plan_.ensemble) {
    judge_.print_notes(prints);
    ensemble_.agreed = [this](const Transaction& done) { judge_.agreed(done); };
    ensemble_.wiped = [this] { judge_.wiped(); };
    on_deadlock([this](const char* what) { report(what); });
  }

  /// 0, or 1 after a fault, which it has printed.
  int play() {
    judge_.note(fmt::format("{} members, {} clients, {} lockers, tick {} ms, timeout {} ms, {}{}",
                            plan_.ensemble.members, plan_.clients, plan_.lockers,
                            plan_.ensemble.tick / millisecond, plan_.timeout_ms,
                            plan_.faults ? "faults" : "no faults", plan_.wipes ? ", wipes" : ""));
    for (int i = 0; i < plan_.clients + plan_.lockers; ++i) arrange_paths(i);
    auto& threads_of_run =
        *new std::vector<std::thread>;  // after a fault they go on until the process ends
    for (int i = 0; i < plan_.clients; ++i)
      threads_of_run.emplace_back([this, i] { guard([&] { client(i); }); });
    for (int i = 0; i < plan_.lockers; ++i)
      threads_of_run.emplace_back([this, i] { guard([&] { locker(plan_.clients + i); }); });
    guard([&] { make_trouble(); });
    guard([&] { await_end(); });
    if (fault_.empty())
      for (auto& thread : threads_of_run) thread.join();
    if (!fault_.empty()) return report(fault_.c_str());
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
    return fmt::format("{} reads, {} writes, {} watches, {} holds, {:.0f} s", judge_.reads(),
                       judge_.writes(), judge_.watches(), judge_.holds(),
                       static_cast<double>(now()) / second);
  }

 private:
  static Plan begin(std::uint64_t seed) {
    begin_simulation(seed);
    return plan_of(dice());
  }

  int report(const char* what) {
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
      if (fault_.empty()) fault_ = fault.text;
    } catch (const std::exception& error) {
      if (fault_.empty()) fault_ = std::string("an exception: ") + error.what();
    }
    ++ended_;
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
      p.in_pieces = d.happens(0.2);
    }
  }

  zksh::SessionSettings settings() const {
    zksh::SessionSettings settings;
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
    auto& d = dice();
    using Makes = void (Run::*)(const Trouble&);
    constexpr std::array<Makes, 10> kinds{
        &Run::cut_host,   &Run::reset_host, &Run::stop_server, &Run::cut_servers, &Run::freeze,
        &Run::cut_leader, &Run::turn_away,  &Run::lose_names,  &Run::slow_down,   &Run::wipe};
    const auto last_kind =
        static_cast<std::int64_t>(plan_.wipes ? kinds.size() : kinds.size() - 1) - 1;
    ends_ = now() + plan_.length;
    while (plan_.faults && !is_over()) {
      sleep_for(d.delay(50 * millisecond, 8 * second));
      if (is_over()) break;
      const Trouble trouble{
          .host = static_cast<int>(d.number(plan_.clients + plan_.lockers - 1)),
          .server = static_cast<int>(d.number(plan_.ensemble.members - 1)),
          .length = d.delay(10 * millisecond, d.happens(0.3) ? 3 * timeout() : 2 * second)};
      last_fault_ = std::max(last_fault_, now() + trouble.length);
      (this->*kinds.at(static_cast<std::size_t>(d.number(last_kind))))(trouble);
    }
    while (!is_over()) sleep_for(second);
    // All is well from now on.
    while (now() < last_fault_ && fault_.empty()) sleep_for(second);
    ensemble_.heal();
    judge_.note("healed");
    healed_ = now();
  }

  void cut_host(const Trouble& t) {
    auto& d = dice();
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
      after(t.length, [host = t.host, s] {
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
    const int other = static_cast<int>(dice().number(plan_.ensemble.members - 1));
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

  void turn_away(const Trouble& t) {
    const bool silent = dice().happens(0.5);
    judge_.note(fmt::format("s{} {} host {} {}", t.server, silent ? "is silent to" : "refuses",
                            t.host, t.for_so_long()));
    auto& p = path(t.host, t.server);
    (silent ? p.silent : p.refuses) = true;
    reset_connections(t.host, t.server);
    after(t.length, [t] {
      path(t.host, t.server).silent = path(t.host, t.server).refuses = false;
      reset_connections(t.host, t.server);
    });
  }

  void lose_names(const Trouble& t) {
    judge_.note("names do not resolve " + t.for_so_long());
    set_names(dice().happens(0.5) ? Names::Hang : Names::Fail);
    after(t.length, [] { set_names(Names::Resolve); });
  }

  void slow_down(const Trouble& t) {
    auto& p = path(t.host, t.server);
    const auto before = p.delay;
    p.delay = dice().delay(microsecond, 400 * millisecond);
    judge_.note(fmt::format("host {} and s{}: {} us away {}", t.host, t.server,
                            p.delay / microsecond, t.for_so_long()));
    ++slow_[t.host];
    after(t.length, [t, before] { path(t.host, t.server).delay = before; });
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
    while (fault_.empty() && ended_ < plan_.clients + plan_.lockers + 1) {
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

  void client(int host) {
    const auto who = fmt::format("client {}", host);
    zksh::Monitor monitor;
    auto& d = dice();
    {
      zksh::Session session(monitor, settings(), ensemble_.connect_string(host, plan_.by_name),
                            [](const auto&, const auto&) {});
      Judge::Seen seen;
      while (!is_over()) {
        sleep_for(d.delay(microsecond, d.happens(0.1) ? 3 * second : 20 * millisecond));
        Request(*this, host, who, session, seen).make();
      }
      settle(who, session);
    }
    judge_.note(who + " has ended");
  }

  /// A random request of a client, and what the judge says of its answer.
  class Request {
   public:
    Request(Run& run, int host, const std::string& who, zksh::Session& session, Judge::Seen& seen)
        : run_(run), judge_(run.judge_), host_(host), who_(who), session_(session), seen_(seen) {}

    void make() {
      using Makes = void (Request::*)();
      constexpr std::array<Makes, 12> kinds{
          &Request::get,    &Request::get,    &Request::exists,       &Request::list,
          &Request::set,    &Request::set,    &Request::set,          &Request::create,
          &Request::create, &Request::remove, &Request::set_in_multi, &Request::read_jointly};
      const auto which = static_cast<std::size_t>(dice().number(kinds.size() - 1));
      const Waiting waiting(run_, who_, fmt::format("request {} of {}", which, target_));
      (this->*kinds.at(which))();
    }

   private:
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

    void list() {
      zksh::Children children;
      const auto watch = some_watch();
      const int code = code_of([&] { children = session_.children(target_, watch, never_stops_); });
      judge_.note(fmt::format("{} ls {}: {} {}", who_, target_, code, children.names.size()));
      if (!counts() || !is_of_servers(code)) return;
      watched_.latest = judge_.saw_children(who_, seen_, target_, code, children.names);
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
      if (!counts() || outcome.code != zksh::code::ok) return;
      const auto& node = outcome.value.at(0);
      if (is_of_servers(node.code))
        judge_.saw_node(who_, seen_, target_, node.code, {.data = node.data, .stat = node.stat},
                        true);
      const auto& listed = outcome.value.at(1);
      std::vector<std::string> names;
      for (std::size_t i = 0; i < listed.names.size(); ++i) names.emplace_back(listed.names[i]);
      if (listed.code == zksh::code::ok) judge_.saw_children(who_, seen_, "/", listed.code, names);
    }

    template <class Action>
    void write(Action&& action) {
      bool unknown = false;
      const int code = code_of(action, &unknown);
      judge_.note(fmt::format("{} write {} {}: {}{}", who_, target_, value_, code,
                              unknown ? " unknown" : ""));
      const bool was_cut = run_.troubles(host_) != troubles_ || run_.is_troubled(began_);
      if (counts()) judge_.wrote(who_, seen_, target_, value_, code, unknown, was_cut);
    }

    void set() {
      write([&] { session_.set({.path = target_, .data = value_}, never_stops_); });
    }

    void set_in_multi() {
      const std::vector<zksh::Op> ops{zksh::CheckOp{.path = "/"},
                                      zksh::SetOp{.path = target_, .data = value_}};
      write([&] { session_.multi(ops, never_stops_); });
    }

    void create() {
      auto& d = dice();
      zksh::CreateOp op{.path = target_, .data = value_, .sequential = d.happens(0.1)};
      if (d.happens(0.2) && target_.rfind('/') > 0) op.mode = zksh::CreateMode::Ephemeral;
      write([&] { target_ = session_.create(op, never_stops_).path; });
    }

    void remove() {
      bool unknown = false;
      const int code = code_of([&] { session_.remove({.path = target_}, never_stops_); }, &unknown);
      judge_.note(
          fmt::format("{} delete {}: {}{}", who_, target_, code, unknown ? " unknown" : ""));
      counts();
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
    }
    meet(settled_);
    // The ephemerals of sessions that were lost are gone after two timeouts.
    sleep_for(2 * timeout() + 4 * second + 2 * plan_.ensemble.tick);
    if (fault_.empty()) judge_.check_watches_of(who, session.monitor(), session.session_id());
    meet(checked_);
  }

  /// Waits until all clients have come here.
  void meet(int& arrived) {
    ++arrived;
    while (arrived < plan_.clients && fault_.empty()) sleep_for(100 * millisecond);
  }

  // A locker's program.

  void locker(int host) {
    const auto who = fmt::format("locker {}", host);
    zksh::Monitor monitor;
    auto& d = dice();
    {
      zksh::Session session(monitor, settings(), ensemble_.connect_string(host, plan_.by_name),
                            [](const auto&, const auto&) {});
      zksh::LockManager manager(
          session, {.say = [this, who](const std::string& line) { judge_.note(who + ": " + line); },
                    .changed = {}});
      while (!is_over()) {
        sleep_for(d.delay(microsecond, d.happens(0.1) ? 3 * second : 100 * millisecond));
        hold_once(host, who, session, manager);
      }
      while (healed_ == 0 && fault_.empty()) sleep_for(100 * millisecond);
      manager.close(3s);
    }
    judge_.note(who + " has ended");
  }

  void hold_once(int host, const std::string& who, zksh::Session& session,
                 zksh::LockManager& manager) {
    auto& d = dice();
    const std::stop_token never_stops;
    zksh::LockPlan plan;
    int leases = 1;
    bool shared = false;
    switch (d.number(3)) {
      case 0:
        plan.request.paths = {"/rw"};
        plan.request.read_write = true;
        shared = d.happens(0.6);
        plan.request.mode = shared ? zksh::LockMode::Shared : zksh::LockMode::Exclusive;
        break;
      case 1:
        leases = 2;
        plan.request.paths = {"/sem"};
        plan.request.recipe = zksh::RecipeKind::Semaphore;
        plan.request.leases = leases;
        break;
      default:
        plan.request.paths = {fmt::format("/lock{}", d.number(1))};
    }
    plan.program = true;
    plan.awaited = true;
    plan.quiet = true;
    const auto& name = plan.request.paths.front();
    const Waiting waiting(*this, who, "the lock " + name);
    {
      const auto code = code_of([&] { session.await_connection(name, never_stops); });
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
    judge_.note(fmt::format("{} asks for {}{}", who, name, shared ? " shared" : ""));
    manager.await_held(
        *lock,
        zksh::Clock::now() + std::chrono::nanoseconds(d.delay(10 * millisecond, 60 * second)),
        never_stops);
    if (lock->status().is_held()) {
      program(host, who, session, *lock, shared, leases);
    } else {
      judge_.note(fmt::format("{} gives {} up", who, name));
    }
    const Waiting leaving(*this, who, "the release of " + name);
    manager.give_back(*lock);
    // While no server answers, the manager goes on by itself.
    while (fault_.empty() && !manager.await_gone(*lock, zksh::Clock::now() + 1s, never_stops))
      continue;
    manager.forget(*lock);
  }

  /// What a program under the lock would do, which LockProgram and its watchdog end
  /// (lock/program.cpp).
  void program(int host, const std::string& who, zksh::Session& session, zksh::Lock& lock,
               bool shared, int leases) {
    auto& d = dice();
    auto& monitor = session.monitor();
    const std::stop_token never_stops;
    zksh::LockDeadlines deadlines(zksh::OnLost::Terminate, lock.status().lease.timeout,
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
    const bool may_start = zksh::BootClock::now() < status.lease.end - deadlines.reserve();
    if (!may_start) return lock.vacate();
    judge_.note(fmt::format("{} HOLDS {} (token 0x{:x}, node {})", who, name, status.holding.token,
                            status.holding.nodes.front()));
    judge_.begin_hold(who, name, shared, leases, status.holding.token);
    const auto finish =
        zksh::Clock::now() +
        std::chrono::nanoseconds(d.delay(microsecond, d.happens(0.3) ? 4 * timeout() : second));
    // A program that does not heed SIGTERM is killed.
    const bool heeds = d.happens(0.5);
    bool told = false;
    std::string end = "finishes";
    for (;;) {
      const auto now_it_is = lock.status();
      if (now_it_is.lease.timeout > 0ms) deadlines.set_timeout(now_it_is.lease.timeout);
      const auto time = zksh::BootClock::now();
      if (!now_it_is.is_held()) deadlines.lose(time);
      const auto step = deadlines.step(time, now_it_is.lease.end);
      if (step == zksh::LockDeadlines::Step::Terminate) told = true;
      // Late by what a kernel takes.
      if (step == zksh::LockDeadlines::Step::Kill || (told && heeds)) {
        end = now_it_is.is_held() ? "is ended" : "has lost it";
        break;
      }
      if (zksh::Clock::now() >= finish) break;
      const auto look = std::min(finish, zksh::wait_until(deadlines.next(now_it_is.lease.end)));
      monitor.wait_until(never_stops, look, [&](const zksh::Monitor::Held& held) {
        return lock.status(held).lease.end != now_it_is.lease.end ||
               lock.status(held).stage != now_it_is.stage;
      });
    }
    judge_.end_hold(who, name);
    judge_.note(fmt::format("{} {} {}", who, end, name));
    if (end != "finishes" && troubles(host) == troubles_before && !plan_.faults)
      judge_.fault(who + " was ended under " + name + ", though all was well");
    lock.vacate();
  }

  Plan plan_;
  Judge judge_;
  Ensemble ensemble_;
  std::string fault_;
  int ended_ = 0;
  Time ends_ = never;
  Time last_fault_ = 0;
  Time healed_ = 0;
  std::uint64_t disturbances_ = 0;
  std::map<int, std::uint64_t> slow_;
  std::uint64_t values_ = 0;
  std::map<std::string, std::pair<Time, std::string>> waiting_;
  int settled_ = 0;
  int checked_ = 0;
};

/// A run in this process, which ends with it. The tally goes to stdout.
[[noreturn]] void run_here(std::uint64_t seed, bool prints) {
  alarm(600);  // a run that calls nothing, on a busy machine
  auto* const run = new Run(seed, prints);
  const int result = run->play();
  std::printf("%s\n", run->tally().c_str());
  std::fflush(stdout);
  _exit(result);
}

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;
  double seconds = 0;
  bool prints = false;
};

std::uint64_t number_of(const char* text) {
  std::uint64_t number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "-v") {
      options.prints = true;
    } else if (i + 1 < count && word == "--seed") {
      options.seed = number_of(words[++i]);
    } else if (i + 1 < count && word == "--runs") {
      options.runs = number_of(words[++i]);
    } else if (i + 1 < count && word == "--seconds") {
      options.seconds = static_cast<double>(number_of(words[++i]));
      options.runs = UINT64_MAX;
    } else {
      std::fprintf(stderr, "usage: simulation [--seed N] [--runs N | --seconds N] [-v]\n");
      std::exit(2);
    }
  }
  return options;
}

int simulate(const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t runs = 0;
  for (; runs < options.runs; ++runs) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (options.seconds > 0 && taken.count() >= options.seconds) break;
    const auto seed = options.seed + runs;
    const auto child = fork();
    if (child == 0) run_here(seed, options.prints);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) continue;
    fmt::print(stderr, "seed {}: {} after {} runs; to see it again: --seed {} -v\n", seed,
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a fault", runs + 1, seed);
    return 1;
  }
  std::puts(fmt::format("{} runs without a fault", runs).c_str());
  return 0;
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
