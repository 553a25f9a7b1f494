// Report: whatever a command throws becomes a message and a status.
#include "command/report.h"

#include "base/fd.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <sys/eventfd.h>

namespace zksh {
namespace {

class ReportTest : public testing::Test {
 protected:
  /// What is printed for an exception, behind its status.
  template <class Exception>
  std::string report(const Exception& exception) {
    Output out(queue_, {}, {});
    const int status = reporting(out, [&]() -> int { throw exception; });
    std::string text = std::to_string(status) + ' ';
    for (const auto& chunk : queue_.take()) text += chunk.bytes;
    return text;
  }

 private:
  Monitor monitor_;
  Fd wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  OutputQueue queue_{monitor_, wake_.get()};
};

TEST_F(ReportTest, AnErrorHasItsOwnStatus) {
  EXPECT_EQ(report(Error("no such thing", status::no_node)), "4 no such thing\n");
}

TEST_F(ReportTest, RefusalsOfTheSystemNameWhatIsMissing) {
  EXPECT_EQ(report(std::system_error(ENOENT, std::generic_category(), "/x")),
            "1 system error: /x: No such file or directory\n");
  EXPECT_TRUE(report(std::bad_alloc()).starts_with("1 not enough memory"));
}

TEST_F(ReportTest, WhatNothingShouldThrowEndsTheCommandAlone) {
  EXPECT_EQ(report(std::out_of_range("at(7)")),
            "1 internal error: at(7); please report this bug of zksh\n");
}

}  // namespace
}  // namespace zksh
