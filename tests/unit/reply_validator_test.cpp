// ReplyValidator: valid answers, and those that the C client could not handle.
#include "session/reply_validator.h"

#include "txnlog_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace zksh {
namespace {

std::string number(std::int64_t value, int size = 4) {
  std::string bytes;
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> static_cast<unsigned>(shift));
  return bytes;
}
std::string header(std::int32_t xid, std::int32_t code = 0) {
  return number(xid) + number(7, 8) + number(code);
}
const std::string stat(68, '\0');

/// What is said to a frame that answers a request of this kind, with the number 5.
std::string said(std::int32_t operation, const std::string& body, const std::string& asked = "") {
  WireConversation conversation;
  conversation.note_request(number(5) + number(operation) + asked);
  const auto* const flaw = conversation.flaw_of(header(5) + body);
  return flaw == nullptr ? "" : flaw;
}

constexpr auto early = "a truncated answer";
constexpr auto no_name = "an answer with an invalid node name";

TEST(ReplyValidator, AnswersHaveTheFormOfWhatWasAsked) {
  EXPECT_EQ(said(4, jute_text("data") + stat), "");
  EXPECT_EQ(said(4, number(-1) + stat), "") << "null";
  EXPECT_EQ(said(3, stat), "");
  EXPECT_EQ(said(1, jute_text("/a")), "");
  EXPECT_EQ(said(21, jute_text("/a") + stat), "");
  EXPECT_EQ(said(12, number(2) + jute_text("a") + jute_text("b") + stat), "");
  EXPECT_EQ(said(6, number(1) + number(31) + jute_text("world") + jute_text("anyone") + stat), "");
  EXPECT_EQ(said(2, ""), "");
  EXPECT_EQ(said(3, stat + "more"), "") << "as newer servers may send";
}

TEST(ReplyValidator, WhatEndsTooEarlyIsRefused) {
  EXPECT_EQ(said(4, ""), early);
  EXPECT_EQ(said(4, jute_text("data") + stat.substr(1)), early);
  EXPECT_EQ(said(4, number(-2) + stat), early);
  EXPECT_EQ(said(4, number(0x7fffffff) + stat), early);
  EXPECT_EQ(said(1, number(-1)), early);
  EXPECT_EQ(said(12, number(0x7fffffff) + stat), early);
  EXPECT_EQ(said(12, number(-1) + stat), early);
  EXPECT_EQ(said(12, number(2) + jute_text("a") + jute_text("b") + stat.substr(1)), early);
  EXPECT_EQ(said(12, number(2) + jute_text("a") + "\1\1"), early);
  for (const auto* const none : {"", "/", "a/b"})
    EXPECT_EQ(said(12, number(1) + jute_text(none) + stat), no_name) << "no name of a node";
  WireConversation conversation;
  EXPECT_STREQ(conversation.flaw_of("short"), early);
}

TEST(ReplyValidator, WhatACreationMadeIsHandedOn) {
  const auto notes = std::make_shared<AnswerNotes>();
  WireConversation conversation;
  conversation.tell(nullptr, notes, {}, {}, {});
  const auto part = [](std::int32_t kind) { return number(kind) + number(0, 1) + number(-1); };
  const auto end = number(-1) + number(1, 1) + number(-1);
  const auto create = [](const std::string& path) {
    return jute_text(path) + number(-1) + number(0) + number(0);
  };
  conversation.note_request(number(1) + number(1));
  conversation.note_request(number(2) + number(1));
  conversation.note_request(number(3) + number(14) + part(13) + jute_text("/a") + number(-1) +
                            part(1) + create("/chroot/b") + part(1) + create("/chroot/c") + end);
  conversation.note_request(number(4) + number(1));
  const auto answer = [](std::int32_t xid, std::int64_t zxid, std::int32_t code) {
    return number(xid) + number(zxid, 8) + number(code);
  };
  EXPECT_EQ(conversation.flaw_of(answer(1, 11, 0) + jute_text("/chroot/a")), nullptr);
  EXPECT_EQ(conversation.flaw_of(answer(2, 12, -110)), nullptr);
  EXPECT_EQ(conversation.flaw_of(answer(3, 13, 0) + part(13) + part(1) + jute_text("/chroot/b") +
                                 part(1) + jute_text("/chroot/c") + end),
            nullptr);
  EXPECT_EQ(conversation.flaw_of(answer(4, 0x100000002, 0) + jute_text("/chroot/d")), nullptr);
  EXPECT_EQ(notes->take_creation("/a"), 11);
  EXPECT_EQ(notes->take_creation("/a"), 0) << "once";
  EXPECT_EQ(notes->take_creation("/d"), 0x100000002);
  EXPECT_EQ(notes->take_creation("/b"), 0) << "it came before the other";
}

TEST(ReplyValidator, ACreationMakesTheNodeThatWasAskedFor) {
  constexpr auto another = "an answer that names another node";
  for (const int operation : {1, 15, 19, 21}) {
    EXPECT_EQ(said(operation, jute_text("/q/n-0000000001") + stat, jute_text("/q/n-")), "")
        << operation;
    for (const auto* const path : {"", "/q", "/q/m-0000000001", "../q/n-"})
      EXPECT_EQ(said(operation, jute_text(path) + stat, jute_text("/q/n-")), another)
          << operation << path;
  }
}

TEST(ReplyValidator, AFailureNeedsNoMore) {
  WireConversation conversation;
  conversation.note_request(number(5) + number(4));
  EXPECT_EQ(conversation.flaw_of(header(5, -101)), nullptr);
}

TEST(ReplyValidator, ZkshsOwnCodesAreNoServers) {
  for (const std::int32_t code : {1, INT32_MAX}) {
    WireConversation conversation;
    conversation.note_request(number(5) + number(4));
    EXPECT_STREQ(conversation.flaw_of(header(5, code)), "an answer with an invalid error code");
  }
}

TEST(ReplyValidator, AnswersComeInTurn) {
  WireConversation conversation;
  EXPECT_STREQ(conversation.flaw_of(header(5)), "the server answered a request that was not sent");
  conversation.note_request(number(5) + number(2));
  conversation.note_request(number(-2) + number(11));
  conversation.note_request(number(6) + number(2));
  EXPECT_EQ(conversation.flaw_of(header(-2)), nullptr) << "of a ping, at any time";
  EXPECT_EQ(conversation.flaw_of(header(-1) + number(1) + number(3) + jute_text("/a")), nullptr);
  EXPECT_STREQ(conversation.flaw_of(header(-1) + number(1) + number(3) + number(9)), early);
  EXPECT_EQ(conversation.flaw_of(header(5)), nullptr);
  EXPECT_STREQ(conversation.flaw_of(header(7)), "an answer out of order");
}

TEST(ReplyValidator, NoNumberIsThatOfNoRequest) {
  WireConversation conversation;
  conversation.note_request(number(5) + number(2));
  for (const std::int32_t xid : {-3, -5, -6, -7, -9, -1000, INT32_MIN / 2})
    EXPECT_STREQ(conversation.flaw_of(header(xid)), "an invalid answer") << xid;
  EXPECT_EQ(conversation.flaw_of(header(5)), nullptr) << "still outstanding";
}

TEST(ReplyValidator, EachPingCredentialAndSetOfWatchesIsAnsweredOnce) {
  constexpr auto unasked = "the server answered a request that was not sent";
  constexpr std::int32_t refused = -115;
  for (const std::int32_t xid : {-2, -4, -8}) {
    WireConversation conversation;
    conversation.note_request(number(5) + number(2));
    EXPECT_STREQ(conversation.flaw_of(header(xid)), unasked) << xid;
    conversation.note_request(number(xid) + number(100));
    conversation.note_request(number(xid) + number(100));
    EXPECT_EQ(conversation.flaw_of(header(xid)), nullptr) << xid;
    EXPECT_EQ(conversation.flaw_of(header(xid, refused)), nullptr) << xid;
    EXPECT_STREQ(conversation.flaw_of(header(xid, refused)), unasked) << xid;
  }
}

TEST(ReplyValidator, DuringSaslOnlyItsAnswerIsTaken) {
  constexpr std::int32_t sasl = 102;
  WireConversation conversation;
  const auto event = header(-1) + number(1) + number(3) + jute_text("/a");
  conversation.note_request(number(-2) + number(11));
  conversation.note_request(number(1) + number(sasl) + jute_text(""));
  EXPECT_STREQ(conversation.flaw_of(event), "an answer out of order");
  EXPECT_STREQ(conversation.flaw_of(header(-2)), "an answer out of order");
  EXPECT_EQ(conversation.flaw_of(header(1) + jute_text("token")), nullptr);
  EXPECT_EQ(conversation.flaw_of(event), nullptr);
}

TEST(ReplyValidator, EventsAreThoseOfServers) {
  WireConversation conversation;
  const auto event = [](std::int32_t type) {
    return header(-1) + number(type) + number(3) + jute_text("/a");
  };
  for (std::int32_t type = 1; type <= 7; ++type)
    EXPECT_EQ(conversation.flaw_of(event(type)), nullptr) << type;
  for (const std::int32_t type : {-1, -2, 0, 8, INT32_MAX})
    EXPECT_STREQ(conversation.flaw_of(event(type)), "an invalid event") << type;
}

TEST(ReplyValidator, AnEventAndTheLatestZxidAreTakenOut) {
  WireConversation conversation;
  const auto frame = [](std::int64_t zxid) {
    return number(-1) + number(zxid, 8) + number(0) + number(3) + number(3) + jute_text("/a");
  };
  conversation.flaw_of(frame(7));
  const auto event = conversation.take_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, 3);
  EXPECT_EQ(event->path, "/a");
  EXPECT_EQ(event->zxid, 7);
  EXPECT_FALSE(conversation.take_event());
  conversation.flaw_of(frame(-1));
  EXPECT_EQ(conversation.last_zxid(), 7);
}

TEST(ReplyValidator, ATransactionsAnswerHasItsParts) {
  const auto part = [](std::int32_t kind, bool done = false) {
    return number(kind) + number(done ? 1 : 0, 1) + number(done ? -1 : 0);
  };
  const auto acl = number(1) + number(31) + jute_text("world") + jute_text("anyone");
  const auto asked = part(1) + jute_text("/a") + jute_text("x") + acl + number(0) +  //
                     part(5) + jute_text("/b") + jute_text("y") + number(-1) +       //
                     part(13) + jute_text("/c") + number(3) + part(-1, true);
  const auto end = part(-1, true);
  const auto good = part(1) + jute_text("/a") + part(5) + stat + part(13);
  const auto failed = part(-1) + number(0) + part(-1) + number(-103) + part(-1) + number(-2);
  constexpr auto flaw = "an answer that does not match its transaction";
  EXPECT_EQ(said(14, good + end, asked), "");
  EXPECT_EQ(said(14, failed + end, asked), "");
  EXPECT_EQ(said(14, good, asked), flaw);
  EXPECT_EQ(said(14, part(1) + jute_text("/b") + part(5) + stat + part(13) + end, asked), flaw);
  EXPECT_EQ(
      said(14, part(1) + jute_text("/a") + part(5) + stat + part(-1) + number(-103) + end, asked),
      flaw)
      << "done in part";
  EXPECT_EQ(
      said(14, part(-1) + number(0) + part(-1) + number(0) + part(-1) + number(-2) + end, asked),
      flaw)
      << "no reason";
  EXPECT_EQ(said(14, good + part(13) + end, asked), flaw);
  EXPECT_EQ(said(14, part(1) + jute_text("/a") + end, asked), flaw);
  EXPECT_EQ(said(14, part(5) + stat + part(5) + stat + part(13) + end, asked), flaw);
}

TEST(ReplyValidator, GreetingsAreThoseOfZooKeeper) {
  const auto greeting = [](int length, int version, int timeout, std::int64_t session) {
    return number(length) + number(version) + number(timeout) + number(session, 8) + number(16) +
           std::string(17, 'p');
  };
  EXPECT_EQ(flaw_of_greeting(greeting(37, 0, 4000, 9), true), nullptr);
  EXPECT_EQ(flaw_of_greeting(greeting(36, 0, 4000, 9), true), nullptr) << "up to 3.3";
  EXPECT_EQ(flaw_of_greeting(greeting(37, 0, 0, 0), false), nullptr) << "the session is over";
  EXPECT_NE(flaw_of_greeting(greeting(37, 0, 0, 0), true), nullptr);
  EXPECT_NE(flaw_of_greeting(greeting(37, 0, -1, 9), true), nullptr);
  EXPECT_NE(flaw_of_greeting(greeting(37, 7, 4000, 9), true), nullptr);
  EXPECT_EQ(flaw_of_greeting(greeting(37, 0, (1 << 30) - 1, 9), true), nullptr);
  EXPECT_NE(flaw_of_greeting(greeting(37, 0, 1 << 30, 9), true), nullptr);
  EXPECT_EQ(flaw_of_greeting("HTT", true), nullptr) << "not enough to tell";
  EXPECT_NE(flaw_of_greeting("HTTP/1.1 400 Bad Request", true), nullptr);
  EXPECT_NE(flaw_of_greeting(greeting(37, 0, 4000, 0), true), nullptr) << "a session has a number";
  const auto wanted = [](std::int64_t session) {
    return session_request(number(0) + number(0, 8) + number(4000) + number(session, 8));
  };
  EXPECT_TRUE(wanted(0).fresh);
  EXPECT_FALSE(wanted(9).fresh);
  EXPECT_EQ(wanted(9).timeout_ms, 4000);
}

TEST(ReplyValidator, AGreetingSaysWhichTransactionWasSeenLast) {
  const std::string greeting(44, '\0');
  EXPECT_EQ(session_request(with_last_zxid(greeting, 0x100000002)).last_zxid, 0x100000002);
  EXPECT_EQ(with_last_zxid(with_last_zxid(greeting, 0x100000002), 0), greeting);
  EXPECT_EQ(with_last_zxid("cut off", 1), "cut off");
}

TEST(ReplyValidator, LengthsHaveBounds) {
  for (const int good : {16, 17, 1 << 20, (1 << 29) - 1})
    EXPECT_EQ(flaw_of_length(good), nullptr) << good;
  for (const int bad : {-1, 0, 15, 1 << 29, 0x7fffffff, 0x48545450 /* HTTP */})
    EXPECT_NE(flaw_of_length(bad), nullptr) << bad;
}

/// As a transaction of these operations on /a asks.
std::string transaction(std::int32_t xid, const std::vector<std::int32_t>& operations) {
  auto request = number(xid) + number(14);
  for (const auto operation : operations) {
    request += number(operation) + number(0, 1) + number(-1) + jute_text("/a");
    if (operation == 5) request += jute_text("data");
    request += number(-1);
  }
  return request + number(-1) + number(1, 1) + number(-1);
}

TEST(ReplyValidator, AConnectionIsGivenUpWhenACheckIsNotAnswered) {
  using namespace std::chrono_literals;
  constexpr std::int32_t set = 5;
  constexpr std::int32_t check = 13;
  WireConversation conversation;
  conversation.note_request(transaction(1, {check}));
  EXPECT_FALSE(conversation.give_up_at()) << "nobody asks for a lease";
  EXPECT_EQ(conversation.flaw_of(header(1, -101)), nullptr);

  conversation.tell(std::make_shared<SessionLease>(), nullptr, 16s, 16s, 1ms);
  conversation.note_request(transaction(2, {check, set}));
  conversation.note_request(number(3) + number(3));
  ASSERT_TRUE(conversation.give_up_at());
  EXPECT_GT(*conversation.give_up_at(), BootClock::now() + 10s) << "none only checks";
  const auto before = BootClock::now();
  conversation.note_request(transaction(4, {check, check}));
  const auto due = conversation.give_up_at();
  ASSERT_TRUE(due);
  EXPECT_GE(*due, before + 1s);
  EXPECT_LT(*due, before + 10s);
  conversation.note_request(transaction(5, {check}));
  EXPECT_EQ(conversation.give_up_at(), due) << "the first of them counts";
  EXPECT_EQ(conversation.flaw_of(header(2, -101)), nullptr);
  const auto answered = BootClock::now();
  EXPECT_EQ(conversation.flaw_of(header(3, -101)), nullptr);
  EXPECT_GE(conversation.give_up_at(), answered + 1s) << "answers come";
  EXPECT_EQ(conversation.flaw_of(header(4, -101)), nullptr);
  EXPECT_GE(conversation.give_up_at(), answered + 1s);
  EXPECT_EQ(conversation.flaw_of(header(5, -101)), nullptr);
  EXPECT_FALSE(conversation.give_up_at());
}

TEST(ReplyValidator, FarAwayACheckWaitsLonger) {
  using namespace std::chrono_literals;
  WireConversation conversation;
  conversation.tell(std::make_shared<SessionLease>(), nullptr, 16s, 16s, 3s);
  const auto before = BootClock::now();
  conversation.note_request(transaction(1, {13}));
  EXPECT_GE(conversation.give_up_at(), before + 4s) << "what the way takes, and a sixteenth";
  EXPECT_LT(conversation.give_up_at(), before + 10s);
}

TEST(ReplyValidator, AConnectionIsGivenUpWhenNoAnswerComes) {
  using namespace std::chrono_literals;
  constexpr auto get = 4;
  WireConversation conversation;
  conversation.tell(nullptr, nullptr, 30s, 20s, 1ms);
  const auto begin = BootClock::now();
  conversation.note_request(number(-2) + number(11));
  EXPECT_FALSE(conversation.give_up_at()) << "a ping";
  conversation.note_request(number(1) + number(get));
  const auto due = conversation.give_up_at();
  ASSERT_TRUE(due);
  EXPECT_GE(*due, begin + 20s);
  EXPECT_LE(*due, BootClock::now() + 20s);
  conversation.note_request(number(2) + number(get));
  EXPECT_EQ(conversation.flaw_of(header(-2)), nullptr);
  EXPECT_EQ(conversation.flaw_of(header(-1) + number(1) + number(3) + jute_text("/a")), nullptr);
  EXPECT_EQ(conversation.give_up_at(), due) << "a ping's answer, an event";
  EXPECT_FALSE(conversation.has_answered());
  EXPECT_EQ(conversation.flaw_of(header(1, -101)), nullptr);
  EXPECT_TRUE(conversation.has_answered());
  EXPECT_GT(conversation.give_up_at(), due) << "the next one's time begins";
  EXPECT_EQ(conversation.flaw_of(header(2, -101)), nullptr);
  EXPECT_FALSE(conversation.give_up_at());
}

TEST(ReplyValidator, AKilobyteOfAnAnswerProlongsTheWait) {
  using namespace std::chrono_literals;
  WireConversation conversation;
  conversation.tell(std::make_shared<SessionLease>(), nullptr, 16s, 16s, 1ms);
  conversation.note_request(number(1) + number(4));
  const auto due = conversation.give_up_at();
  ASSERT_TRUE(due);
  for (int i = 0; i < 1023; ++i) conversation.note_part(1);
  EXPECT_EQ(conversation.give_up_at(), due) << "a byte now and then";
  conversation.note_part(1);
  EXPECT_GT(conversation.give_up_at(), due);
  const auto later = conversation.give_up_at();
  conversation.note_part(1023);
  EXPECT_EQ(conversation.give_up_at(), later);
  conversation.note_request(transaction(2, {13}));
  const auto check = conversation.give_up_at();
  conversation.note_part(5000);
  EXPECT_EQ(conversation.give_up_at(), check) << "a lock's deadline stands";
}

TEST(ReplyValidator, MoreThanAMinuteIsWaitedWhereItWasAskedFor) {
  EXPECT_EQ(request_patience(30000, 4000).count(), 4000);
  EXPECT_EQ(request_patience(4000, 40000).count(), 40000);
  EXPECT_EQ(request_patience(30000, INT32_MAX).count(), 60000);
  EXPECT_EQ(request_patience(300000, 300000).count(), 300000);
}

}  // namespace
}  // namespace zksh
