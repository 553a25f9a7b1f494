// Wire: the event loop of the C client's handles.
#include "session/wire.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

namespace zksh {
namespace {

/// The lock of all wires. The thread that has it may take it again.
class WiresMutex {
 public:
  void lock() {
    if (depth++ > 0 || mutex_.try_lock()) return;
    ++waiting_;
    mutex_.lock();
    --waiting_;
    ++waited_;
    waited_.notify_one();
  }
  void unlock() {
    if (--depth == 0) mutex_.unlock();
  }
  /// Lets another thread have it first if any waits. The wires' thread, which is busy as long as
  /// servers send, would mostly take it again before a thread that waits has woken up.
  void give_way() {
    const auto waited = waited_.load();
    if (waiting_ > 0) waited_.wait(waited);
  }

 private:
  static thread_local inline int depth = 0;
  std::mutex mutex_;
  std::atomic<int> waiting_{0};           ///< threads
  std::atomic<std::uint32_t> waited_{0};  ///< counts those that got it
};

WiresMutex& wires_lock() {
  static auto& lock = *new WiresMutex;
  return lock;
}

bool is_connected_state(int state) {
  return state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE;
}

}  // namespace

/// The wires' thread: waits for their sockets and deadlines. All but `run` and `serve_added` is
/// used under the lock.
class WireLoop {
 public:
  static WireLoop& one() {
    static auto& loop = *new WireLoop;  // the thread never ends
    return loop;
  }

  /// Begins to connect. Call serve_added afterwards, so that the thread serves the wire.
  void add(Wire& wire) {
    if (!epoll_ || !bell_)
      throw Error(fmt::format("cannot open a session: {}", std::strerror(errno)));
    wire.id_ = ++last_id_;
    wires_.emplace(wire.id_, &wire);
    wire.due_ = agenda_.emplace(Clock::time_point::max(), &wire);
    wire.tend_at_ = Clock::now();
    arrange(wire);
    // A server on this machine has accepted by now.
    pollfd socket{.fd = wire.watched_, .events = POLLOUT, .revents = 0};
    const timespec at_once{};
    if (socket.fd >= 0 && ppoll(&socket, 1, &at_once, nullptr) > 0) {
      zookeeper_process(wire.handle_, ZOOKEEPER_WRITE);
      arrange(wire);
    }
  }

  /// Has the thread serve a new wire. The thread is started when the first wire has sent what it
  /// can: it takes as long to start as the server takes to answer. Not under the lock, which the
  /// thread needs at once.
  void serve_added() {
    bool is_first = false;
    std::call_once(started_, [&] {
      start();
      is_first = true;
    });
    if (!is_first) wake();
  }

  void remove(Wire& wire) {
    wires_.erase(wire.id_);
    agenda_.erase(wire.due_);
    wire.id_ = 0;
    forget_socket(wire);
  }

  /// Null if there is none with this id.
  Wire* find(std::uint64_t id) const {
    const auto found = wires_.find(id);
    return found == wires_.end() ? nullptr : found->second;
  }

  /// Has the thread look at a wire.
  void call(Wire& wire) {
    put_off(wire, Clock::now());
    wake();
  }

 private:
  WireLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = 0}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, bell_.get(), &event);
  }

  /// The thread takes no signals.
  void start() {
    const SignalsBlocked blocked;
    try {
      std::thread([this] { run(); }).detach();
    } catch (const std::system_error& error) {
      throw Error(fmt::format("cannot open a session: cannot start a thread ({})",
                              std::strerror(error.code().value())));
    }
  }

  void wake() {
    if (!is_here) eventfd_write(bell_.get(), 1);
  }

  void put_off(Wire& wire, Clock::time_point until) {
    auto node = agenda_.extract(wire.due_);
    node.key() = until;
    wire.due_ = agenda_.insert(std::move(node));
  }

  /// A socket that the C client has closed is not watched any more, and its number may be
  /// another's.
  void forget_socket(Wire& wire) {
    const int fd = std::exchange(wire.watched_, -1);
    if (fd >= 0 && wire.socket_.owns(fd)) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }

  void watch(Wire& wire, int fd, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.u64 = wire.id_}};
    // The socket of an earlier connection was closed, and so is not watched any more, even if the
    // new one has its number.
    if (wire.socket_.is_fresh()) wire.watched_ = -1;
    if (fd != wire.watched_) {
      if (fd >= 0 && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0 && errno == EEXIST)
        epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
    } else if (fd >= 0 && events != wire.events_) {
      epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
    }
    wire.watched_ = fd;
    wire.events_ = events;
  }

  /// Asks the C client what the handle waits for. It may connect, send a ping, or give a server up.
  void arrange(Wire& wire) {
    constexpr std::chrono::milliseconds without_sockets{500};
    int fd = -1;
    int interest = 0;
    timeval left{};
    const int result = zookeeper_interest(wire.handle_, &fd, &interest, &left);
    wire.fail_lost_requests();
    if (is_unrecoverable(wire.handle_) != ZOK) return put_off(wire, Clock::time_point::max());
    auto wait = std::chrono::milliseconds(left.tv_sec * 1000 + left.tv_usec / 1000);
    const int state = zoo_state(wire.handle_);
    if (result != ZOK) {  // the rest was not set
      fd = -1;
      wait = result == ZSYSTEMERROR ? without_sockets : std::chrono::milliseconds(0);
    } else if (fd >= 0 && (state == 0 || state == ZOO_NOTCONNECTED_STATE)) {
      fd = -1;  // it has left a read-only server, and closed this socket
      wait = {};
    }
    const bool writes = (interest & ZOOKEEPER_WRITE) != 0 || wire.socket_.has_unsent();
    watch(wire, fd, ((interest & ZOOKEEPER_READ) != 0 ? EPOLLIN : 0U) | (writes ? EPOLLOUT : 0U));
    auto until = std::min(Clock::now() + wait, wire.tend_at_);
    if (const auto limit = fd >= 0 ? wire.socket_.give_up_at() : std::nullopt)
      until = std::min(until, *limit);
    put_off(wire, until);
  }

  /// Whether there may be more to do for a wire.
  static bool is_alive(const Wire& wire) {
    return wire.id_ != 0 && is_unrecoverable(wire.handle_) == ZOK;
  }

  /// Reads what has arrived, up to a roomful: then other wires, and deadlines, have their turn.
  void read(Wire& wire) {
    const bool was_connected = is_connected_state(zoo_state(wire.handle_));
    wire.socket_.receive_into(room_);
    std::uint64_t before = 0;
    int result = ZOK;
    do {
      before = wire.socket_.taken();
      result = zookeeper_process(wire.handle_, ZOOKEEPER_READ);
      // ZNOTHING: a part of a frame, or an answer that is not the C client's.
    } while ((wire.socket_.deliver() || wire.socket_.may_have_unread()) &&
             wire.socket_.taken() != before && (result == ZOK || result == ZNOTHING) &&
             is_alive(wire));
    wire.socket_.receive_into({});
    // On a new connection the C client has queued its watches, which must not follow zksh's own
    // requests: the server would take a persistent watch for one of the one-shot ones.
    if (!was_connected && is_connected_state(zoo_state(wire.handle_)))
      zookeeper_process(wire.handle_, ZOOKEEPER_WRITE);
  }

  void serve(Wire& wire, std::uint32_t events) {
    const Wire::Hold hold(wire);
    if (is_unrecoverable(wire.handle_) != ZOK) {
      wire.fail_lost_requests();
      if (events != 0) forget_socket(wire);
      return put_off(wire, Clock::time_point::max());
    }
    const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if ((events & EPOLLOUT) != 0 || broken) {
      wire.socket_.flush();
      zookeeper_process(wire.handle_, ZOOKEEPER_WRITE);
    }
    if (((events & EPOLLIN) != 0 || broken || wire.socket_.may_have_unread()) && is_alive(wire))
      read(wire);
    const auto now = Clock::now();
    if (now >= wire.tend_at_) wire.tend_at_ = wire.owner_.tend();
    const auto is_silent = [&] {
      const auto limit = wire.watched_ >= 0 ? wire.socket_.give_up_at() : std::nullopt;
      return limit && now >= *limit;
    };
    if (wire.id_ == 0) return;  // SASL has failed
    if (events == 0 && is_silent()) {
      read(wire);
      if (wire.id_ == 0) return;
      if (is_silent()) wire.socket_.give_up();
    }
    if (wire.socket_.may_leave_reader()) {
      wire.socket_.leave_reader();
      read(wire);
      if (wire.id_ == 0) return;
    }
    if (is_unrecoverable(wire.handle_) == ZOK)
      arrange(wire);
    else
      wire.fail_lost_requests();
  }

  void serve(std::uint64_t id, std::uint32_t events) {
    const DeferredCalls afterwards;  // without the lock
    wires_lock().give_way();
    const std::lock_guard lock(wires_lock());
    if (auto* const wire = find(id)) serve(*wire, events);
  }

  /// Looks at the wires whose time has come; returns the time until the next one's, for epoll_wait.
  int serve_due() {
    while (true) {
      std::uint64_t id = 0;
      {
        const std::lock_guard lock(wires_lock());
        const auto next = agenda_.begin();
        if (next == agenda_.end() || next->first == Clock::time_point::max()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next->first - Clock::now());
        constexpr std::chrono::hours longest{1};
        if (left.count() > 0)
          return static_cast<int>(std::min<std::chrono::milliseconds>(left, longest).count());
        id = next->second->id_;
      }
      serve(id, 0);
    }
  }

  [[noreturn]] void run() {
    is_here = true;
    pthread_setname_np(pthread_self(), "wires");
    std::array<epoll_event, 64> ready{};
    while (true) {
      const int count = epoll_wait(epoll_.get(), ready.data(), ready.size(), serve_due());
      for (int i = 0; i < count; ++i) {
        const auto& event = ready[static_cast<std::size_t>(i)];
        eventfd_t rung = 0;
        if (event.data.u64 == 0)
          eventfd_read(bell_.get(), &rung);
        else
          serve(event.data.u64, event.events);
      }
    }
  }

  static thread_local inline bool is_here = false;  ///< this thread is the wires'
  Fd epoll_;
  Fd bell_;
  std::once_flag started_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, Wire*> wires_;
  Wire::Agenda agenda_;
  std::array<char, 65536> room_;  ///< not filled with zeros, which would take 16 pages of memory
};

Wire::Hold::Hold(Wire& wire) : wire_((wires_lock().lock(), wire)), here_(wire.socket_) {}

Wire::Hold::~Hold() {
  if (wire_.needs_thread()) WireLoop::one().call(wire_);
  wires_lock().unlock();
}

/// Whether what was sent needs the loop before it looks at the wire anyway.
bool Wire::needs_thread() const {
  // A handle that is over has nothing more to do, whatever its socket was waiting for.
  if (id_ == 0 || watched_ < 0 || is_unrecoverable(handle_) != ZOK) return false;
  if (socket_.has_unsent() && (events_ & EPOLLOUT) == 0) return true;
  const auto limit = socket_.give_up_at();
  return limit && *limit + std::chrono::milliseconds(1) < due_->first;
}

void Wire::with(std::uint64_t id, const std::function<void()>& action) {
  const std::lock_guard lock(wires_lock());
  auto* const wire = WireLoop::one().find(id);
  if (wire == nullptr) return;
  const Hold hold(*wire);
  action();
}

int Wire::ask(std::int32_t operation, std::string_view body, WireSocket::Done done,
              const void* data) {
  if (is_unrecoverable(handle_) != ZOK) return ZINVALIDSTATE;
  if (!is_connected_state(zoo_state(handle_))) return ZCONNECTIONLOSS;
  socket_.ask(operation, body, done, data);
  return ZOK;
}

/// Fails zksh's own requests if the connection on which they were sent has ended. The C client
/// makes a new one only in zookeeper_interest, which is called before.
void Wire::fail_lost_requests() {
  const int state = zoo_state(handle_);
  if (is_connected_state(state)) return;
  socket_.fail_requests(state == ZOO_EXPIRED_SESSION_STATE ? ZSESSIONEXPIRED
                        : state == ZOO_AUTH_FAILED_STATE   ? ZAUTHFAILED
                                                           : ZCONNECTIONLOSS);
}

bool Wire::begin(const std::function<zhandle_t*()>& make) {
  {
    const Hold hold(*this);
    handle_ = make();
    if (handle_ == nullptr) return false;
    WireLoop::one().add(*this);
  }
  WireLoop::one().serve_added();
  return true;
}

void Wire::look_again() {
  const std::lock_guard lock(wires_lock());
  if (id_ != 0) WireLoop::one().call(*this);
}

void Wire::stop() {
  const Hold hold(*this);
  if (id_ != 0) WireLoop::one().remove(*this);
}

void Wire::begin_close() {
  constexpr std::chrono::milliseconds patience{1500};
  constexpr std::chrono::milliseconds shorter_patience{300};  // for a server that may be frozen
  const Hold hold(*this);
  if (handle_ == nullptr) return;
  if (id_ != 0) WireLoop::one().remove(*this);
  closing_ = std::exchange(handle_, nullptr);
  const bool is_open = is_connected_state(zoo_state(closing_));
  close_until_ = Clock::now() + (is_open ? patience : shorter_patience);
  if (is_open || socket_.awaits_greeting()) socket_.begin_close();
}

void Wire::leave() {
  begin_close();
  if (closing_ != nullptr && socket_.may_leave()) close_until_ = {};
  close();
}

void Wire::close() {
  begin_close();
  if (closing_ == nullptr) return;
  NoWaiting::refuse("zookeeper_close");
  // Nobody else has it now. Its unanswered requests are completed here.
  const WireSocket::Here here(socket_);
  socket_.finish_close(close_until_);
  socket_.fail_requests(ZCLOSING);
  zookeeper_close(std::exchange(closing_, nullptr));
}

}  // namespace zksh
