// SessionThreads: no more threads are available.
#include <gtest/gtest.h>

#include <csignal>

// Declared by the C library only for those who are built with assertions.
extern "C" [[noreturn]] void failed_assertion(const char* assertion, const char* file,
                                              unsigned int line,
                                              const char* function) __asm__("__assert_fail");

namespace zksh {
namespace {

TEST(SessionThreadsDeathTest, WhatTheCClientAssertsOfThreadsEndsWithASentence) {
  // As of the C client, which is built with assertions.
  EXPECT_EXIT(failed_assertion("\"pthread_create() failed for the IO thread\"&&!rc", "mt_adaptor.c",
                               1, "start_threads"),
              testing::ExitedWithCode(1), "^zksh: cannot start a thread for the session");
  EXPECT_EXIT(failed_assertion("cptr", "zookeeper.c", 7, nullptr), testing::KilledBySignal(SIGABRT),
              "zookeeper.c:7: .*Assertion `cptr' failed");
}

}  // namespace
}  // namespace zksh
