// The decisions on time of a lock (SessionLease, LeaseRenewal, ProgramDeadlines) against a model of
// an ensemble, in virtual time: is a program dead when the leader gives its lock away, and is none
// ended while all is well? ZKSH_MODEL_HOLDS is the number of holds, ZKSH_MODEL_SEED the first seed.
#include "client/lease_renewal.h"
#include "lock/deadlines.h"
#include "sanitized.h"
#include "session/session_lease.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using Time = BootClock::time_point;
using Duration = BootClock::duration;
using Request = LeaseRenewal::Request;

constexpr auto never = Time::max();
constexpr std::size_t members = 3;

/// Decisions that were wrong once; the model must find them.
struct Faults {
  bool starts_with_a_third = false;   ///< and sends only pings while it waits
  bool keeps_longer_timeout = false;  ///< the end of a lease never gets earlier
  bool late_watchdog = false;         ///< a twelfth before the end of the lease
};

enum class Trouble {
  None,
  LeaderPauses,
  FollowerPauses,
  LinkPauses,  ///< between the leader and the client's server; in one direction, or in both
  LeaderDeposed,
  /// The leader's pings stall, then the client's server is cut off; zksh is stopped before and
  /// after.
  PingsStall,
};

struct Pause {
  Time from = never;
  Time to = never;
  /// When something that would happen then does happen.
  Time after(Time time) const { return time >= from && time < to ? to : time; }
};

/// Delivers in order; pauses hold up what is on the way.
struct Channel {
  Duration delay{};
  Pause pause{};
  Time last{};

  Time deliver(Time sent, Duration jitter) {
    last = std::max(last, pause.after(sent + delay + jitter));
    return last;
  }
};

/// One hold: a session is created, queues up, waits, runs a program, under at most one trouble of
/// the ensemble and one of the client.
class Hold {
 public:
  Hold(std::uint64_t seed, const Faults& faults) : random_(seed), faults_(faults) { arrange(); }

  /// What went wrong; empty if nothing.
  std::string play() {
    constexpr std::uint64_t endless = 1'000'000;
    while (!events_.empty() && verdict_.empty() && !over_) {
      if (numbers_ > endless) fail("it does not end");
      const auto event = events_.top();
      events_.pop();
      now_ = event.at;
      event.act(*this);
    }
    return verdict_;
  }
  bool started() const { return started_; }
  bool healthy() const { return trouble_ == Trouble::None && !client_trouble_; }
  std::string description() const {
    return fmt::format("trouble {}, T {} ms, tick {} ms, wait {:.2f} T", static_cast<int>(trouble_),
                       timeout_ / 1ms, tick_ / 1ms, part(granted_at_ - asked_at_));
  }

 private:
  struct Event {
    Time at;
    int order;  ///< of events at the same time
    std::uint64_t number;
    std::function<void(Hold&)> act;
    bool operator<(const Event& other) const {
      return std::tie(at, order, number) > std::tie(other.at, other.order, other.number);
    }
  };
  enum class Stage { Idle, Waiting, Acquiring, Holding };
  struct Outstanding {
    SessionLease::Sent sent;
    bool check = false;
  };

  struct Reply {
    Outstanding request;
    std::optional<bool> done;  ///< once it is known
  };

  // Chance.
  double chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  bool happens(double probability) { return chance() < probability; }
  Duration some(double from, double to) {  // parts of the session timeout
    return Duration(static_cast<std::int64_t>((from + (to - from) * chance()) *
                                              static_cast<double>(timeout_.count())));
  }
  double part(Duration time) const {
    return static_cast<double>(time.count()) / static_cast<double>(timeout_.count());
  }

  template <class F>
  void at(Time time, F&& act, int order = 1) {
    events_.push({time, order, ++numbers_, std::forward<F>(act)});
  }

  void arrange();
  void arrange_trouble(Time around);
  void depose(Time from);
  void stall_pings();
  void arrange_client_trouble(Time around);
  void fail(const std::string& what) {
    if (verdict_.empty()) verdict_ = fmt::format("{} at {:.3f} T", what, part(now_ - start_));
  }

  // The ensemble.
  bool leads(std::size_t member) const { return member == leader_; }
  bool serves(std::size_t member) const { return !electing_ && !cut_off_[member]; }
  Channel& up(std::size_t member) { return up_[member]; }
  Channel& down(std::size_t member) { return down_[member]; }
  Duration jitter() { return some(0, jitter_); }
  Time leader_runs(Time time) const { return leader_pause_.after(time); }
  void touch(Duration timeout);
  void schedule_expiry();
  void ping(std::size_t member, int term);
  void take_in(std::size_t member) {
    if (leads(member))
      touch(granted_by_[member]);
    else
      heard_from_[member] = true;
  }
  void agree(std::size_t member, int term, const std::function<void(Hold&, bool)>& answer);
  void elect(std::size_t next);

  // The client.
  Time client_runs(Time time) const {
    return client_pauses_[1].after(client_pauses_[0].after(time));
  }
  template <class F>
  void later(Duration time, F&& act) {
    at(client_runs(now_ + time + some(0, lateness_)), std::forward<F>(act));
  }
  void connect();
  void resume(std::size_t member);
  void resumed(std::size_t member, Time sent);
  void lose_connection();
  void send(bool check);
  void reply(int connection);
  void watch_silence(Time check, int connection);
  void answered(int connection, const Outstanding& request, bool done);
  void tend();  ///< what is due now
  void wake_at(Time time);
  void grant();
  void start_if_safe();
  void note_lease();
  void step();
  void die() {
    if (alive_) died_ = now_;
    alive_ = false;
  }
  LeaseRenewal renewal(LeaseRenewal::Stage stage) const { return {known_timeout(), stage, now_}; }
  Duration known_timeout() const { return lease_.timeout(); }

  std::mt19937_64 random_;
  Faults faults_;
  std::priority_queue<Event> events_;
  std::uint64_t numbers_ = 0;
  Time start_{1000s};
  Time now_ = start_;
  bool over_ = false;
  std::string verdict_;

  Duration timeout_{};
  Duration tick_{};
  double jitter_ = 0;
  double lateness_ = 0;
  double speed_ = 1;     ///< of the servers' clocks
  bool is_far_ = false;  ///< the client, from all of them
  Trouble trouble_ = Trouble::None;
  bool client_trouble_ = false;
  Time springs_at_ = never;  ///< PingsStall, at the next check
  std::array<Duration, members> granted_by_{};

  std::size_t leader_ = 0;
  int term_ = 0;
  bool electing_ = false;
  std::array<bool, members> cut_off_{};
  Pause leader_pause_;
  std::array<Pause, members> member_pauses_{};
  std::array<Channel, members> up_{};    ///< to the leader
  std::array<Channel, members> down_{};  ///< from the leader
  std::array<bool, members> heard_from_{};
  Time expiry_{};
  Duration created_with_{};
  bool gone_ = false;
  bool granted_less_ = false;  ///< than the client knows

  std::array<Pause, 2> client_pauses_{};
  Channel out_;
  Channel in_;
  SessionLease lease_;
  Time end_{};  ///< of the lease, as noted
  int connection_ = 0;
  bool connected_ = false;
  std::size_t server_ = 0;
  Stage stage_ = Stage::Idle;
  Time last_sent_{};
  Time asked_at_{};
  Time granted_at_ = never;
  Time wakes_ = never;
  std::deque<Time> checks_;                     ///< when those that are not answered were sent
  std::deque<std::shared_ptr<Reply>> replies_;  ///< those that the server owes
  Duration took_{};                             ///< the last answer
  Duration round_trip_{};                       ///< the shortest on this connection
  Time heard_at_{};                             ///< of the last answer
  std::optional<LeaseRenewal> renewal_;
  std::optional<ProgramDeadlines> deadlines_;
  bool started_ = false;
  bool alive_ = false;
  Time died_{};
  Time kills_ = never;  ///< the watchdog
  Duration works_{};
};

void Hold::arrange() {
  static constexpr std::array timeouts{4000ms, 6000ms, 10000ms, 30000ms};
  timeout_ = timeouts[random_() % timeouts.size()];
  tick_ = Duration(timeout_ / static_cast<int>(2 + random_() % 19));
  jitter_ = happens(0.5) ? 0.001 : 0.01;
  lateness_ = happens(0.5) ? 0 : 0.005;
  speed_ = 1 + 0.02 * chance();
  granted_by_.fill(timeout_);
  if (happens(0.2))  // the others grant another timeout, in agreement with their ticks
    for (std::size_t i = 1; i < members; ++i) granted_by_[i] = std::max(2 * tick_, some(0.3, 1.0));
  leader_ = random_() % members;
  // Four ways at most to an answer, each with its delay and jitter: less than a sixteenth in all,
  // or at a distance, than a fiftieth more than the shortest that was seen.
  is_far_ = happens(0.3);
  if (is_far_) jitter_ = 0.001;
  const auto longest = is_far_ ? 0.001 : 0.0625 / 5 - jitter_ - 0.0005;
  for (auto* channels : {&up_, &down_})
    for (auto& channel : *channels) channel.delay = some(0, happens(0.3) ? longest : 0.001);
  for (auto* way : {&out_, &in_}) way->delay = some(0, happens(0.3) ? longest : 0.001);
  // At most what LeaseRenewal::least_timeout allows.
  if (is_far_) out_.delay = in_.delay = some(0.01, 0.037);
  for (std::size_t i = 0; i < members; ++i) {
    const auto phase = some(0, 1) % (tick_ / 2);
    at(start_ + phase, [i](Hold& hold) { hold.ping(i, hold.term_); });
  }
  // Created at server 0, idle for a while, then it queues up.
  created_with_ = timeout_;
  touch(timeout_);
  lease_.begin(start_, true, timeout_);
  if (happens(0.3)) lease_.learn_tick(tick_);
  connected_ = true;
  ++connection_;
  took_ = round_trip_ = out_.delay + in_.delay;
  last_sent_ = start_;
  asked_at_ = start_ + (happens(0.4) ? some(0.3, 1.5) : Duration(0));
  granted_at_ = asked_at_ + (happens(0.2) ? Duration(0) : some(0, 1.5));
  if (happens(0.7))
    trouble_ = happens(0.2) ? Trouble::PingsStall : static_cast<Trouble>(1 + random_() % 4);
  works_ = some(0.2, 2.5);
  at(asked_at_, [](Hold& hold) {
    hold.stage_ = Stage::Waiting;
    hold.renewal_ = hold.renewal(LeaseRenewal::Stage::Waiting);
    if (hold.connected_) hold.send(true);  // the creation of the node
    hold.wake_at(hold.renewal_->next());
  });
  at(client_runs(granted_at_), [](Hold& hold) { hold.grant(); });
  wake_at(start_ + timeout_ / 3);
  arrange_trouble(granted_at_ + some(-0.3, 1.2));
  arrange_client_trouble(granted_at_ + some(-0.2, 1.2));
}

void Hold::arrange_trouble(Time around) {
  const Pause pause{around, around + some(0.02, 1.5)};
  switch (trouble_) {
    case Trouble::LeaderPauses:
      leader_pause_ = pause;
      break;
    case Trouble::FollowerPauses:
      if (!leads(server_)) member_pauses_[server_] = pause;
      break;
    case Trouble::LinkPauses:
      if (happens(0.7)) up_[server_].pause = pause;
      if (happens(0.7)) down_[server_].pause = pause;
      break;
    case Trouble::LeaderDeposed:
      depose(around);
      break;
    case Trouble::PingsStall:
      springs_at_ = happens(0.5) ? asked_at_ : around;
      break;
    case Trouble::None:
      break;
  }
}

/// The leader is cut off from the others, or paused; these elect another one when they lose
/// patience.
void Hold::depose(Time from) {
  if (happens(0.5)) leader_pause_ = {from, never};
  for (std::size_t i = 0; i < members; ++i)
    if (i != leader_) up_[i].pause = down_[i].pause = {from, never};
  const auto patience = tick_ * static_cast<int>(2 + random_() % 4);
  at(from + patience, [](Hold& hold) {
    hold.electing_ = true;
    if (!hold.leads(hold.server_) && hold.connected_)
      hold.at(hold.client_runs(hold.now_), [](Hold& held) { held.lose_connection(); });
  });
  const auto next = (leader_ + 1 + random_() % 2) % members;
  at(from + patience + some(0.01, 0.3), [next](Hold& hold) { hold.elect(next); });
}

/// Right after a check was answered.
void Hold::stall_pings() {
  if (leads(server_)) return;
  client_pauses_[0] = {now_, now_ + some(0.02, 0.2)};
  const auto passes = client_pauses_[0].to + some(0.005, 0.06);
  down_[server_].pause = {now_ + some(0, 0.01), passes};
  up_[server_].pause = {passes - some(0, 0.01), never};
  client_pauses_[1] = {passes + some(0, 0.04), passes + 3 * timeout_};
}

void Hold::arrange_client_trouble(Time around) {
  if (happens(0.4) || trouble_ == Trouble::PingsStall) return;
  client_trouble_ = true;
  switch (random_() % 3) {
    case 0:
      client_pauses_[0] = {around, around + some(0.05, 1.5)};
      break;
    case 1:  // a connection is cut, and the client moves
      at(around, [](Hold& hold) {
        hold.at(hold.client_runs(hold.now_), [](Hold& held) { held.lose_connection(); });
      });
      if (happens(0.5)) client_pauses_[0] = {around + some(0.005, 0.5), around + some(0.5, 3)};
      break;
    default:
      (happens(0.5) ? in_ : out_).pause = {around, around + some(0.05, 1.0)};
  }
}

/// The leader has heard of the session.
void Hold::touch(Duration timeout) {
  if (gone_) return;
  const auto real =
      Duration(static_cast<std::int64_t>(static_cast<double>((now_ - start_ + timeout).count()) -
                                         static_cast<double>(timeout.count()) * (1 - 1 / speed_)));
  expiry_ = start_ + ((real + tick_ - 1ns) / tick_) * tick_;
  schedule_expiry();
}

void Hold::schedule_expiry() {
  // After a pause, the leader may look at the sessions before it reads what has come.
  at(
      leader_runs(expiry_),
      [](Hold& hold) {
        if (hold.gone_ || hold.electing_ || hold.now_ < hold.expiry_) return;
        if (hold.leader_pause_.after(hold.now_) == never) return;
        hold.gone_ = true;
        if (hold.granted_less_) hold.alive_ = false;  // not covered, see SessionLease
        if (hold.alive_) hold.fail("the program lives when the lock is given away");
        hold.over_ = true;
      },
      0);
}

void Hold::ping(std::size_t member, int term) {
  if (gone_ || term != term_) return;
  at(now_ + tick_ / 2, [=](Hold& hold) { hold.ping(member, term); });
  if (leads(member) || leader_runs(now_) != now_) return;
  const auto arrives = down(member).deliver(now_, jitter());
  if (arrives == never) return;
  at(member_pauses_[member].after(arrives), [=](Hold& hold) {
    if (term != hold.term_) return;
    const bool named = std::exchange(hold.heard_from_[member], false);
    const auto back = hold.up(member).deliver(hold.now_, hold.jitter());
    if (!named || back == never) return;
    hold.at(hold.leader_runs(back), [=](Hold& held) {
      if (term == held.term_) held.touch(held.granted_by_[member]);
    });
  });
}

/// `answer` is told at the member whether the leader, with a quorum, has agreed.
void Hold::agree(std::size_t member, int term, const std::function<void(Hold&, bool)>& answer) {
  const auto arrives = leads(member) ? now_ : up(member).deliver(now_, jitter());
  if (arrives == never) return;
  at(leader_runs(arrives), [=](Hold& hold) {
    if (term != hold.term_ || hold.electing_ || hold.leader_pause_.after(hold.now_) == never)
      return;
    // A leader that is cut off from all others gets no quorum.
    const auto other = (hold.leader_ + 1) % members;
    if (hold.trouble_ == Trouble::LeaderDeposed && hold.up(other).pause.after(hold.now_) == never)
      return;
    const bool done = !hold.gone_;
    const auto back =
        hold.leads(member) ? hold.now_ : hold.down(member).deliver(hold.now_, hold.jitter());
    if (back == never) return;
    hold.at(hold.member_pauses_[member].after(back), [=](Hold& held) { answer(held, done); });
  });
}

void Hold::elect(std::size_t next) {
  if (gone_) return;
  cut_off_.fill(false);
  cut_off_[leader_] = true;
  if (leads(server_) && connected_)
    at(client_runs(now_ + tick_), [](Hold& hold) { hold.lose_connection(); });
  leader_ = next;
  ++term_;
  electing_ = false;
  leader_pause_ = {};
  for (std::size_t i = 0; i < members; ++i) {
    up_[i].pause = down_[i].pause = {};
    up_[i].last = down_[i].last = now_;
  }
  heard_from_.fill(false);
  touch(created_with_);
  for (std::size_t i = 0; i < members; ++i) ping(i, term_);
}

void Hold::lose_connection() {
  if (!connected_) return;
  connected_ = false;
  ++connection_;
  checks_.clear();
  replies_.clear();
  later(some(0, 0.01), [](Hold& hold) { hold.connect(); });
}

void Hold::connect() {
  if (connected_ || over_) return;
  server_ = random_() % members;
  const int attempt = ++connection_;
  out_.pause = in_.pause = {};  // another path
  out_.last = in_.last = now_;
  if (serves(server_)) resume(server_);
  later(timeout_ / 9, [attempt](Hold& hold) {
    if (attempt == hold.connection_ && !hold.connected_) hold.connect();
  });
}

void Hold::resume(std::size_t member) {
  const int attempt = connection_;
  const auto sent = now_;
  at(member_pauses_[member].after(out_.deliver(now_, jitter())), [=](Hold& hold) {
    if (!hold.serves(member)) return;
    const auto arrives =
        hold.leads(member) ? hold.now_ : hold.up(member).deliver(hold.now_, hold.jitter());
    if (arrives == never) return;
    hold.at(hold.leader_runs(arrives), [=, term = hold.term_](Hold& held) {
      if (term != held.term_ || held.leader_pause_.after(held.now_) == never) return;
      held.touch(held.granted_by_[member]);
      held.granted_less_ = held.granted_by_[member] < held.known_timeout();
      const auto back =
          held.leads(member) ? held.now_ : held.down(member).deliver(held.now_, held.jitter());
      if (back == never) return;
      const auto comes = held.in_.deliver(held.member_pauses_[member].after(back), held.jitter());
      held.at(held.client_runs(comes), [=](Hold& client) {
        if (attempt == client.connection_) client.resumed(member, sent);
      });
    });
  });
}

void Hold::resumed(std::size_t member, Time sent) {
  connected_ = true;
  took_ = round_trip_ = now_ - sent;
  granted_less_ = false;
  lease_.begin(sent, false, granted_by_[member]);
  last_sent_ = now_;
  if (stage_ == Stage::Holding) {
    note_lease();
    send(true);
  }
  tend();
}

void Hold::send(bool check) {
  const Outstanding request{lease_.send(now_, check), check};
  const int connection = connection_;
  const auto member = server_;
  last_sent_ = now_;
  if (check) checks_.push_back(now_);
  if (renewal_) renewal_->sent(check ? Request::Check : Request::Read, now_);
  if (check) watch_silence(now_, connection);
  at(member_pauses_[member].after(out_.deliver(now_, jitter())), [=](Hold& hold) {
    if (connection != hold.connection_) return;
    hold.take_in(member);
    auto reply = std::make_shared<Reply>(Reply{request, {}});
    hold.replies_.push_back(reply);
    const auto answer = [=](Hold& held, bool done) {
      if (connection != held.connection_) return;
      reply->done = done;
      held.reply(connection);
    };
    if (check)
      hold.agree(member, hold.term_, answer);
    else
      answer(hold, true);
  });
}

/// A server answers a session's requests in order.
void Hold::reply(int connection) {
  for (; !replies_.empty() && replies_.front()->done; replies_.pop_front()) {
    const auto next = replies_.front();
    at(client_runs(in_.deliver(now_, jitter())),
       [=](Hold& client) { client.answered(connection, next->request, *next->done); });
  }
}

/// As WireConversation::give_up_at.
void Hold::watch_silence(Time check, int connection) {
  const auto limit =
      std::max(check + took_, heard_at_) + LeaseRenewal::longest_silence(known_timeout());
  at(client_runs(limit + some(0, lateness_)), [=](Hold& hold) {
    if (connection != hold.connection_ || hold.checks_.empty() || hold.checks_.front() > check)
      return;
    const auto silent = std::max(check + hold.took_, hold.heard_at_) +
                        LeaseRenewal::longest_silence(hold.known_timeout());
    if (hold.now_ >= silent) return hold.lose_connection();
    hold.watch_silence(check, connection);
  });
}

void Hold::answered(int connection, const Outstanding& request, bool done) {
  if (connection != connection_) return;
  lease_.answer(request.sent, now_, done);
  heard_at_ = now_;
  took_ = now_ - request.sent.at;
  round_trip_ = std::min(round_trip_, took_);
  if (request.check && !checks_.empty()) checks_.pop_front();
  if (stage_ == Stage::Acquiring && request.check) renewal_->answered();
  if (stage_ == Stage::Acquiring && request.check) start_if_safe();
  if (stage_ == Stage::Holding && request.check) note_lease();
  if (request.check && now_ >= springs_at_) {
    springs_at_ = never;
    stall_pings();
  }
  tend();
}

void Hold::grant() {
  if (stage_ != Stage::Waiting) return;
  stage_ = Stage::Acquiring;
  renewal_ = renewal(LeaseRenewal::Stage::Acquiring);
  start_if_safe();
  tend();
}

void Hold::start_if_safe() {
  const auto usual = known_timeout() / 3;
  const bool safe = faults_.starts_with_a_third ? lease_.end() - now_ >= usual
                                                : lease_.lasts(now_, usual, round_trip_);
  // The contender gives up, as too_far_for_lock says: a server may have granted less.
  if (!safe && LeaseRenewal::least_timeout(round_trip_, 1.0 / 3) > known_timeout()) over_ = true;
  if (!safe || started_) return;
  started_ = alive_ = true;
  stage_ = Stage::Holding;
  renewal_ = renewal(LeaseRenewal::Stage::Holding);
  deadlines_.emplace(OnLost::Terminate,
                     std::chrono::duration_cast<std::chrono::milliseconds>(known_timeout()),
                     std::nullopt);
  note_lease();
  at(now_ + works_, [](Hold& hold) {
    hold.die();
    hold.over_ = true;
  });
}

/// As Lock::keep and LockedProgram do it.
void Hold::note_lease() {
  const auto end = lease_.end();
  end_ = faults_.keeps_longer_timeout ? std::max(end_, end) : end;
  deadlines_->set_timeout(std::chrono::duration_cast<std::chrono::milliseconds>(known_timeout()));
  kills_ = faults_.late_watchdog ? end_ - known_timeout() / 12 : deadlines_->watchdog_kills(end_);
  at(
      kills_,
      [](Hold& hold) {
        if (hold.now_ >= hold.kills_) hold.die();
      },
      0);
  step();
}

void Hold::step() {
  if (!alive_) return;
  const auto what = deadlines_->step(now_, end_);
  if (what == ProgramDeadlines::Step::Terminate || what == ProgramDeadlines::Step::Kill) {
    if (healthy()) fail("a program is ended although every answer came in time");
  }
  if (what == ProgramDeadlines::Step::Kill) return die();
  const auto next = deadlines_->next(end_);
  if (next != never)
    at(client_runs(std::max(next, now_)), [](Hold& hold) {
      if (hold.alive_ && hold.now_ >= hold.deadlines_->next(hold.end_)) hold.step();
    });
}

void Hold::tend() {
  if (!connected_ || over_) return;
  if (stage_ == Stage::Idle || (faults_.starts_with_a_third && stage_ == Stage::Waiting)) {
    if (now_ >= last_sent_ + timeout_ / 3) send(false);  // the C client's ping
    return wake_at(last_sent_ + timeout_ / 3);
  }
  if (stage_ == Stage::Holding && faults_.starts_with_a_third) {
    // A check each sixth, and a read halfway.
    const auto next = last_sent_ + timeout_ / 12;
    if (now_ >= next) send(++numbers_ % 2 == 0);
    return wake_at(std::max(next, now_ + 1ns));
  }
  const auto due = renewal_->due(now_);
  if (due == Request::Check) return send(true);
  if (due == Request::Read) send(false);
  wake_at(renewal_->next());
}

void Hold::wake_at(Time time) {
  if (wakes_ > now_ && wakes_ <= time) return;
  wakes_ = time;
  at(client_runs(time + some(0, lateness_)), [time](Hold& hold) {
    if (hold.wakes_ == time) hold.wakes_ = never;
    hold.tend();
  });
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const auto* const given = std::getenv(variable);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(LockModel, programs_are_dead_in_time_and_none_is_ended_while_all_is_well) {
  const auto holds = number_in("ZKSH_MODEL_HOLDS", sanitized ? 5'000 : 100'000);
  const auto first = number_in("ZKSH_MODEL_SEED", 1);
  std::uint64_t started = 0;
  std::uint64_t healthy = 0;
  for (auto seed = first; seed < first + holds; ++seed) {
    Hold hold(seed, {});
    const auto verdict = hold.play();
    ASSERT_EQ(verdict, "") << "seed " << seed << ": " << hold.description();
    started += hold.started() ? 1 : 0;
    healthy += hold.healthy() ? 1 : 0;
  }
  if (holds < 100) return;
  EXPECT_GT(started, holds / 2);
  EXPECT_GT(healthy, holds / 20);
}

/// Whether the model finds what is wrong with these decisions.
bool finds(const Faults& faults) {
  constexpr std::uint64_t many = 300'000;
  for (std::uint64_t seed = 1; seed < many; ++seed)
    if (!Hold(seed, faults).play().empty()) return true;
  return false;
}

TEST(LockModel, finds_programs_that_start_with_too_short_a_lease) {
  EXPECT_TRUE(finds({.starts_with_a_third = true}));
}

TEST(LockModel, finds_leases_that_ignore_a_shorter_timeout) {
  EXPECT_TRUE(finds({.keeps_longer_timeout = true}));
}

TEST(LockModel, finds_a_watchdog_that_is_late) {
  if (sanitized) GTEST_SKIP() << "it takes some 30,000 holds";
  EXPECT_TRUE(finds({.late_watchdog = true}));
}

}  // namespace
}  // namespace zksh
