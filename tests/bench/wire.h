// Wire: as much of ZooKeeper's protocol as the lock recipe needs, over a blocking TCP socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zksh_bench {

/// A session, used by one thread. The `ask_*` members collect requests, and the next `await_*`
/// sends them in one write, so that requests sent together cost one round trip. Every failure and
/// unexpected answer throws std::runtime_error. The format is that of zookeeper.jute and
/// ZooDefs.OpCode: big-endian lengths and integers.
class Wire {
 public:
  enum class Found { Yes, NoNode, Exists };

  /// Connects to `host:port` and opens a session; blocks until it is open.
  Wire(const std::string& server, int session_timeout_ms);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  /// Closes the session, and waits until the server has done so and its ephemerals are gone.
  ~Wire();

  /// create2 of an ephemeral sequential node, or of a persistent one that may exist.
  void ask_create(const std::string& path, const std::string& data, bool ephemeral_sequential);
  void ask_children(const std::string& path);
  /// getData, with a watch.
  void ask_watched(const std::string& path);
  void ask_delete(const std::string& path);

  /// Sends collected requests and blocks for the oldest answer not awaited yet.
  Found await();
  /// As await, for ask_children.
  std::vector<std::string> await_children();
  /// Blocks until the last watch fires.
  void await_event();
  /// Keeps the session alive for this long.
  void rest(std::int64_t nanoseconds);

 private:
  void put(std::int32_t value);
  void put_long(std::int64_t value);
  void put_string(const std::string& text);
  std::int32_t take();
  std::int64_t take_long();
  std::string take_string();

  void begin(std::int32_t operation);
  void end();
  void ping();
  void flush();
  void fill(std::size_t size);
  void receive();
  std::int32_t next();

  int socket_ = -1;
  std::int64_t ping_interval_ns_ = 0;
  std::int32_t asked_ = 0;  ///< xid of the last request
  std::string out_;         ///< requests not sent yet
  std::size_t begun_ = 0;   ///< offset of the request being written
  std::vector<char> in_;
  std::size_t arrived_ = 0;  ///< bytes in it
  std::size_t end_ = 0;      ///< end of the packet being read
  std::size_t taken_ = 0;    ///< bytes of it that were read
  std::int32_t error_ = 0;   ///< the packet's error
  bool fired_ = false;       ///< whether the last watch has fired
};

}  // namespace zksh_bench
