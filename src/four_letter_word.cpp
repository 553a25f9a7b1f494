// Four-letter words over plain sockets, to several servers at once.
// The protocol: four bytes there, text back, and the server closes (ServerCnxn.java, 4lw).
#include "four_letter_word.h"

#include "fd.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace zksh {
namespace {

struct Question {
  Fd socket;
  bool sent = false;
  bool answered = false;
  std::string answer{};
};

Question open_question(int port) {
  Question q{Fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int rc =
      connect(q.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (rc != 0 && errno != EINPROGRESS) q.socket.close();
  return q;
}

/// One step of a question whose socket poll found ready.
void go_on(Question& q, std::string_view word) {
  const int fd = q.socket.get();
  if (!q.sent) {
    // Four bytes fit into an empty socket buffer, or the connection has failed.
    q.sent = send(fd, word.data(), word.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(word.size());
    if (!q.sent) q.socket.close();
    return;
  }
  std::array<char, 4096> buffer;
  const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
  if (count > 0) {
    q.answer.append(buffer.data(), static_cast<std::size_t>(count));
    // A server that is only just starting says this, and may leave the connection open.
    q.answered = q.answer == "This ZooKeeper instance is not currently serving requests\n";
    if (q.answered) q.socket.close();
  } else if (count == 0) {
    q.answered = true;
    q.socket.close();
  } else if (errno != EAGAIN && errno != EINTR) {
    q.socket.close();
  }
}

}  // namespace

std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline) {
  std::vector<Question> questions;
  questions.reserve(ports.size());
  for (const int port : ports) questions.push_back(open_question(port));

  for (;;) {
    std::vector<pollfd> waiting;
    waiting.reserve(questions.size());
    for (const Question& q : questions) {
      // poll ignores negative descriptors.
      waiting.push_back({q.socket.get(), static_cast<short>(q.sent ? POLLIN : POLLOUT), 0});
    }
    const bool all_closed = std::ranges::all_of(questions, [](auto& q) { return !q.socket; });
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (all_closed || left <= 0) break;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      if (waiting[i].revents != 0) go_on(questions[i], word);
    }
  }

  std::vector<std::string> answers;
  answers.reserve(questions.size());
  for (Question& q : questions) answers.push_back(q.answered ? std::move(q.answer) : std::string());
  return answers;
}

std::string answer_field(std::string_view answer, std::string_view key) {
  while (!answer.empty()) {
    const std::string_view line = answer.substr(0, answer.find('\n'));
    answer.remove_prefix(std::min(answer.size(), line.size() + 1));
    if (!line.starts_with(key)) continue;
    const std::string_view rest = line.substr(key.size());
    if (rest.starts_with(": ")) return std::string(rest.substr(2));
    if (rest.starts_with('=')) return std::string(rest.substr(1));
  }
  return {};
}

}  // namespace zksh
