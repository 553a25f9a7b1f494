// Four-letter words: sent over plain or TLS connections, to several servers at once. The client
// sends four bytes, the server sends text and closes the connection (ServerCnxn.java).
#include "client/four_letter_word.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/mapped.h"
#include "base/text.h"
#include "client/host_addresses.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::string_view not_serving =
    "This ZooKeeper instance is not currently serving requests\n";

/// A question in progress.
struct Exchange {
  const ServerQuestion& question;
  std::vector<SocketAddress> addresses;
  std::size_t next_address = 0;
  Fd socket{};
  Clock::time_point accept_by{};  ///< by when this address must accept the connection
  int turned_away = 0;            ///< how often the server closed the connection without an answer
  bool accepted = false;
  std::unique_ptr<TlsConnection> tls{};
  std::string output{};  ///< for the network, and not sent yet
  bool answered = false;
  ServerAnswer answer{};

  bool has_another_address() const { return next_address < addresses.size(); }
  void fail(std::string problem) {
    answer = {.problem = std::move(problem)};
    socket.close();
  }
};

/// Connects to the next address; leaves no open socket if there is none.
void try_next_address(Exchange& exchange, const AskLimits& limits) {
  const auto deadline = std::min(limits.deadline, limits.connect_by);
  exchange.socket.close();
  exchange.accepted = false;
  while (!exchange.socket && exchange.has_another_address()) {
    const auto now = Clock::now();
    const auto left = static_cast<std::int64_t>(exchange.addresses.size() - exchange.next_address);
    exchange.accept_by = now + (deadline - now) / left;
    const auto& address = exchange.addresses[exchange.next_address++];
    exchange.socket = Fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const bool fails =
        !exchange.socket || connect(exchange.socket.get(), address.get(), address.size) != 0;
    if (fails && errno != EINPROGRESS) exchange.fail(std::strerror(errno));
  }
}

/// Handles the end of a connection. A member that becomes leader or follower closes all its
/// connections, and answers on the next one.
void end(Exchange& exchange, int error, const AskLimits& limits) {
  constexpr int tries = 3;
  const auto flaw = exchange.tls ? exchange.tls->failure() : "";
  if (error == 0 && !exchange.answer.text.empty()) {
    exchange.answered = true;
    exchange.socket.close();
  } else if (exchange.answer.text.empty()) {
    const bool turned_away =
        flaw.empty() ? error == 0 || error == ECONNRESET : !exchange.tls->is_lasting();
    if (turned_away && ++exchange.turned_away < tries) {
      exchange.next_address = 0;
      return try_next_address(exchange, limits);
    }
    exchange.fail(!flaw.empty() ? flaw
                  : turned_away ? "it closes the connection without an answer (too many "
                                  "connections from this host, or not a ZooKeeper server)"
                                : std::strerror(error));
    exchange.answer.turned_away = turned_away;
  } else {
    exchange.fail(
        fmt::format("the connection broke in the middle of its answer ({})", std::strerror(error)));
  }
}

/// Sends what is to be sent, as far as the kernel takes it. False if the connection has failed.
bool push(Exchange& exchange) {
  auto& output = exchange.output;
  if (exchange.tls) output += std::exchange(exchange.tls->output(), {});
  if (output.empty()) return true;
  const auto sent = send(exchange.socket.get(), output.data(), output.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  output.erase(0, static_cast<std::size_t>(sent));
  return true;
}

/// Sends the question on a new connection, unless that has failed; then tries the next address.
void begin(Exchange& exchange, const AskLimits& limits) {
  const auto& [server, word, tls, names] = exchange.question;
  exchange.output = tls ? "" : word;
  if (tls) {
    exchange.tls = std::make_unique<TlsConnection>(
        *tls, names.empty() ? std::vector{server.host} : names, server.text());
    exchange.tls->start();
    exchange.tls->write(word);
  }
  exchange.accepted = push(exchange);
  if (exchange.accepted) return;
  exchange.fail(std::strerror(errno));
  try_next_address(exchange, limits);
}

/// Appends what has arrived to the answer. As recv: 0 at the end of the connection, or -1.
ssize_t receive(Exchange& exchange) {
  std::array<char, 65536> buffer;
  auto& text = exchange.answer.text;
  auto count = recv(exchange.socket.get(), buffer.data(), buffer.size(), 0);
  const auto append = [&] { text.append(buffer.data(), static_cast<std::size_t>(count)); };
  if (!exchange.tls) {
    if (count > 0) append();
    return count;
  }
  if (count < 0 && errno != ECONNRESET) return count;
  auto& tls = *exchange.tls;
  tls.receive({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
  while ((count = tls.read(buffer.data(), buffer.size())) > 0) append();
  int error = errno;
  if (count == 0 && !text.empty() && !tls.has_ended()) {
    count = -1;
    error = ECONNRESET;
  }
  push(exchange);  // a failure shows when the answer is read
  errno = error;
  return count;
}

/// Proceeds with a question whose socket is ready.
void proceed(Exchange& exchange, const AskLimits& limits) {
  if (!exchange.accepted) return begin(exchange, limits);
  push(exchange);
  const auto& text = exchange.answer.text;
  const auto before = text.size();
  const auto count = receive(exchange);
  const int error = count < 0 ? errno : 0;
  if (text.size() > limits.most_bytes)
    return exchange.fail(fmt::format("its answer is longer than {} bytes", limits.most_bytes));
  // A starting server says this, and may leave the connection open.
  const bool is_whole = text.size() > before && text == not_serving;
  if (is_whole || count == 0)
    end(exchange, 0, limits);
  else if (count < 0 && error != EAGAIN && error != EINTR)
    end(exchange, error, limits);
}

/// The problem of a question that ran into the deadline.
std::string lateness(const Exchange& exchange) {
  if (!exchange.accepted) return "it could not be reached in time";
  if (exchange.tls && !exchange.tls->is_ready()) {
    exchange.tls->give_up();
    return exchange.tls->failure();
  }
  if (exchange.answer.text.empty())
    return "it accepts connections, but did not answer in time (frozen or overloaded)";
  return fmt::format("its answer was incomplete after the time limit ({} bytes)",
                     exchange.answer.text.size());
}

/// Gives up an address that does not accept the connection.
void give_up(Exchange& exchange, const AskLimits& limits) {
  if (exchange.has_another_address()) return try_next_address(exchange, limits);
  exchange.fail(lateness(exchange));
}

/// What to wait for.
pollfd interest(const Exchange& exchange) {
  const int events = !exchange.accepted        ? POLLOUT
                     : exchange.output.empty() ? POLLIN
                                               : POLLIN | POLLOUT;
  return {exchange.socket.get(), static_cast<short>(events), 0};
}

/// Runs until all questions have ended, or nothing more has arrived at the deadline.
void serve(std::vector<Exchange>& all, const AskLimits& limits) {
  const StopFd stop(limits.stop);
  std::vector<pollfd> waiting(all.size() + 1);
  waiting.back() = {stop.get(), POLLIN, 0};
  for (;;) {
    for (std::size_t i = 0; i < all.size(); ++i)  // poll ignores negative descriptors
      waiting[i] = interest(all[i]);
    if (limits.stop.stop_requested()) throw Cancelled();
    const auto now = Clock::now();
    const bool all_closed =
        std::ranges::all_of(all, [](auto& exchange) { return !exchange.socket; });
    if (all_closed) return;
    const bool is_late = now >= limits.deadline;
    auto wake_up = limits.deadline;
    for (const auto& exchange : all)
      if (exchange.socket && !exchange.accepted) wake_up = std::min(wake_up, exchange.accept_by);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(wake_up, now) - now);
    const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    // What has arrived by now is still read: it was in time if this process was stopped.
    if (is_late && ready <= 0) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto& exchange = all[i];
      if (!exchange.socket) continue;
      if (waiting[i].revents != 0)
        proceed(exchange, limits);
      else if (!exchange.accepted && Clock::now() >= exchange.accept_by)
        give_up(exchange, limits);
    }
  }
}

}  // namespace

std::vector<ServerAnswer> inquire(const std::vector<ServerQuestion>& questions,
                                  const AskLimits& limits) {
  std::map<std::string, HostAddresses> known;
  std::vector<Exchange> all;
  all.reserve(questions.size());
  const auto read_by = std::min(limits.deadline, Clock::now() + std::chrono::seconds(1));
  for (const auto& question : questions) {
    if (question.tls) question.tls->await_fresh(read_by);
    const auto [place, fresh] = known.try_emplace(question.server.text());
    auto& found = place->second;
    if (fresh) found = look_up(question.server);
    all.push_back({.question = question, .addresses = found.all});
    all.back().answer.problem = found.problem;
    try_next_address(all.back(), limits);
  }
  serve(all, limits);
  std::vector<ServerAnswer> answers;
  answers.reserve(all.size());
  for (auto& exchange : all) {
    if (exchange.socket) exchange.fail(lateness(exchange));
    if (exchange.answered) exchange.answer.problem.clear();
    answers.push_back(std::move(exchange.answer));
  }
  return answers;
}

std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline) {
  const auto questions = mapped(ports, [&](int port) {
    return ServerQuestion{
        .server = {.host = "127.0.0.1", .port = port}, .word = std::string(word), .tls = nullptr};
  });
  return mapped(inquire(questions, {.deadline = deadline}), &ServerAnswer::text);
}

bool is_not_serving(std::string_view answer) { return answer.starts_with(not_serving); }

bool is_refusal(std::string_view answer) {
  return answer.find(" is not executed because it is not in the whitelist.") !=
         std::string_view::npos;
}

std::string answer_field(std::string_view answer, std::string_view key) {
  for (const auto line : lines_of(answer)) {
    if (!line.starts_with(key)) continue;
    const std::string_view rest = line.substr(key.size());
    if (rest.starts_with(": ")) return std::string(rest.substr(2));
    if (rest.starts_with('=') || rest.starts_with('\t')) return std::string(rest.substr(1));
  }
  return {};
}

}  // namespace zksh
