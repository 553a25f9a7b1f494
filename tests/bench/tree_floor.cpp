// The floor for reading trees: multiRead requests of 500 nodes, 8 of them in flight, over one
// blocking socket; in no order and without a check. Needs ZooKeeper 3.6.
//
//   tree_floor HOST:PORT list|get PATH      prints the paths | reads the values and Stats, too
#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t most_nodes = 500;
constexpr std::size_t most_requests = 8;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void put(std::string& to, std::int32_t value) {
  const std::uint32_t bytes = htonl(static_cast<std::uint32_t>(value));
  to.append(reinterpret_cast<const char*>(&bytes), 4);
}

std::int32_t take(std::string_view& from) {
  std::uint32_t bytes = 0;
  if (from.size() < 4) fail("a truncated answer");
  std::memcpy(&bytes, from.data(), 4);
  from.remove_prefix(4);
  return static_cast<std::int32_t>(ntohl(bytes));
}

class Socket {
 public:
  explicit Socket(const std::string& server) {
    const auto colon = server.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(server.substr(colon + 1))));
    if (inet_pton(AF_INET, server.substr(0, colon).c_str(), &address.sin_addr) != 1)
      fail("address");
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
    std::string hello;
    for (const int value : {0, 0, 0, 30000, 0, 0, 16}) put(hello, value);
    hello.append(16, '\0');
    send(hello);
    receive();
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send(const std::string& body) const {
    std::string frame;
    put(frame, static_cast<std::int32_t>(body.size()));
    frame += body;
    for (std::size_t done = 0; done < frame.size();) {
      const auto sent = write(fd_, frame.data() + done, frame.size() - done);
      if (sent <= 0) fail("write");
      done += static_cast<std::size_t>(sent);
    }
  }
  /// The next frame; valid until the next call.
  std::string_view receive() {
    frame_.resize(4);
    fill(0);
    std::string_view length(frame_);
    frame_.resize(static_cast<std::size_t>(take(length)));
    fill(0);
    return frame_;
  }

 private:
  void fill(std::size_t done) {
    while (done < frame_.size()) {
      const auto came = read(fd_, frame_.data() + done, frame_.size() - done);
      if (came <= 0) fail("read");
      done += static_cast<std::size_t>(came);
    }
  }
  int fd_ = -1;
  std::string frame_;
};

class Walk {
 public:
  Walk(const std::string& server, bool values) : socket_(server), values_(values) {}

  void run(const std::string& top) {
    found(top);
    while (!unasked_.empty() || !asked_.empty()) {
      while (!unasked_.empty() && asked_.size() < most_requests) ask();
      take_answer();
    }
  }

 private:
  void found(const std::string& path) {
    std::fwrite(path.data(), 1, path.size(), stdout);
    std::putchar('\n');
    unasked_.push_back(path);
  }
  static void put_header(std::string& to, std::int32_t kind, bool end) {
    put(to, kind);
    to += end ? '\1' : '\0';
    put(to, -1);
  }
  void ask() {
    std::string body;
    put(body, ++xid_);
    put(body, 22);
    auto& batch = asked_.emplace_back();
    for (; batch.size() < most_nodes && !unasked_.empty(); unasked_.pop_front()) {
      const auto& path = batch.emplace_back(std::move(unasked_.front()));
      for (const int kind : {4, 8}) {
        if (kind == 4 && !values_) continue;
        put_header(body, kind, false);
        put(body, static_cast<std::int32_t>(path.size()));
        body += path;
        body += '\0';
      }
    }
    put_header(body, -1, true);
    socket_.send(body);
  }
  void take_answer() {
    auto rest = socket_.receive();
    rest.remove_prefix(16);
    const auto batch = std::move(asked_.front());
    asked_.pop_front();
    for (const auto& path : batch)
      for (const int kind : {4, 8})
        if (kind == 8 || values_) take_part(rest, path, kind);
  }
  void take_part(std::string_view& rest, const std::string& path, int kind) {
    const auto answered = take(rest);
    rest.remove_prefix(5);
    if (answered == -1) {
      take(rest);
    } else if (kind == 4) {
      constexpr std::size_t stat = 68;
      const auto size = take(rest);
      rest.remove_prefix((size > 0 ? static_cast<std::size_t>(size) : 0) + stat);
    } else {
      for (auto count = take(rest); count > 0; --count) {
        const auto size = static_cast<std::size_t>(take(rest));
        found(path + "/" + std::string(rest.substr(0, size)));
        rest.remove_prefix(size);
      }
    }
  }

  Socket socket_;
  bool values_;
  std::int32_t xid_ = 0;
  std::deque<std::string> unasked_;
  std::deque<std::vector<std::string>> asked_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Walk(argv[1], std::strcmp(argv[2], "get") == 0).run(argv[3]);
  return 0;
}
