// Kernel: threads, clocks and sockets of a simulated machine, for the real program.
//
// The test program defines the C library's functions for threads, mutexes, time and sockets itself
// (kernel.cpp). Threads are real ones, of which one at a time runs: which, is thrown with the run's
// dice whenever one of them waits. When all wait, time jumps to the next event. So a run depends on
// its seed alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace simulation {

/// Nanoseconds since the simulated machine was started.
using Time = std::int64_t;

constexpr Time microsecond = 1'000;
constexpr Time millisecond = 1'000'000;
constexpr Time second = 1'000'000'000;
constexpr Time never = INT64_MAX;

/// A run's only source of chance.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  /// From 0 to `most`.
  std::int64_t number(std::int64_t most) {
    return most <= 0
               ? 0
               : static_cast<std::int64_t>(engine_() % (static_cast<std::uint64_t>(most) + 1));
  }
  bool happens(double probability) {
    return static_cast<double>(engine_() >> 11U) * 0x1.0p-53 < probability;
  }
  /// Mostly near `least`, seldom near `most`.
  Time delay(Time least, Time most);
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

/// Makes the calling thread the simulated machine's first. Once per process.
void begin_simulation(std::uint64_t seed);
Dice& dice();
Time now();
/// Calls `action` at this time, on any thread, which must not wait in it.
void at(Time time, std::function<void()> action);
inline void after(Time delay, std::function<void()> action) {
  at(now() + delay, std::move(action));
}
/// Lets time pass for the calling thread.
void sleep_for(Time time);
/// No thread runs for so long from the caller's next wait on, as after SIGSTOP; `at` and the
/// servers go on.
void stop_process(Time length);
/// From now on, threads are late now and then, by this at most.
void make_late(Time longest);
/// The threads that have not ended, and the open sockets and event descriptors.
std::size_t threads();
std::size_t descriptors();
/// Called when no thread can ever run again, or one runs without an end; prints what it can.
void on_deadlock(std::function<void(const char* what)> report);

/// A connection, seen from the server. The network holds it as long as one side does.
class Connection {
 public:
  using Pointer = std::shared_ptr<Connection>;

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  /// Bytes for the client, which arrive in pieces.
  virtual void send(std::string_view bytes) = 0;
  /// Ends it, after what was sent; or at once, as a process does that dies.
  virtual void close(bool reset) = 0;
  /// The client's host.
  virtual int client() const = 0;

  std::function<void(std::string_view bytes)> received{};
  /// Once, when the client has closed or reset it.
  std::function<void()> ended{};
};

/// How the way from a client's host to a server's is.
struct Path {
  Time delay = 100 * microsecond;
  Time jitter = 100 * microsecond;
  bool cut_up = false;     ///< nothing reaches the server
  bool cut_down = false;   ///< nothing reaches the client
  bool in_pieces = false;  ///< of any size
  bool refuses = false;    ///< no process listens
  bool silent = false;     ///< connections are accepted, and nobody reads them
};

/// The path between a client's host and a server. A change holds for what is sent from now on; what
/// was cut arrives when the cut ends.
Path& path(int client, int server);
/// Call it after a change of `path`.
void path_changed(int client, int server);
/// Resets all connections of a path.
void reset_connections(int client, int server);
/// How often connections of this client's host were broken, refused or held up by a cut.
std::uint64_t breaks(int client);
/// Serves connections to server `server`; null: nobody listens.
void listen(int server, std::function<void(Connection::Pointer)> accept);
/// The address at which a client's host finds a server: "10.CLIENT.0.SERVER", port 2181.
std::string address_of(int client, int server);
/// What look-ups of names do from now on: server names are "sSERVER.cCLIENT".
enum class Names { Resolve, Fail, Hang };
void set_names(Names how);

}  // namespace simulation
