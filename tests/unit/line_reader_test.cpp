// LineReader: lines from a pipe, of any bytes and length, and a wait that a stop ends.
#include "base/line_reader.h"

#include "base/fd.h"
#include "failures.h"

#include <gtest/gtest.h>

#include <array>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace zksh {
namespace {

class TestPipe {
 public:
  TestPipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
  }
  void send(const std::string& bytes) const {
    EXPECT_EQ(write(write_end.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  Fd read_end;
  Fd write_end;
};

std::vector<std::string> lines_of(const std::string& bytes, LineEnd end = LineEnd::Newline) {
  TestPipe pipe;
  std::jthread writer([&] {
    pipe.send(bytes);
    pipe.write_end.close();
  });
  std::vector<std::string> lines;
  LineReader reader(pipe.read_end.get(), false, "a pipe", {}, end);
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

TEST(LineReader, GivesLinesWithoutTheirNewlines) {
  EXPECT_EQ(lines_of("a\n\nb\n"), (std::vector<std::string>{"a", "", "b"}));
}

TEST(LineReader, TheLastLineNeedsNoNewline) {
  EXPECT_EQ(lines_of("a\nb"), (std::vector<std::string>{"a", "b"}));
}

TEST(LineReader, KeepsEveryByte) {
  const std::string odd("\0\xff\r\x1b", 4);
  EXPECT_EQ(lines_of(odd + "\n" + odd), (std::vector<std::string>{odd, odd}));
}

TEST(LineReader, AByteOrderMarkAtTheBeginningIsSkipped) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(lines_of(mark + "a\n" + mark + "b"), (std::vector<std::string>{"a", mark + "b"}));
  EXPECT_EQ(lines_of(mark), std::vector<std::string>{});
  EXPECT_EQ(lines_of("\xef\xbb"), std::vector<std::string>{"\xef\xbb"});
  EXPECT_EQ(lines_of("a\n" + mark), (std::vector<std::string>{"a", mark}));
}

TEST(LineReader, AByteOrderMarkMayComeInPieces) {
  TestPipe pipe;
  LineReader reader(pipe.read_end.get(), false, "a pipe", {});
  for (const auto* piece : {"\xef", "\xbb", "\xbf"}) {
    pipe.send(piece);
    EXPECT_FALSE(reader.ready());
  }
  pipe.send("a\n");
  std::string line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "a");
}

TEST(LineReader, KeepsAByteOrderMarkIfTold) {
  TestPipe pipe;
  pipe.send(
      "\xef\xbb\xbf"
      "a\n");
  LineReader reader(pipe.read_end.get(), false, "a pipe", {});
  reader.keep_byte_order_mark();
  std::string line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line,
            "\xef\xbb\xbf"
            "a");
}

TEST(LineReader, LinesEndAsInJava) {
  const std::vector<std::string> lines{"a", "b", "", "c", "d", "", "e"};
  EXPECT_EQ(lines_of("a\rb\r\n\nc\rd\n\re", LineEnd::AsInJava), lines);
  EXPECT_EQ(lines_of("a\rb\r\n\nc\rd\n\re\r\n", LineEnd::AsInJava), lines);
  EXPECT_EQ(lines_of("a\rb\r\n\nc\rd\n\re\r", LineEnd::AsInJava), lines);
}

TEST(LineReader, ALineThatEndsInAReturnIsThereBeforeWhatFollows) {
  TestPipe pipe;
  LineReader reader(pipe.read_end.get(), false, "a pipe", {}, LineEnd::AsInJava);
  std::string line;
  pipe.send("a\r");
  EXPECT_TRUE(reader.ready());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "a");
  pipe.send("\n");
  EXPECT_FALSE(reader.ready()) << "it belongs to the line before";
  pipe.send("b\n");
  EXPECT_TRUE(reader.ready());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "b");
}

TEST(LineReader, TakesLinesLongerThanItsBuffer) {
  const std::string longer(3U << 20U, 'x');
  EXPECT_EQ(lines_of(longer + "\ny\n"), (std::vector<std::string>{longer, "y"}));
}

TEST(LineReader, AStopEndsTheWait) {
  TestPipe pipe;
  std::stop_source source;
  LineReader reader(pipe.read_end.get(), false, "a pipe", source.get_token());
  std::jthread stopper([&] { source.request_stop(); });
  std::string line;
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, WhatCannotBeReadIsNamed) {
  LineReader reader(open("/", O_RDONLY | O_CLOEXEC), true, "the directory", {});
  std::string line;
  EXPECT_EQ(refusal_of([&] { reader.next(line); }), "cannot read the directory: Is a directory");
}

}  // namespace
}  // namespace zksh
