// Four-letter words: servers that answer wrongly, slowly, endlessly or not at all.
#include "client/four_letter_word.h"

#include "base/error.h"
#include "base/fd.h"
#include "listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Accepts connections one by one, reads four bytes, and handles each as told.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(int)> serve) {
    thread_ = std::jthread([this, serve = std::move(serve)] {
      while (const Fd client{accept(listener_.fd(), nullptr, nullptr)}) {
        std::array<char, 4> word{};
        if (recv(client.get(), word.data(), word.size(), MSG_WAITALL) == 4) serve(client.get());
      }
    });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() { shutdown(listener_.fd(), SHUT_RDWR); }

  ServerAnswer answer(std::chrono::milliseconds time, std::size_t most_bytes = 1U << 20U) const {
    ServerQuestion question;
    question.server.host = "127.0.0.1";
    question.server.port = listener_.port();
    question.word = "srvr";
    const auto answers =
        inquire(std::vector{question}, {.deadline = Clock::now() + time, .most_bytes = most_bytes});
    return answers.front();
  }

 private:
  Listener listener_;
  std::jthread thread_;
};

void say(int fd, std::string_view text) { send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

/// Waits until the other side has closed.
void stay(int fd) {
  char byte = 0;
  while (recv(fd, &byte, 1, 0) > 0) {
  }
}

TEST(FourLetterWord, AnAnswerEndsWithTheConnection) {
  FakeServer server([](int fd) {
    say(fd, "one\xff\x1b[2J");
    say(fd, "two");
  });
  const auto answer = server.answer(60s);
  EXPECT_EQ(answer.text, "one\xff\x1b[2Jtwo") << "the bytes as they are";
  EXPECT_EQ(answer.problem, "");
}

TEST(FourLetterWord, SilenceEndsWithTheTime) {
  FakeServer server(stay);
  const auto begin = Clock::now();
  EXPECT_THAT(server.answer(3s).problem, HasSubstr("did not answer in time"));
  EXPECT_LT(Clock::now() - begin, 60s);
}

TEST(FourLetterWord, HalfAnAnswerIsNone) {
  FakeServer server([](int fd) {
    say(fd, "zk_version\t3.");
    stay(fd);
  });
  const auto answer = server.answer(8s);
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.problem, "its answer was incomplete after the time limit (13 bytes)");
}

TEST(FourLetterWord, AnEndlessAnswerIsCutOff) {
  FakeServer server([](int fd) {
    const std::string much(1U << 16U, 'x');
    while (send(fd, much.data(), much.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const auto answer = server.answer(20s, 1U << 20U);
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.problem, "its answer is longer than 1048576 bytes");
}

TEST(FourLetterWord, AConnectionThatIsAlwaysClosedAtOnce) {
  std::atomic<int> asked = 0;
  FakeServer server([&](int /*fd*/) { ++asked; });
  EXPECT_THAT(server.answer(60s).problem, HasSubstr("closes the connection without an answer"));
  EXPECT_EQ(asked, 3);
}

TEST(FourLetterWord, AMemberThatClosesAllItsConnectionsIsAskedAgain) {
  std::atomic<int> asked = 0;
  FakeServer server([&](int fd) {
    if (++asked == 3) say(fd, "imok");
  });
  EXPECT_EQ(server.answer(60s).text, "imok");
}

TEST(FourLetterWord, AResetWithinTheAnswer) {
  FakeServer server([](int fd) {
    say(fd, "begin");
    // Data that has not arrived is lost with the reset.
    for (int on_the_way = 1; on_the_way > 0;)
      if (ioctl(fd, SIOCOUTQ, &on_the_way) != 0) break;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  });
  const auto answer = server.answer(60s);
  EXPECT_EQ(answer.text, "");
  EXPECT_THAT(answer.problem, HasSubstr("the connection broke in the middle of its answer"));
}

TEST(FourLetterWord, AStartingServerMayLeaveTheConnectionOpen) {
  FakeServer server([](int fd) {
    say(fd, "This ZooKeeper instance is not currently serving requests\n");
    stay(fd);
  });
  EXPECT_TRUE(is_not_serving(server.answer(10s).text));
}

TEST(FourLetterWord, NobodyThere) {
  std::vector<ServerQuestion> questions(3, {.server = {}, .word = "srvr"});
  for (auto& question : questions) question.server.port = 1;
  questions[0].server.host = "127.0.0.1";
  questions[1].server.host = "::1";
  questions[2].server.host = "none.invalid";
  const auto answers = inquire(questions, {.deadline = Clock::now() + 60s});
  EXPECT_EQ(answers[0].problem, "Connection refused");
  EXPECT_NE(answers[1].problem, "");
  EXPECT_THAT(answers[2].problem, HasSubstr("the name cannot be resolved"));
}

TEST(FourLetterWord, AStopEndsTheWait) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(inquire({}, {.deadline = Clock::now() + 60s, .stop = source.get_token()}),
               Cancelled);
}

}  // namespace
}  // namespace zksh
