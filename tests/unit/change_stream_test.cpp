// ChangeStream: reports of live changes, and of those hidden by a gap.
#include "client/change_stream.h"

#include "fake_client.h"
#include "tree/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <thread>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string value_text(const std::optional<Data>& value) {
  if (!value) return "?";
  return *value ? **value : "null";
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + ",";
  return text;
}

std::string text_of(const NodeChange& change) {
  const std::string missed = change.missed ? " missed" : "";
  switch (change.type) {
    case NodeChange::Type::Present:
      return "present " + change.path + " " + value_text(change.new_value) + missed;
    case NodeChange::Type::Created:
      return "created " + change.path + " " + value_text(change.new_value) + missed;
    case NodeChange::Type::Changed:
      return "changed " + change.path + " " + value_text(change.old_value) + " " +
             value_text(change.new_value) + missed;
    case NodeChange::Type::Deleted:
      return "deleted " + change.path + " " + value_text(change.old_value) + missed;
    case NodeChange::Type::Children:
      return "children " + change.path + " +" + joined(change.added) + " -" +
             joined(change.removed) + missed;
    case NodeChange::Type::Gap:
      break;
  }
  return change.expired ? "gap expired" : "gap";
}

class ChangeStreamTest : public testing::Test {
 protected:
  ChangeStreamTest() { fake.serve_persistent_watches(); }

  void create(const std::string& path, const Data& data = "1",
              CreateMode mode = CreateMode::Persistent) {
    other.create({.path = path, .data = data, .mode = mode}, {});
  }
  void set(const std::string& path, const Data& data) {
    other.set({.path = path, .data = data}, {});
  }
  void remove(const std::string& path) { other.remove({.path = path}, {}); }

  std::vector<std::string> begin(std::vector<std::string> paths, bool recursive = true) {
    stream.emplace(fake, ChangeStream::Options{.paths = std::move(paths),
                                               .recursive = recursive,
                                               .values = true,
                                               .survey = survey_subtree});
    return texts(stream->begin({}));
  }
  std::vector<std::string> next() { return texts(stream->next({})); }

  static std::vector<std::string> texts(const std::vector<NodeChange>& changes) {
    std::vector<std::string> all;
    all.reserve(changes.size());
    for (const auto& change : changes) all.push_back(text_of(change));
    return all;
  }

  FakeTree server;
  FakeClient fake{server};
  FakeClient other{server};
  std::optional<ChangeStream> stream;
};

TEST_F(ChangeStreamTest, ANodeWhoseStatMayNotBeReadIsAnError) {
  create("/a");
  fake.fail_request(1, FakeClient::When::BeforeItIsApplied, code::no_auth);
  try {
    begin({"/a"});
    FAIL();
  } catch (const ZkError& error) {
    EXPECT_EQ(error.code(), code::no_auth);
    EXPECT_EQ(error.path(), "/a");
  }
}

TEST_F(ChangeStreamTest, BeginsWithWhatIsThere) {
  create("/a");
  create("/a/c", std::nullopt);
  create("/a/b", "");
  EXPECT_THAT(begin({"/a", "/missing"}),
              ElementsAre("present /a 1", "present /a/b ", "present /a/c null"));
}

TEST_F(ChangeStreamTest, TellsOldAndNewValues) {
  create("/a");
  begin({"/a"});
  create("/a/b");
  EXPECT_THAT(next(), ElementsAre("created /a/b 1"));
  set("/a/b", "2");
  EXPECT_THAT(next(), ElementsAre("changed /a/b 1 2"));
  remove("/a/b");
  EXPECT_THAT(next(), ElementsAre("deleted /a/b 2"));
}

TEST_F(ChangeStreamTest, SeveralWritesBetweenTwoLooksAreOneChange) {
  create("/a");
  begin({"/a"});
  set("/a", "2");
  set("/a", "3");
  const auto changes = stream->next({});
  ASSERT_THAT(texts(changes), ElementsAre("changed /a 1 3"));
  EXPECT_EQ(changes[0].before->version, 0);
  EXPECT_EQ(changes[0].after->version, 2);
}

TEST_F(ChangeStreamTest, AWriteToTheSameValueIsAChange) {
  create("/a");
  begin({"/a"});
  set("/a", "1");
  EXPECT_THAT(next(), ElementsAre("changed /a 1 1"));
}

TEST_F(ChangeStreamTest, ANodeThatIsThereAgainIsAnotherOne) {
  create("/a");
  begin({"/a"});
  remove("/a");
  create("/a", "new");
  EXPECT_THAT(next(), ElementsAre("deleted /a 1", "created /a new"));
}

TEST_F(ChangeStreamTest, AMissingNodesCreationIsAnEvent) {
  EXPECT_THAT(begin({"/a"}), IsEmpty());
  create("/a");
  EXPECT_THAT(next(), ElementsAre("created /a 1"));
}

TEST_F(ChangeStreamTest, ListsNameWhoCameAndWent) {
  create("/a");
  create("/a/x");
  begin({"/a"}, false);
  create("/a/y");
  remove("/a/x");
  EXPECT_THAT(next(), ElementsAre("children /a +y, -x,"));
  set("/a/y", "2");
  set("/a", "2");
  EXPECT_THAT(next(), ElementsAre("changed /a 1 2"));
}

TEST_F(ChangeStreamTest, TheChildrenOfADeletedNodeWentBefore) {
  create("/a");
  create("/a/x");
  create("/a/y");
  begin({"/a"}, false);
  remove("/a/x");
  remove("/a/y");
  remove("/a");
  EXPECT_THAT(next(), ElementsAre("children /a + -x,y,", "deleted /a 1"));
}

TEST_F(ChangeStreamTest, AfterALostConnectionItTellsWhatWasMissed) {
  create("/a");
  create("/a/gone");
  create("/a/same");
  create("/a/other");
  begin({"/a"});
  fake.disconnect();
  set("/a", "2");
  remove("/a/gone");
  remove("/a/other");
  create("/a/other", "new");
  create("/a/new", "e", CreateMode::Ephemeral);
  fake.reconnect();
  const auto told = next();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), "gap");
  EXPECT_THAT(told, UnorderedElementsAre("gap", "changed /a 1 2 missed", "deleted /a/gone 1 missed",
                                         "deleted /a/other 1 missed", "created /a/other new missed",
                                         "created /a/new e missed"));
  set("/a/new", "f");
  EXPECT_THAT(next(), ElementsAre("changed /a/new e f"));
}

TEST_F(ChangeStreamTest, AnOutageThatIsTooLongForASurveyDoesNotEndIt) {
  create("/a");
  int surveys = 0;
  stream.emplace(
      fake, ChangeStream::Options{.paths = {"/a"},
                                  .recursive = true,
                                  .values = true,
                                  .survey = [&](Client& client, const std::string& path,
                                                MissedChanges& found, const std::stop_token& stop) {
                                    ++surveys;
                                    if (surveys == 3) fake.disconnect();
                                    if (surveys == 2 || surveys == 3)
                                      throw ZkError(code::connection_loss, path);
                                    survey_subtree(client, path, found, stop);
                                  }});
  stream->begin({});
  fake.disconnect();
  set("/a", "2");
  fake.reconnect();
  EXPECT_THAT(next(), ElementsAre("gap"));  // the second survey fails, and the third loses it again
  fake.reconnect();
  EXPECT_THAT(next(), ElementsAre("gap", "changed /a 1 2 missed"));
  EXPECT_EQ(surveys, 4);
}

TEST_F(ChangeStreamTest, AGapWithoutAChangeIsToldAllTheSame) {
  create("/a");
  begin({"/a"});
  fake.disconnect();
  fake.reconnect();
  EXPECT_THAT(next(), ElementsAre("gap"));
}

TEST_F(ChangeStreamTest, AnExpiredSessionIsReplacedAndItsEphemeralsAreGone) {
  create("/a");
  fake.create({.path = "/a/mine", .data = "1", .mode = CreateMode::Ephemeral}, {});
  begin({"/a"}, false);
  fake.expire();
  EXPECT_THAT(next(), ElementsAre("gap expired", "children /a + -mine, missed"));
  set("/a", "2");
  EXPECT_THAT(next(), ElementsAre("changed /a 1 2"));
}

TEST_F(ChangeStreamTest, AClosedSessionEndsIt) {
  create("/a");
  begin({"/a"});
  fake.close();
  EXPECT_THROW(next(), ZkError);
}

TEST_F(ChangeStreamTest, ALossWhileItBeginsMakesNothingNew) {
  for (std::size_t request = 1; request <= 8; ++request) {
    stream.reset();
    FakeTree fresh;
    FakeClient client(fresh);
    FakeClient writer(fresh);
    for (const auto* const path : {"/a", "/a/b"}) writer.create({.path = path, .data = "1"}, {});
    client.lose(request, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfConnection);
    const std::jthread back([&](const std::stop_token& stop) {
      const auto lost = [&](const Monitor::Held& held) {
        return client.state(held) == SessionState::Connecting;
      };
      if (fresh.monitor().wait(stop, lost)) client.reconnect();
    });
    client.serve_persistent_watches();
    ChangeStream one(
        client, {.paths = {"/a"}, .recursive = true, .values = true, .survey = survey_subtree});
    EXPECT_THAT(texts(one.begin({})), ElementsAre("present /a 1", "present /a/b 1")) << request;
    writer.set({.path = "/a/b", .data = "2"}, {});
    auto changes = texts(one.next({}));
    std::erase(changes, "gap");
    if (changes.empty()) changes = texts(one.next({}));
    EXPECT_THAT(changes, ElementsAre(testing::StartsWith("changed /a/b 1 2"))) << request;
  }
}

TEST_F(ChangeStreamTest, ALossWhileItReadsLosesNothing) {
  create("/a");
  create("/a/b");
  begin({"/a"});
  set("/a/b", "2");
  // Each of the requests that the change leads to, in turn.
  for (std::size_t number = 1; number <= 3; ++number) {
    SCOPED_TRACE(number);
    fake.lose(number, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfConnection);
    set("/a/b", std::to_string(number + 10));
    std::vector<std::string> told;
    const std::jthread helper([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        fake.reconnect();
        std::this_thread::yield();
      }
    });
    const auto wanted = " " + std::to_string(number + 10);
    const auto has_it = [&] {
      return std::ranges::any_of(told, [&](const std::string& text) {
        return text.starts_with("changed /a/b") && text.find(wanted) != std::string::npos;
      });
    };
    while (!has_it())
      for (auto& text : next()) told.push_back(std::move(text));
  }
}

}  // namespace
}  // namespace zksh
