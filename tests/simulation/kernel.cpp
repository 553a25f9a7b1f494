// Kernel: the C library's functions for threads, time and sockets, on virtual time.
#include "kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <map>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <set>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace simulation {
namespace {

/// A call of the real kernel, without the C library, whose functions are replaced below.
long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result = number;
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  result = x0;
#else
#error "the simulation has no system call for this machine"
#endif
  return result;
}

/// The C library's own function.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) static auto* const real_##name = real<decltype(::name)>(#name)

struct Thread {
  int number = 0;
  pthread_t handle{};
  long id = 0;  ///< the kernel's
  std::atomic<int> go{0};
  bool waits = false;
  const void* on = nullptr;       ///< what it waits for, if that wakes it
  std::function<bool()> ready{};  ///< or what tells whether it can go on
  Time deadline = never;
  bool timed_out = false;
  bool over = false;
  bool detached = false;
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
};

struct Event {
  std::function<void()> action;
};

/// Bytes on their way, or the end of the connection.
struct Packet {
  std::string bytes{};
  bool ends = false;
  bool resets = false;
};

struct Socket;

/// Both directions of a connection.
struct Link final : Connection, std::enable_shared_from_this<Link> {
  struct Way {
    std::deque<Packet> held{};  ///< by a cut
    Time last = 0;              ///< when the last packet arrives
    bool closed = false;        ///< the sender has ended it
  };

  void send(std::string_view bytes) override;
  void close(bool reset) override;
  int client() const override { return client_host; }

  void put(bool up, Packet packet);
  void dispatch(bool up, Packet packet);
  void arrive(bool up, const Packet& packet);
  void break_now();

  int client_host = 0;
  int server = 0;
  Socket* socket = nullptr;  ///< null once closed by the client
  Way up{};
  Way down{};
  std::size_t in_flight = 0;  ///< bytes from the client that the server has not got
  bool accepted = false;
  bool server_gone = false;
  bool told = false;
};

struct Socket {
  int fd = -1;
  bool nonblocking = false;
  enum class State { Fresh, Connecting, Connected, Failed } state = State::Fresh;
  int error = 0;  ///< for SO_ERROR
  std::shared_ptr<Link> link{};
  std::string arrived{};
  bool ended = false;
  bool reset = false;
  sockaddr_storage peer{};
  socklen_t peer_size = 0;

  short ready() const {
    if (state == State::Failed) return POLLIN | POLLOUT | POLLERR | POLLHUP;
    if (state != State::Connected) return state == State::Fresh ? POLLOUT | POLLHUP : 0;
    short events = 0;
    if (!arrived.empty() || ended || reset) events |= POLLIN;
    if (reset) events |= POLLERR | POLLHUP;
    if (ended && link->up.closed) events |= POLLHUP;
    if (reset || link->in_flight < room) events |= POLLOUT;
    return events;
  }
  static constexpr std::size_t room = 65536;
};

struct Poller {
  struct Interest {
    std::uint32_t events = 0;
    epoll_data_t data{};
  };
  std::map<int, Interest> interests{};
};

struct World {
  explicit World(std::uint64_t seed) : dice(seed) {}

  Dice dice;
  Time now = second;
  std::vector<Thread*> threads{};
  Thread* current = nullptr;
  long ending = 0;  ///< the kernel's id of a thread that ends
  Thread* ending_thread = nullptr;
  std::multimap<Time, Event> events{};
  std::map<int, Socket> sockets{};
  std::map<int, std::uint64_t> counters{};  ///< event descriptors
  std::map<int, Poller> pollers{};
  std::map<std::pair<int, int>, Path> paths{};
  std::map<int, std::function<void(Connection::Pointer)>> servers{};
  std::set<std::shared_ptr<Link>> links{};
  std::map<int, std::uint64_t> breaks{};
  std::map<pthread_once_t*, bool> once{};  ///< true: done
  Names names = Names::Resolve;
  Time stopped_until = 0;
  Time lateness = 0;
  std::uint64_t steps = 0;  ///< since then: changes of the running thread, and looks at a clock
  Time steps_since = 0;
  std::function<void(const char*)> report{};
};

World* world = nullptr;
thread_local Thread* self = nullptr;

bool active() { return world != nullptr && self != nullptr; }

void await_go(Thread& thread) {
  while (thread.go.load() == 0)
    raw(SYS_futex, reinterpret_cast<long>(&thread.go), FUTEX_WAIT_PRIVATE, 0);
  thread.go.store(0);
  auto& w = *world;
  w.current = &thread;
  // Whoever has just ended is awaited to the last instruction of its destructors.
  if (w.ending != 0) {
    while (raw(SYS_tgkill, raw(SYS_getpid), w.ending, 0) == 0) raw(SYS_sched_yield);
    w.ending = 0;
    if (w.ending_thread->detached) {
      REAL(pthread_join);
      real_pthread_join(w.ending_thread->handle, nullptr);
    }
  }
}

[[noreturn]] void give_up(const char* what) {
  if (world->report) world->report(what);
  raw(SYS_exit_group, 3);
  __builtin_unreachable();
}

bool can_run(Thread& thread) {
  if (thread.over) return false;
  if (!thread.waits) return true;
  if (thread.ready && thread.ready()) return true;
  if (thread.deadline <= world->now) {
    thread.timed_out = true;
    return true;
  }
  return false;
}

/// Ends a run in which something goes round and round.
void count_step() {
  auto& w = *world;
  constexpr std::uint64_t most_steps = 2'000'000;  // within a second of virtual time
  if (w.now - w.steps_since > second) {
    w.steps_since = w.now;
    w.steps = 0;
  }
  if (++w.steps > most_steps) give_up("something runs without an end");
}

/// The thread that runs next; time goes on until there is one.
Thread& next_thread() {
  auto& w = *world;
  count_step();
  w.now += w.dice.number(2) * microsecond;
  while (true) {
    while (!w.events.empty() && w.events.begin()->first <= w.now) {
      auto event = std::move(w.events.begin()->second);
      w.events.erase(w.events.begin());
      event.action();
    }
    if (w.now < w.stopped_until) {
      w.now =
          w.events.empty() ? w.stopped_until : std::min(w.stopped_until, w.events.begin()->first);
      continue;
    }
    Thread* chosen = nullptr;
    std::int64_t candidates = 0;
    for (auto* thread : w.threads)
      if (can_run(*thread) && w.dice.number(candidates++) == 0) chosen = thread;
    if (chosen != nullptr) return *chosen;
    Time next = w.events.empty() ? never : w.events.begin()->first;
    for (auto* thread : w.threads)
      if (!thread->over) next = std::min(next, thread->deadline);
    if (next == never) give_up("all threads wait, and nothing will happen");
    w.now = std::max(w.now, next);
  }
}

/// Lets others run; returns when the calling thread is chosen.
void yield_turn() {
  auto& me = *self;
  auto& next = next_thread();
  if (&next != &me) {
    next.go.store(1);
    raw(SYS_futex, reinterpret_cast<long>(&next.go), FUTEX_WAKE_PRIVATE, 1);
    await_go(me);
  }
}

/// Waits for a wake-up of `on`, or until `ready`, or the deadline. False at the deadline.
bool wait_for(const void* on, std::function<bool()> ready, Time deadline) {
  auto& me = *self;
  const int error = errno;
  me.waits = true;
  me.on = on;
  me.ready = std::move(ready);
  me.deadline = deadline;
  auto& w = *world;
  if (w.lateness > 0 && deadline != never && w.dice.number(31) == 0)
    me.deadline += w.dice.delay(0, w.lateness);
  me.timed_out = false;
  yield_turn();
  me.waits = false;
  me.on = nullptr;
  me.ready = nullptr;
  me.deadline = never;
  errno = error;
  return !me.timed_out;
}

/// Wakes those that wait on `on`: one of them, or all.
int wake(const void* on, int most) {
  int woken = 0;
  std::vector<Thread*> waiting;
  for (auto* thread : world->threads)
    if (thread->waits && !thread->over && thread->on == on) waiting.push_back(thread);
  while (!waiting.empty() && woken < most) {
    const auto which =
        waiting.begin() + world->dice.number(static_cast<std::int64_t>(waiting.size()) - 1);
    (*which)->waits = false;
    (*which)->on = nullptr;
    waiting.erase(which);
    ++woken;
  }
  return woken;
}

void maybe_yield() {
  auto& w = *world;
  const auto chance = w.dice.number(2047);
  if (chance == 0 && w.lateness > 0)
    wait_for(nullptr, {}, w.now + w.dice.delay(microsecond, w.lateness));
  else if (chance % 32 == 0)
    yield_turn();
}

void* run_thread(void* argument) {
  auto& thread = *static_cast<Thread*>(argument);
  self = &thread;
  thread.id = raw(SYS_gettid);
  await_go(thread);
  void* const result = thread.start(thread.argument);
  thread.over = true;
  wake(&thread, INT32_MAX);
  auto& next = next_thread();
  world->ending = thread.id;
  world->ending_thread = &thread;
  next.go.store(1);
  raw(SYS_futex, reinterpret_cast<long>(&next.go), FUTEX_WAKE_PRIVATE, 1);
  self = nullptr;  // what its destructors lock, nobody else uses now
  return result;
}

Thread* find_thread(pthread_t handle) {
  // A handle may be used again once its thread was joined: the last one counts.
  const auto latest =
      std::find_if(world->threads.rbegin(), world->threads.rend(),
                   [handle](const Thread* one) { return pthread_equal(one->handle, handle) != 0; });
  return latest == world->threads.rend() ? nullptr : *latest;
}

constexpr Time real_time_at_start = 1'790'000'000LL * second;

Time time_of(clockid_t clock) {
  const bool is_real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  return world->now + (is_real ? real_time_at_start : 0);
}

Time in_nanoseconds(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }

/// The virtual time at which this clock shows it.
Time deadline_of(clockid_t clock, const timespec& time) {
  return in_nanoseconds(time) - (time_of(clock) - world->now);
}

/// No number is given out again before all others were, so that the use of one after its end shows
/// (`returned`): in earnest it would be another thread's at once.
int new_descriptor() {
  constexpr int least = 100;
  static int next = least;
  const auto fd = static_cast<int>(
      raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/dev/null"), O_RDWR | O_CLOEXEC));
  auto moved = static_cast<int>(raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, next));
  if (moved < 0) moved = static_cast<int>(raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least));
  raw(SYS_close, fd);
  next = moved + 1;
  return moved;
}

// The network.

Path& path_of(const Link& link) { return path(link.client_host, link.server); }

void Link::put(bool is_up, Packet packet) {
  auto& way = is_up ? up : down;
  const auto& p = path_of(*this);
  const bool cut = is_up ? p.cut_up : p.cut_down;
  if (cut) ++world->breaks[client_host];
  if (cut || !way.held.empty()) {
    way.held.push_back(std::move(packet));
    return;
  }
  dispatch(is_up, std::move(packet));
}

void Link::dispatch(bool is_up, Packet packet) {
  auto& way = is_up ? up : down;
  const auto& p = path_of(*this);
  auto& d = world->dice;
  const auto travels = [&](Packet part) {
    way.last = std::max(way.last, now() + p.delay + d.number(p.jitter));
    at(way.last,
       [link = shared_from_this(), is_up, part = std::move(part)] { link->arrive(is_up, part); });
  };
  while (p.in_pieces && packet.bytes.size() > 1 && d.happens(0.7)) {
    const auto size = static_cast<std::size_t>(
        1 + d.number(static_cast<std::int64_t>(std::min<std::size_t>(packet.bytes.size() - 1, 40)) -
                     1));
    travels({.bytes = packet.bytes.substr(0, size)});
    packet.bytes.erase(0, size);
  }
  travels(std::move(packet));
}

void Link::arrive(bool is_up, const Packet& packet) {
  const auto alive = shared_from_this();
  if (is_up) {
    in_flight -= std::min(in_flight, packet.bytes.size());
    if (server_gone) {
      if (!packet.ends && !packet.resets && !packet.bytes.empty()) put(false, {.resets = true});
      return;
    }
    if (path_of(*this).silent && !accepted) return;
    if (!packet.bytes.empty() && received) received(packet.bytes);
    if ((packet.ends || packet.resets) && !std::exchange(told, true)) {
      server_gone = true;
      if (ended) ended();
      world->links.erase(alive);
    }
    return;
  }
  if (socket == nullptr) return;
  socket->arrived += packet.bytes;
  if (packet.resets) {
    socket->reset = true;
    socket->arrived.clear();
    ++world->breaks[client_host];
  }
  if (packet.ends) {
    socket->ended = true;
    ++world->breaks[client_host];
  }
}

void Link::send(std::string_view bytes) {
  if (!server_gone) put(false, {.bytes = std::string(bytes)});
}

void Link::close(bool reset) {
  if (std::exchange(server_gone, true)) return;
  const auto alive = shared_from_this();
  put(false, {.ends = !reset, .resets = reset});
  received = nullptr;
  ended = nullptr;
  world->links.erase(alive);
}

/// As if a box between the two had reset it.
void Link::break_now() {
  const auto alive = shared_from_this();
  if (socket != nullptr) {
    socket->reset = true;
    socket->arrived.clear();
  }
  ++world->breaks[client_host];
  if (!std::exchange(server_gone, true)) {
    if (!std::exchange(told, true) && ended) ended();
    world->links.erase(alive);
  }
}

Socket* find_socket(int fd) {
  if (!active()) return nullptr;
  const auto found = world->sockets.find(fd);
  return found == world->sockets.end() ? nullptr : &found->second;
}

void finish_connect(int fd, const std::shared_ptr<Link>& link, int error) {
  auto* const socket = find_socket(fd);
  if (socket == nullptr || socket->link != link) return;
  if (error != 0) {
    socket->state = Socket::State::Failed;
    socket->error = error;
    ++world->breaks[link->client_host];
    return;
  }
  socket->state = Socket::State::Connected;
}

void try_connect(int fd, const std::shared_ptr<Link>& link, int tries) {
  auto* const socket = find_socket(fd);
  if (socket == nullptr || socket->link != link) return;
  const auto& p = path(link->client_host, link->server);
  if (p.cut_up || p.cut_down) {
    ++world->breaks[link->client_host];
    if (tries == 2) return finish_connect(fd, link, ETIMEDOUT);
    return after(second << tries, [=] { try_connect(fd, link, tries + 1); });
  }
  const auto there = world->servers.find(link->server);
  const bool listens = there != world->servers.end() && there->second && !p.refuses;
  after(2 * p.delay + world->dice.number(p.jitter), [=] {
    auto* const still = find_socket(fd);
    if (still == nullptr || still->link != link) return;
    finish_connect(fd, link, listens ? 0 : ECONNREFUSED);
    if (!listens) return;
    world->links.insert(link);
    if (path(link->client_host, link->server).silent) {
      ++world->breaks[link->client_host];
      return;
    }
    link->accepted = true;
    const auto accept = world->servers.find(link->server);
    if (accept == world->servers.end() || !accept->second) return link->break_now();
    accept->second(link);
  });
}

short poll_events(int fd) {
  auto& w = *world;
  if (auto* const socket = find_socket(fd)) return socket->ready();
  if (const auto counter = w.counters.find(fd); counter != w.counters.end())
    return counter->second > 0 ? POLLIN | POLLOUT : POLLOUT;
  timespec at_once{};
  pollfd one{.fd = fd, .events = POLLIN | POLLOUT, .revents = 0};
  raw(SYS_ppoll, reinterpret_cast<long>(&one), 1, reinterpret_cast<long>(&at_once), 0, 8);
  return one.revents;
}

bool poll_once(pollfd* fds, nfds_t count, int& ready) {
  ready = 0;
  for (nfds_t i = 0; i < count; ++i) {
    fds[i].revents = 0;
    if (fds[i].fd < 0) continue;
    fds[i].revents =
        static_cast<short>(poll_events(fds[i].fd) & (fds[i].events | POLLERR | POLLHUP));
    if (fds[i].revents != 0) ++ready;
  }
  return ready > 0;
}

int poll_until(pollfd* fds, nfds_t count, Time deadline) {
  int ready = 0;
  if (poll_once(fds, count, ready) || deadline <= world->now) {
    world->now += microsecond;
    return ready;
  }
  wait_for(
      nullptr,
      [fds, count] {
        int some = 0;
        return poll_once(fds, count, some);
      },
      deadline);
  poll_once(fds, count, ready);
  return ready;
}

int lock_until(pthread_mutex_t* mutex, Time deadline) {
  REAL(pthread_mutex_trylock);
  maybe_yield();
  while (true) {
    const int result = real_pthread_mutex_trylock(mutex);
    if (result != EBUSY) return result;
    if (deadline <= world->now) return ETIMEDOUT;
    wait_for(mutex, {}, deadline);
  }
}

int unlock(pthread_mutex_t* mutex) {
  REAL(pthread_mutex_unlock);
  const int result = real_pthread_mutex_unlock(mutex);
  wake(mutex, INT32_MAX);
  return result;
}

int await_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, Time deadline) {
  unlock(mutex);
  const bool in_time = wait_for(condition, {}, deadline);
  lock_until(mutex, never);
  return in_time ? 0 : ETIMEDOUT;
}

ssize_t fail(int error) {
  errno = error;
  return -1;
}

/// What the C library's function returns for a system call's result.
ssize_t returned(long result) { return result < 0 ? fail(static_cast<int>(-result)) : result; }
/// The same of a call with this descriptor.
ssize_t returned(long result, int fd) {
  if (result == -EBADF && fd >= 0 && active()) give_up("a descriptor is used after its end");
  return returned(result);
}

ssize_t send_bytes(Socket& socket, std::string_view bytes) {
  if (socket.state == Socket::State::Connecting) return fail(EAGAIN);
  if (socket.state != Socket::State::Connected) return fail(ENOTCONN);
  if (socket.reset) return fail(EPIPE);
  if (socket.link->up.closed) return fail(EPIPE);
  if (socket.link->in_flight >= Socket::room) return fail(EAGAIN);
  auto taken = bytes.substr(0, Socket::room - socket.link->in_flight);
  if (path_of(*socket.link).in_pieces && taken.size() > 1 && world->dice.happens(0.1))
    taken =
        taken.substr(0, static_cast<std::size_t>(
                            1 + world->dice.number(static_cast<std::int64_t>(taken.size()) - 1)));
  socket.link->in_flight += taken.size();
  socket.link->put(true, {.bytes = std::string(taken)});
  return static_cast<ssize_t>(taken.size());
}

ssize_t receive_bytes(Socket& socket, char* buffer, std::size_t size, int flags) {
  if (socket.state == Socket::State::Fresh) return fail(ENOTCONN);
  const auto has_any = [&socket] { return socket.ready() & (POLLIN | POLLERR); };
  if (has_any() == 0) {
    if (socket.nonblocking || (flags & MSG_DONTWAIT) != 0) return fail(EAGAIN);
    const int fd = socket.fd;
    wait_for(
        nullptr, [fd] { return (poll_events(fd) & (POLLIN | POLLERR)) != 0; }, never);
  }
  if (socket.state == Socket::State::Failed)
    return fail(std::exchange(socket.error, 0) == 0 ? ENOTCONN : ECONNREFUSED);
  if (socket.reset) return fail(ECONNRESET);
  if (socket.arrived.empty()) return 0;
  const auto taken = socket.arrived.copy(buffer, size);
  if ((flags & MSG_PEEK) == 0) socket.arrived.erase(0, taken);
  return static_cast<ssize_t>(taken);
}

void close_socket(int fd) {
  auto& w = *world;
  const auto found = w.sockets.find(fd);
  if (found != w.sockets.end()) {
    if (const auto link = found->second.link) {
      link->socket = nullptr;
      const bool unread = !found->second.arrived.empty();
      if (!std::exchange(link->up.closed, true))
        link->put(true, {.ends = !unread, .resets = unread});
    }
    w.sockets.erase(found);
  }
  w.counters.erase(fd);
  w.pollers.erase(fd);
  for (auto& [number, poller] : w.pollers) poller.interests.erase(fd);
}

}  // namespace

Time Dice::delay(Time least, Time most) {
  auto longest = most - least;
  for (int i = 0; i < 3 && happens(0.6); ++i) longest /= 4;
  return least + number(longest);
}

void begin_simulation(std::uint64_t seed) {
  auto* const first = new Thread;
  first->handle = pthread_self();
  first->id = raw(SYS_gettid);
  auto* const begun = new World(seed);
  begun->threads.push_back(first);
  begun->current = first;
  self = first;
  world = begun;
}

Dice& dice() { return world->dice; }
Time now() { return world->now; }
void at(Time time, std::function<void()> action) {
  world->events.emplace(time, Event{std::move(action)});
}
void sleep_for(Time time) { wait_for(nullptr, {}, world->now + time); }
void stop_process(Time length) { world->stopped_until = world->now + length; }
void make_late(Time longest) { world->lateness = longest; }
std::size_t threads() {
  return static_cast<std::size_t>(
      std::ranges::count_if(world->threads, [](const auto* one) { return !one->over; }));
}
std::size_t descriptors() {
  return world->sockets.size() + world->counters.size() + world->pollers.size();
}
void on_deadlock(std::function<void(const char* what)> report) {
  world->report = std::move(report);
}

Path& path(int client, int server) { return world->paths[{client, server}]; }

void path_changed(int client, int server) {
  const auto& p = path(client, server);
  if (p.cut_up || p.cut_down) ++world->breaks[client];
  const auto links = world->links;
  for (const auto& link : links) {
    if (link->client_host != client || link->server != server) continue;
    for (const bool up : {true, false}) {
      auto& way = up ? link->up : link->down;
      if (up ? p.cut_up : p.cut_down) continue;
      auto held = std::exchange(way.held, {});
      // The kernel sends again what was not acknowledged, after pauses that have grown.
      for (auto& packet : held) link->dispatch(up, std::move(packet));
    }
  }
}

void reset_connections(int client, int server) {
  const auto links = world->links;
  for (const auto& link : links)
    if (link->client_host == client && link->server == server) link->break_now();
}

std::uint64_t breaks(int client) { return world->breaks[client]; }

void listen(int server, std::function<void(Connection::Pointer)> accept) {
  world->servers[server] = std::move(accept);
}

std::string address_of(int client, int server) {
  return fmt::format("10.{}.0.{}", client, server + 1);
}

void set_names(Names how) { world->names = how; }

}  // namespace simulation

// The C library's functions. Before the simulation has begun, and for what is not simulated, they
// are the real ones.

using namespace simulation;

// For the linker, these are the C library's functions.
extern "C" {
int own_pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                       void* argument) __asm__("pthread_create");
int own_pthread_join(pthread_t handle, void** result) __asm__("pthread_join");
int own_pthread_detach(pthread_t handle) __asm__("pthread_detach");
int own_pthread_mutex_lock(pthread_mutex_t* mutex) __asm__("pthread_mutex_lock");
int own_pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                const timespec* until) __asm__("pthread_mutex_timedlock");
int own_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                const timespec* until) __asm__("pthread_mutex_clocklock");
int own_pthread_mutex_unlock(pthread_mutex_t* mutex) __asm__("pthread_mutex_unlock");
int own_pthread_cond_wait(pthread_cond_t* condition,
                          pthread_mutex_t* mutex) __asm__("pthread_cond_wait");
int own_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                               const timespec* until) __asm__("pthread_cond_timedwait");
int own_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                               const timespec* until) __asm__("pthread_cond_clockwait");
int own_pthread_cond_signal(pthread_cond_t* condition) __asm__("pthread_cond_signal");
int own_pthread_cond_broadcast(pthread_cond_t* condition) __asm__("pthread_cond_broadcast");
int own_pthread_once(pthread_once_t* control, void (*function)()) __asm__("pthread_once");
long own_syscall(long number, ...) __asm__("syscall");
int own_sched_yield() __asm__("sched_yield");
int own_clock_gettime(clockid_t clock, timespec* time) __asm__("clock_gettime");
int own_gettimeofday(timeval* time, void* /*zone*/) __asm__("gettimeofday");
time_t own_time(time_t* result) __asm__("time");
int own_clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                        timespec* left) __asm__("clock_nanosleep");
int own_nanosleep(const timespec* time, timespec* left) __asm__("nanosleep");
int own_usleep(useconds_t time) __asm__("usleep");
pid_t own_getpid() __asm__("getpid");
ssize_t own_getrandom(void* buffer, std::size_t size, unsigned flags) __asm__("getrandom");
int own_getentropy(void* buffer, std::size_t size) __asm__("getentropy");
int own_socket(int domain, int type, int protocol) __asm__("socket");
int own_connect(int fd, const sockaddr* address, socklen_t size) __asm__("connect");
ssize_t own_send(int fd, const void* buffer, std::size_t size, int flags) __asm__("send");
ssize_t own_sendmsg(int fd, const msghdr* message, int flags) __asm__("sendmsg");
ssize_t own_recv(int fd, void* buffer, std::size_t size, int flags) __asm__("recv");
int own_shutdown(int fd, int how) __asm__("shutdown");
int own_close(int fd) __asm__("close");
int own_getsockopt(int fd, int level, int option, void* value,
                   socklen_t* size) __asm__("getsockopt");
int own_setsockopt(int fd, int level, int option, const void* value,
                   socklen_t size) __asm__("setsockopt");
int own_getpeername(int fd, sockaddr* address, socklen_t* size) __asm__("getpeername");
int own_getsockname(int fd, sockaddr* address, socklen_t* size) __asm__("getsockname");
int own_eventfd(unsigned first, int flags) __asm__("eventfd");
int own_eventfd_write(int fd, eventfd_t value) __asm__("eventfd_write");
int own_eventfd_read(int fd, eventfd_t* value) __asm__("eventfd_read");
int own_poll(pollfd* fds, nfds_t count, int timeout) __asm__("poll");
int own_ppoll(pollfd* fds, nfds_t count, const timespec* timeout,
              const sigset_t* signals) __asm__("ppoll");
int own_epoll_create1(int flags) __asm__("epoll_create1");
int own_epoll_ctl(int poller, int operation, int fd, epoll_event* event) __asm__("epoll_ctl");
int own_epoll_wait(int poller, epoll_event* events, int most, int timeout) __asm__("epoll_wait");
int own_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                    addrinfo** result) __asm__("getaddrinfo");
void own_freeaddrinfo(addrinfo* list) __asm__("freeaddrinfo");

int own_pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                       void* argument) {
  REAL(pthread_create);
  if (!active()) return real_pthread_create(handle, attributes, start, argument);
  auto* const thread = new Thread;
  thread->number = static_cast<int>(world->threads.size());
  thread->start = start;
  thread->argument = argument;
  const int result = real_pthread_create(&thread->handle, nullptr, run_thread, thread);
  if (result != 0) return result;
  *handle = thread->handle;
  world->threads.push_back(thread);
  return 0;
}

int own_pthread_join(pthread_t handle, void** result) {
  REAL(pthread_join);
  auto* const thread = active() ? find_thread(handle) : nullptr;
  if (thread != nullptr)
    while (!thread->over) wait_for(thread, {}, never);
  return real_pthread_join(handle, result);
}

int own_pthread_detach(pthread_t handle) {
  REAL(pthread_detach);
  auto* const thread = active() ? find_thread(handle) : nullptr;
  if (thread == nullptr) return real_pthread_detach(handle);
  if (thread->over) return real_pthread_detach(handle);
  thread->detached = true;
  return 0;
}

int own_pthread_mutex_lock(pthread_mutex_t* mutex) {
  REAL(pthread_mutex_lock);
  return active() ? lock_until(mutex, never) : real_pthread_mutex_lock(mutex);
}
int own_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  REAL(pthread_mutex_timedlock);
  return active() ? lock_until(mutex, deadline_of(CLOCK_REALTIME, *until))
                  : real_pthread_mutex_timedlock(mutex, until);
}
int own_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  REAL(pthread_mutex_clocklock);
  return active() ? lock_until(mutex, deadline_of(clock, *until))
                  : real_pthread_mutex_clocklock(mutex, clock, until);
}
int own_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  REAL(pthread_mutex_unlock);
  return active() ? unlock(mutex) : real_pthread_mutex_unlock(mutex);
}
int own_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  REAL(pthread_cond_wait);
  return active() ? await_condition(condition, mutex, never)
                  : real_pthread_cond_wait(condition, mutex);
}
int own_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                               const timespec* until) {
  REAL(pthread_cond_timedwait);
  return active() ? await_condition(condition, mutex, deadline_of(CLOCK_REALTIME, *until))
                  : real_pthread_cond_timedwait(condition, mutex, until);
}
int own_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                               const timespec* until) {
  REAL(pthread_cond_clockwait);
  return active() ? await_condition(condition, mutex, deadline_of(clock, *until))
                  : real_pthread_cond_clockwait(condition, mutex, clock, until);
}
int own_pthread_cond_signal(pthread_cond_t* condition) {
  REAL(pthread_cond_signal);
  if (!active()) return real_pthread_cond_signal(condition);
  wake(condition, 1);
  return 0;
}
int own_pthread_cond_broadcast(pthread_cond_t* condition) {
  REAL(pthread_cond_broadcast);
  if (!active()) return real_pthread_cond_broadcast(condition);
  wake(condition, INT32_MAX);
  return 0;
}
int own_pthread_once(pthread_once_t* control, void (*function)()) {
  REAL(pthread_once);
  if (!active()) return real_pthread_once(control, function);
  const auto found = world->once.find(control);
  if (found == world->once.end() && *control == PTHREAD_ONCE_INIT) {
    world->once.emplace(control, false);
    try {
      function();
    } catch (...) {
      world->once.erase(control);
      wake(control, INT32_MAX);
      throw;
    }
    world->once[control] = true;
    wake(control, INT32_MAX);
  } else if (found != world->once.end()) {
    while (!world->once[control]) wait_for(control, {}, never);
  }
  return 0;
}

long own_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  std::array<long, 6> words{};
  for (auto& word : words) word = va_arg(list, long);
  va_end(list);
  if (active() && number == SYS_futex) {
    auto* const word = reinterpret_cast<int*>(words[0]);  // NOLINT(performance-no-int-to-ptr)
    const auto operation = words[1] & 0x7f;
    if (operation == FUTEX_WAKE) return wake(word, static_cast<int>(words[2]));
    if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) {
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != static_cast<int>(words[2]))
        return fail(EAGAIN);
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      const auto* const time = reinterpret_cast<const timespec*>(words[3]);
      Time deadline = never;
      if (time != nullptr && operation == FUTEX_WAIT) deadline = world->now + in_nanoseconds(*time);
      if (time != nullptr && operation == FUTEX_WAIT_BITSET)
        deadline = deadline_of(
            (words[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, *time);
      return wait_for(word, {}, deadline) ? 0 : fail(ETIMEDOUT);
    }
  }
  const auto result = raw(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  return result < 0 && result > -4096 ? fail(static_cast<int>(-result)) : result;
}

int own_sched_yield() {
  if (active()) {
    world->now += microsecond;
    yield_turn();
  }
  return 0;
}

int own_clock_gettime(clockid_t clock, timespec* time) {
  if (!active()) {
    const auto result = raw(SYS_clock_gettime, clock, reinterpret_cast<long>(time));
    return result == 0 ? 0 : static_cast<int>(fail(static_cast<int>(-result)));
  }
  world->now += 100;
  count_step();
  const auto value = time_of(clock);
  *time = {.tv_sec = value / second, .tv_nsec = value % second};
  return 0;
}
int own_gettimeofday(timeval* time, void* /*zone*/) {
  timespec value{};
  own_clock_gettime(CLOCK_REALTIME, &value);
  *time = {.tv_sec = value.tv_sec, .tv_usec = value.tv_nsec / 1000};
  return 0;
}
time_t own_time(time_t* result) {
  timespec value{};
  own_clock_gettime(CLOCK_REALTIME, &value);
  if (result != nullptr) *result = value.tv_sec;
  return value.tv_sec;
}
int own_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  REAL(clock_nanosleep);
  if (!active()) return real_clock_nanosleep(clock, flags, time, left);
  wait_for(nullptr, {},
           (flags & TIMER_ABSTIME) != 0 ? deadline_of(clock, *time)
                                        : world->now + in_nanoseconds(*time));
  return 0;
}
int own_nanosleep(const timespec* time, timespec* left) {
  return own_clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}
int own_usleep(useconds_t time) {
  const timespec length{.tv_sec = time / 1'000'000,
                        .tv_nsec = static_cast<long>(time % 1'000'000) * 1000};
  return own_clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
}

pid_t own_getpid() { return active() ? 4711 : static_cast<pid_t>(raw(SYS_getpid)); }

ssize_t own_getrandom(void* buffer, std::size_t size, unsigned flags) {
  if (!active()) {
    const auto result =
        raw(SYS_getrandom, reinterpret_cast<long>(buffer), static_cast<long>(size), flags);
    return returned(result);
  }
  auto* const bytes = static_cast<unsigned char*>(buffer);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(world->dice.bits());
  return static_cast<ssize_t>(size);
}
int own_getentropy(void* buffer, std::size_t size) {
  return own_getrandom(buffer, size, 0) == static_cast<ssize_t>(size) ? 0 : -1;
}
/// std::random_device's, by the linker's --wrap.
unsigned random_device_value(void* /*device*/) __asm__("__wrap__ZNSt13random_device9_M_getvalEv");
unsigned real_random_device_value(void* device) __asm__("__real__ZNSt13random_device9_M_getvalEv");
unsigned random_device_value(void* device) {
  return active() ? static_cast<unsigned>(world->dice.bits()) : real_random_device_value(device);
}

// Descriptors.

int own_socket(int domain, int type, int protocol) {
  if (!active() || (domain != AF_INET && domain != AF_INET6)) {
    const auto result = raw(SYS_socket, domain, type, protocol);
    return static_cast<int>(returned(result));
  }
  const int fd = new_descriptor();
  auto& made = world->sockets[fd];
  made.fd = fd;
  made.nonblocking = (type & SOCK_NONBLOCK) != 0;
  if (made.nonblocking) raw(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
  return fd;
}

int own_connect(int fd, const sockaddr* address, socklen_t size) {
  auto* const made = find_socket(fd);
  if (made == nullptr) {
    const auto result = raw(SYS_connect, fd, reinterpret_cast<long>(address), size);
    return static_cast<int>(returned(result, fd));
  }
  if (address->sa_family != AF_INET) return static_cast<int>(fail(ENETUNREACH));
  made->nonblocking = (raw(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0;
  sockaddr_in to{};
  std::memcpy(&to, address, sizeof to);
  std::memcpy(&made->peer, address, size);
  made->peer_size = size;
  const auto bits = ntohl(to.sin_addr.s_addr);
  made->link = std::make_shared<Link>();
  made->link->client_host = static_cast<int>(bits >> 16U & 0xff);
  made->link->server = static_cast<int>(bits & 0xff) - 1;
  made->link->socket = made;
  made->state = Socket::State::Connecting;
  try_connect(fd, made->link, 0);
  if (made->nonblocking) return static_cast<int>(fail(EINPROGRESS));
  wait_for(
      nullptr,
      [fd] {
        auto* const one = find_socket(fd);
        return one == nullptr || one->state != Socket::State::Connecting;
      },
      never);
  made->nonblocking = false;
  return made->state == Socket::State::Connected ? 0 : static_cast<int>(fail(made->error));
}

ssize_t own_send(int fd, const void* buffer, std::size_t size, int flags) {
  if (auto* const to = find_socket(fd)) {
    maybe_yield();
    return send_bytes(*to, {static_cast<const char*>(buffer), size});
  }
  const auto result =
      raw(SYS_sendto, fd, reinterpret_cast<long>(buffer), static_cast<long>(size), flags);
  return returned(result, fd);
}

ssize_t own_sendmsg(int fd, const msghdr* message, int flags) {
  if (auto* const to = find_socket(fd)) {
    std::string bytes;
    for (std::size_t i = 0; i < message->msg_iovlen; ++i)
      bytes.append(static_cast<const char*>(message->msg_iov[i].iov_base),
                   message->msg_iov[i].iov_len);
    return send_bytes(*to, bytes);
  }
  const auto result = raw(SYS_sendmsg, fd, reinterpret_cast<long>(message), flags);
  return returned(result, fd);
}

ssize_t own_recv(int fd, void* buffer, std::size_t size, int flags) {
  if (auto* const from = find_socket(fd))
    return receive_bytes(*from, static_cast<char*>(buffer), size, flags);
  const auto result =
      raw(SYS_recvfrom, fd, reinterpret_cast<long>(buffer), static_cast<long>(size), flags);
  return returned(result, fd);
}

int own_shutdown(int fd, int how) {
  if (auto* const one = find_socket(fd)) {
    if (one->state == Socket::State::Connecting) {  // as if it had never been connected
      one->state = Socket::State::Fresh;
      one->link->socket = nullptr;
      one->link = nullptr;
      return 0;
    }
    if (one->link && how != SHUT_RD && !std::exchange(one->link->up.closed, true))
      one->link->put(true, {.ends = true});
    if (how != SHUT_WR) one->ended = true;
    return 0;
  }
  const auto result = raw(SYS_shutdown, fd, how);
  return static_cast<int>(returned(result, fd));
}

int own_close(int fd) {
  if (active()) close_socket(fd);
  const auto result = raw(SYS_close, fd);
  return static_cast<int>(returned(result, fd));
}

int own_getsockopt(int fd, int level, int option, void* value, socklen_t* size) {
  if (auto* const one = find_socket(fd)) {
    int result = 0;
    if (level == SOL_SOCKET && option == SO_ERROR) result = std::exchange(one->error, 0);
    std::memcpy(value, &result, std::min<std::size_t>(*size, sizeof result));
    return 0;
  }
  const auto result = raw(SYS_getsockopt, fd, level, option, reinterpret_cast<long>(value),
                          reinterpret_cast<long>(size));
  return static_cast<int>(returned(result, fd));
}
int own_setsockopt(int fd, int level, int option, const void* value, socklen_t size) {
  if (find_socket(fd) != nullptr) return 0;
  const auto result = raw(SYS_setsockopt, fd, level, option, reinterpret_cast<long>(value), size);
  return static_cast<int>(returned(result, fd));
}
int own_getpeername(int fd, sockaddr* address, socklen_t* size) {
  auto* const one = find_socket(fd);
  if (one == nullptr || one->state != Socket::State::Connected)
    return static_cast<int>(fail(ENOTCONN));
  std::memcpy(address, &one->peer, std::min(*size, one->peer_size));
  *size = one->peer_size;
  return 0;
}
int own_getsockname(int fd, sockaddr* address, socklen_t* size) {
  auto* const one = find_socket(fd);
  if (one == nullptr) return static_cast<int>(fail(ENOTSOCK));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(static_cast<std::uint16_t>(40000 + fd));
  own.sin_addr.s_addr = htonl(
      0x0a000063U | static_cast<std::uint32_t>(one->link ? one->link->client_host : 0) << 16U);
  std::memcpy(address, &own, std::min<std::size_t>(*size, sizeof own));
  *size = sizeof own;
  return 0;
}

int own_eventfd(unsigned first, int flags) {
  if (!active()) {
    const auto result = raw(SYS_eventfd2, first, flags);
    return static_cast<int>(returned(result));
  }
  const int fd = new_descriptor();
  world->counters[fd] = first;
  return fd;
}
int own_eventfd_write(int fd, eventfd_t value) {
  if (active() && world->counters.contains(fd)) {
    world->counters[fd] += value;
    return 0;
  }
  return raw(SYS_write, fd, reinterpret_cast<long>(&value), sizeof value) == sizeof value ? 0 : -1;
}
int own_eventfd_read(int fd, eventfd_t* value) {
  if (active() && world->counters.contains(fd)) {
    *value = std::exchange(world->counters[fd], 0);
    return *value > 0 ? 0 : static_cast<int>(fail(EAGAIN));
  }
  return raw(SYS_read, fd, reinterpret_cast<long>(value), sizeof *value) == sizeof *value ? 0 : -1;
}

int own_poll(pollfd* fds, nfds_t count, int timeout) {
  if (active())
    return poll_until(fds, count, timeout < 0 ? never : world->now + timeout * millisecond);
  timespec time{.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * millisecond};
  const auto result = raw(SYS_ppoll, reinterpret_cast<long>(fds), static_cast<long>(count),
                          timeout < 0 ? 0 : reinterpret_cast<long>(&time), 0, 8);
  return static_cast<int>(returned(result));
}
int own_ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  if (active())
    return poll_until(fds, count,
                      timeout == nullptr ? never : world->now + in_nanoseconds(*timeout));
  timespec copy = timeout == nullptr ? timespec{} : *timeout;
  const auto result = raw(SYS_ppoll, reinterpret_cast<long>(fds), static_cast<long>(count),
                          timeout == nullptr ? 0 : reinterpret_cast<long>(&copy),
                          reinterpret_cast<long>(signals), 8);
  return static_cast<int>(returned(result));
}
// What the C library's headers call where they know the size of a buffer.
int poll_checked(pollfd* fds, nfds_t count, int timeout,
                 std::size_t /*size*/) __asm__("__poll_chk");
int poll_checked(pollfd* fds, nfds_t count, int timeout, std::size_t /*size*/) {
  return own_poll(fds, count, timeout);
}
int ppoll_checked(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* signals,
                  std::size_t /*size*/) __asm__("__ppoll_chk");
int ppoll_checked(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* signals,
                  std::size_t /*size*/) {
  return own_ppoll(fds, count, timeout, signals);
}
ssize_t recv_checked(int fd, void* buffer, std::size_t size, std::size_t /*room*/,
                     int flags) __asm__("__recv_chk");
ssize_t recv_checked(int fd, void* buffer, std::size_t size, std::size_t /*room*/, int flags) {
  return own_recv(fd, buffer, size, flags);
}

int own_epoll_create1(int flags) {
  if (!active()) {
    const auto result = raw(SYS_epoll_create1, flags);
    return static_cast<int>(returned(result));
  }
  const int fd = new_descriptor();
  world->pollers[fd];
  return fd;
}
int own_epoll_ctl(int poller, int operation, int fd, epoll_event* event) {
  if (!active() || !world->pollers.contains(poller)) {
    const auto result = raw(SYS_epoll_ctl, poller, operation, fd, reinterpret_cast<long>(event));
    return static_cast<int>(returned(result));
  }
  auto& interests = world->pollers[poller].interests;
  const bool known = interests.contains(fd);
  if (operation == EPOLL_CTL_ADD && known) return static_cast<int>(fail(EEXIST));
  if (operation != EPOLL_CTL_ADD && !known) return static_cast<int>(fail(ENOENT));
  if (operation == EPOLL_CTL_DEL)
    interests.erase(fd);
  else
    interests[fd] = {.events = event->events, .data = event->data};
  return 0;
}
int own_epoll_wait(int poller, epoll_event* events, int most, int timeout) {
  if (!active() || !world->pollers.contains(poller)) {
    const auto result =
        raw(SYS_epoll_pwait, poller, reinterpret_cast<long>(events), most, timeout, 0, 8);
    return static_cast<int>(returned(result));
  }
  const auto look = [&](bool take) {
    int count = 0;
    for (const auto& [fd, interest] : world->pollers[poller].interests) {
      const auto ready =
          static_cast<std::uint32_t>(poll_events(fd)) & (interest.events | EPOLLERR | EPOLLHUP);
      if (ready == 0) continue;
      if (take && count < most) events[count] = {.events = ready, .data = interest.data};
      ++count;
    }
    return std::min(count, most);
  };
  if (look(false) == 0 && timeout != 0)
    wait_for(
        nullptr, [&] { return look(false) > 0; },
        timeout < 0 ? never : world->now + timeout * millisecond);
  world->now += microsecond;
  const int count = look(true);
  return count;
}

// Names: "sSERVER.cCLIENT" and numeric addresses.

int own_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                    addrinfo** result) {
  REAL(getaddrinfo);
  if (!active()) return real_getaddrinfo(node, service, hints, result);
  in_addr address{};
  int server = 0;
  int client = 0;
  if (node == nullptr) return EAI_NONAME;
  if (inet_pton(AF_INET, node, &address) != 1) {
    if ((hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0) ||
        std::sscanf(node, "s%d.c%d", &server, &client) != 2)
      return EAI_NONAME;
    sleep_for(world->dice.delay(100 * microsecond, 30 * millisecond));
    if (world->names == Names::Hang) {
      sleep_for(15 * second);
      return EAI_AGAIN;
    }
    if (world->names == Names::Fail) return EAI_AGAIN;
    inet_pton(AF_INET, address_of(client, server).c_str(), &address);
  }
  struct Made {
    addrinfo info;
    sockaddr_in address;
  };
  auto* const made = static_cast<Made*>(std::calloc(1, sizeof(Made)));
  made->address.sin_family = AF_INET;
  made->address.sin_addr = address;
  made->address.sin_port =
      htons(static_cast<std::uint16_t>(service == nullptr ? 0 : std::atoi(service)));
  made->info.ai_family = AF_INET;
  made->info.ai_socktype = SOCK_STREAM;
  made->info.ai_protocol = IPPROTO_TCP;
  made->info.ai_addrlen = sizeof made->address;
  made->info.ai_addr = reinterpret_cast<sockaddr*>(&made->address);
  *result = &made->info;
  return 0;
}
void own_freeaddrinfo(addrinfo* list) {
  REAL(freeaddrinfo);
  if (active())
    std::free(list);
  else
    real_freeaddrinfo(list);
}

}  // extern "C"
