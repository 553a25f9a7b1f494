// Four-letter words over plain sockets, to several servers at once.
// The protocol: four bytes there, text back, and the server closes (ServerCnxn.java, 4lw).
#include "four_letter_word.h"

#include "fd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

namespace zksh {
namespace {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

std::vector<SocketAddress> look_up(const ServerAddress& server) {
  const auto port = std::to_string(server.port);
  addrinfo* found = nullptr;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // an address needs no resolver
  if (getaddrinfo(server.host.c_str(), port.c_str(), &hints, &found) != 0) {
    hints.ai_flags = AI_NUMERICSERV;
    if (getaddrinfo(server.host.c_str(), port.c_str(), &hints, &found) != 0) return {};
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address{.size = each->ai_addrlen};
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

/// One question on its way.
struct Asking {
  std::string word;
  std::vector<SocketAddress> addresses;
  std::size_t next_address = 0;
  Fd socket{};
  bool sent = false;
  bool answered = false;
  std::string answer{};
};

/// Connects to the next address; leaves no socket when there is none.
void try_next_address(Asking& asking) {
  asking.socket.close();
  while (!asking.socket && asking.next_address < asking.addresses.size()) {
    const auto& address = asking.addresses[asking.next_address++];
    asking.socket =
        Fd(socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int rc = connect(asking.socket.get(), reinterpret_cast<const sockaddr*>(&address.bytes),
                           address.size);
    if (rc != 0 && errno != EINPROGRESS) asking.socket.close();
  }
}

/// One step of a question whose socket poll found ready.
void go_on(Asking& asking) {
  const int fd = asking.socket.get();
  if (!asking.sent) {
    // Four bytes fit into an empty socket buffer, or the connection has failed.
    asking.sent = send(fd, asking.word.data(), asking.word.size(), MSG_NOSIGNAL) ==
                  static_cast<ssize_t>(asking.word.size());
    if (!asking.sent) try_next_address(asking);
    return;
  }
  std::array<char, 65536> buffer;
  const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
  if (count > 0) {
    asking.answer.append(buffer.data(), static_cast<std::size_t>(count));
    // A server that is only just starting says this, and may leave the connection open.
    asking.answered =
        asking.answer == "This ZooKeeper instance is not currently serving requests\n";
    if (asking.answered) asking.socket.close();
  } else if (count == 0) {
    asking.answered = true;
    asking.socket.close();
  } else if (errno != EAGAIN && errno != EINTR) {
    asking.socket.close();
  }
}

/// Until all have ended, or the deadline.
void serve(std::vector<Asking>& all, Clock::time_point deadline) {
  std::vector<pollfd> waiting(all.size());
  for (;;) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      // poll ignores negative descriptors.
      waiting[i] = {all[i].socket.get(), static_cast<short>(all[i].sent ? POLLIN : POLLOUT), 0};
    }
    const bool all_closed = std::ranges::all_of(all, [](auto& asking) { return !asking.socket; });
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (all_closed || left <= 0) return;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (waiting[i].revents != 0) go_on(all[i]);
    }
  }
}

}  // namespace

std::vector<std::string> ask_servers(const std::vector<ServerQuestion>& questions,
                                     Clock::time_point deadline) {
  std::map<std::string, std::vector<SocketAddress>> known;
  std::vector<Asking> all;
  all.reserve(questions.size());
  for (const auto& question : questions) {
    const auto [place, fresh] = known.try_emplace(question.server.text());
    if (fresh) place->second = look_up(question.server);
    all.push_back({.word = question.word, .addresses = place->second});
    try_next_address(all.back());
  }
  serve(all, deadline);
  std::vector<std::string> answers;
  answers.reserve(all.size());
  for (auto& asking : all)
    answers.push_back(asking.answered ? std::move(asking.answer) : std::string());
  return answers;
}

std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline) {
  std::vector<ServerQuestion> questions;
  questions.reserve(ports.size());
  for (const int port : ports)
    questions.push_back({{.host = "127.0.0.1", .port = port}, std::string(word)});
  return ask_servers(questions, deadline);
}

bool is_refusal(std::string_view answer) {
  return answer.find(" is not executed because it is not in the whitelist.") !=
         std::string_view::npos;
}

std::string answer_field(std::string_view answer, std::string_view key) {
  while (!answer.empty()) {
    const std::string_view line = answer.substr(0, answer.find('\n'));
    answer.remove_prefix(std::min(answer.size(), line.size() + 1));
    if (!line.starts_with(key)) continue;
    const std::string_view rest = line.substr(key.size());
    if (rest.starts_with(": ")) return std::string(rest.substr(2));
    if (rest.starts_with('=') || rest.starts_with('\t')) return std::string(rest.substr(1));
  }
  return {};
}

}  // namespace zksh
