// Wire: a handle of the single-threaded C client, on which all threads send, and one thread
// receives.
//
// The rules:
//
//  - Every call into the C client is made under one lock for all handles, Wire::Hold. So are the
//    completions and watchers that it calls. What it keeps for the whole process (the last
//    request's number, the server that a read-only session found) is safe with that.
//  - Nothing blocks under the lock. Names are looked up before, so that the C client gets numeric
//    addresses. Servers are asked for their mode elsewhere (WireSocket). A handle is closed after
//    it has been taken from everybody else.
//  - The lock comes before the Monitor. A thread that holds the Monitor must not take it: nothing
//    is sent under the Monitor.
//  - A request is written to the socket by the thread that makes it. What arrives is read by the
//    wires' thread, which runs completions and watchers, in the order in which the server sent what
//    they report: each zookeeper_process takes one frame. What continues a recipe (DeferredCalls)
//    runs on that thread too, after the lock has been released.
//  - The one thread serves all wires of the process. It never ends: nobody waits for it at exit.
#pragma once

#include "base/monitor.h"
#include "session/wire_socket.h"

#include <zookeeper/zookeeper.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

namespace zksh {

class WireLoop;

class Wire {
 public:
  explicit Wire(WireOwner& owner) : owner_(owner), socket_(owner) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  /// It must be closed, or never have begun.
  ~Wire() = default;

  /// The right to call the C client with the handle. The thread that has it may take it again, for
  /// any wire.
  class Hold {
   public:
    explicit Hold(Wire& wire);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    /// Wakes the wires' thread if what was sent needs it.
    ~Hold();
    /// Null before it has begun, and once it is closed.
    zhandle_t* get() const { return wire_.handle_; }

   private:
    Wire& wire_;
    WireSocket::Here here_;
  };

  /// Makes the handle with `make()`, which calls zookeeper_init, and begins to connect it. False,
  /// with errno, if there is no handle. Throws Error if the wires' thread cannot be started.
  bool begin(const std::function<zhandle_t*()>& make);
  /// Calls `action` with the Hold of the wire with this id, unless it is being closed. From any
  /// thread.
  static void with(std::uint64_t id, const std::function<void()>& action);
  std::uint64_t id() const { return id_; }
  /// Sends a request that the C client cannot make; with the Hold. Returns ZOK, or why it was not
  /// sent. `done` is called as the C client's completions are, also if the connection is lost.
  int ask(std::int32_t operation, std::string_view body, WireSocket::Done done, const void* data);
  /// With the Hold; round_trip and last_zxid from any thread.
  WireSocket& socket() { return socket_; }
  /// Has the wires' thread look at the handle, whose servers have changed, or whose socket has more
  /// for the C client.
  void look_again();
  /// Has nothing more sent or received, and no new connection made.
  void stop();
  /// Asks the server to end the session, and takes the handle from everybody. Does not block.
  void begin_close();
  /// As begin_close, then waits until the server has done it, for 1.5 s from then at most (0.3 s
  /// for a session that was being opened), and fails unanswered requests with ZCLOSING. Not on the
  /// wires' thread.
  void close();
  /// As close, but does not wait for a server that is not near. The session ends when the request
  /// reaches it, or if that is lost with this machine, at its timeout.
  void leave();

 private:
  friend class WireLoop;
  using Agenda = std::multimap<Clock::time_point, Wire*>;

  bool needs_thread() const;
  void fail_lost_requests();

  WireOwner& owner_;
  WireSocket socket_;
  zhandle_t* handle_ = nullptr;
  zhandle_t* closing_ = nullptr;  ///< taken by begin_close
  Clock::time_point close_until_{};
  std::uint64_t id_ = 0;  ///< in the loop; 0: not there
  int watched_ = -1;      ///< the socket that the loop waits for
  std::uint32_t events_ = 0;
  Clock::time_point tend_at_{};
  Agenda::iterator due_{};  ///< when the loop looks at it again; while it is there
};

}  // namespace zksh
