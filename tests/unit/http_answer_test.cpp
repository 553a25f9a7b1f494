// HttpAnswer: answers in pieces, truncated, and from malicious servers.
#include "client/http_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace zksh {
namespace {

constexpr const char* head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/// Reads a text that arrives byte by byte, until the connection ends.
struct Read {
  explicit Read(const std::string& text) {
    HttpAnswer answer;
    std::size_t length = 1;
    while (length < text.size() && !answer.whole(text.substr(0, length))) ++length;
    came = length;
    body = answer.body(text.substr(0, length), flaw);
  }
  std::size_t came = 0;  ///< bytes when it was complete
  std::string body;
  std::string flaw;
};

TEST(HttpAnswer, EndsWhereItsLengthSays) {
  const auto text = head + std::string("content-length:  5 \r\n\r\nhello");
  const Read read(text + "and more");
  EXPECT_EQ(read.body, "hello");
  EXPECT_EQ(read.flaw, "");
  EXPECT_EQ(read.came, text.size()) << "whatever follows is not waited for";
}

TEST(HttpAnswer, EndsWithTheConnection) {
  const Read read(head + std::string("Connection: close\r\n\r\nhello"));
  EXPECT_EQ(read.body, "hello");
  EXPECT_EQ(read.flaw, "");
}

TEST(HttpAnswer, Chunks) {
  const auto text =
      head +
      std::string("Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n");
  const Read read(text + "\r\n");
  EXPECT_EQ(read.body, "hello0123456789");
  EXPECT_EQ(read.flaw, "");
  EXPECT_EQ(read.came, text.size());
}

TEST(HttpAnswer, CutOff) {
  for (const char* const rest :
       {"Content-Length: 6\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    const Read read(std::string(head) + rest);
    EXPECT_EQ(read.body, "") << rest;
    EXPECT_EQ(read.flaw, "its answer is truncated") << rest;
  }
}

TEST(HttpAnswer, OtherStatus) {
  EXPECT_EQ(Read("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}").flaw,
            "it answers with HTTP 404");
  EXPECT_EQ(Read("HTTP/1.0 302 Found\r\nLocation: http://[::]/\r\n\r\n").flaw,
            "it answers with HTTP 302, a redirect, which zksh does not follow");
}

TEST(HttpAnswer, NoHttp) {
  const std::string flaw = "it does not speak plain HTTP";
  for (const std::string text :
       {"\x15\x03\x01", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 ok\r\n\r\n", "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200"}) {
    const Read read(text);
    EXPECT_EQ(read.flaw, flaw) << text;
    EXPECT_EQ(read.body, "") << text;
  }
  for (const std::string chunks :
       {"x\r\n", "-1\r\n", "ffffffffffffffff\r\n", "11111111111111111111", "1\r\nabc\r\n"})
    EXPECT_EQ(Read(head + std::string("Transfer-Encoding: chunked\r\n\r\n") + chunks).flaw, flaw)
        << chunks;
}

TEST(HttpAnswer, AHeadWithoutEndIsGivenUp) {
  HttpAnswer answer;
  std::string text = head;
  while (text.size() < 65536) {
    EXPECT_FALSE(answer.whole(text));
    text += "X: " + std::string(1000, 'x') + "\r\n";
  }
  EXPECT_TRUE(answer.whole(text));
}

TEST(HttpAnswer, MillionsOfChunksAreReadOnce) {
  std::string text = std::string(head) + "Transfer-Encoding: chunked\r\n\r\n";
  HttpAnswer answer;
  for (int i = 0; i < 300000; ++i) {
    text += "1\r\nx\r\n";
    if (i % 10 == 0) {
      ASSERT_FALSE(answer.whole(text));
    }
  }
  text += "0\r\n\r\n";
  std::string flaw;
  EXPECT_EQ(answer.body(text, flaw).size(), 300000U);
  EXPECT_EQ(flaw, "");
}

TEST(HttpAnswer, TheRequest) {
  EXPECT_EQ(http_get("zk1:8080", "/commands/mntr"),
            "GET /commands/mntr HTTP/1.1\r\nHost: zk1:8080\r\nUser-Agent: zksh\r\n"
            "Accept: application/json\r\nConnection: close\r\n\r\n");
}

}  // namespace
}  // namespace zksh
