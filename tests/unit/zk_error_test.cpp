// Error texts: expects those of CliWrapperException and KeeperException of ZooKeeper 3.8.0.
#include "client/client.h"

#include <gtest/gtest.h>

#include <array>

namespace zksh {
namespace {

struct ErrorRow {
  int code;
  int exit_status;
  const char* text;  ///< for the path /p
};

constexpr auto rows = std::to_array<ErrorRow>({
    {-1, status::server_refused, "KeeperErrorCode = SystemError for /p"},
    {-2, status::server_refused, "KeeperErrorCode = RuntimeInconsistency for /p"},
    {-3, status::server_refused, "KeeperErrorCode = DataInconsistency for /p"},
    {-4, status::no_connection, "KeeperErrorCode = ConnectionLoss for /p"},
    {-5, status::server_refused, "KeeperErrorCode = MarshallingError for /p"},
    {-6, status::server_refused, "KeeperErrorCode = Unimplemented for /p"},
    {-7, status::no_connection, "KeeperErrorCode = OperationTimeout for /p"},
    {-8, status::server_refused, "Arguments are not valid : /p"},
    {-9, status::session_expired, "KeeperErrorCode = Session expired for /p"},
    {-13, status::server_refused,
     "No quorum of new config is connected and up-to-date with the leader of last committed "
     "config "
     "- try invoking reconfiguration after new servers are connected and synced"},
    {-14, status::server_refused,
     "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)"},
    {-100, status::server_refused, "KeeperErrorCode = APIError for /p"},
    {-101, status::no_node, "Node does not exist: /p"},
    {-102, status::not_authorised, "Insufficient permission : /p"},
    {-103, status::bad_version, "version No is not valid : /p"},
    {-108, status::has_children, "Ephemerals cannot have children: /p"},
    {-110, status::node_exists, "Node already exists: /p"},
    {-111, status::has_children, "Node not empty: /p"},
    {-112, status::session_expired, "KeeperErrorCode = Session expired for /p"},
    {-113, status::failure, "KeeperErrorCode = Invalid callback for /p"},
    {-114, status::not_authorised, "Acl is not valid : /p"},
    {-115, status::not_authorised, "KeeperErrorCode = AuthFailed for /p"},
    {-116, status::session_expired, "KeeperErrorCode = Session expired for /p"},
    {-118, status::session_expired, "KeeperErrorCode = Session moved for /p"},
    {-119, status::read_only, "Not a read-only call: /p"},
    {-120, status::server_refused, "KeeperErrorCode = Ephemeral node on local session for /p"},
    {-121, status::failure, "KeeperErrorCode = No such watcher for /p"},
    {-122, status::no_connection, "KeeperErrorCode = Unknown error REQUESTTIMEOUT for /p"},
    {-123, status::server_refused, "KeeperErrorCode = Reconfig is disabled for /p"},
    {-124, status::not_authorised,
     "KeeperErrorCode = Session closed because client failed to authenticate for /p"},
    {-125, status::server_refused, "Quota has exceeded : /p"},
    {-127, status::server_refused, "KeeperErrorCode = Op throttled due to high load for /p"},
    {-999, status::server_refused, "KeeperErrorCode = Unknown error -999 for /p"},
});

TEST(ErrorText, EveryCodeHasZkClisTextAndAnExitStatus) {
  for (const auto& row : rows) {
    EXPECT_EQ(error_text(row.code, "/p"), row.text);
    EXPECT_EQ(exit_status_of(row.code), row.exit_status) << row.text;
    const ZkError error(row.code, "/p");
    EXPECT_STREQ(error.what(), row.text);
    EXPECT_EQ(error.exit_status(), row.exit_status);
    EXPECT_FALSE(error.outcome_unknown());
  }
  EXPECT_EQ(exit_status_of(code::ok), status::ok);
}

TEST(ErrorText, WithoutAPathThereIsNoFor) {
  EXPECT_EQ(error_text(code::reconfig_disabled, ""), "KeeperErrorCode = Reconfig is disabled");
  EXPECT_EQ(error_text(code::no_auth, ""), "Insufficient permission : ");
}

TEST(ZkError, AWriteWithoutAnAnswerHasAnUnknownOutcome) {
  for (const int lost :
       {code::connection_loss, code::operation_timeout, code::request_timeout, code::closing}) {
    const ZkError error(lost, "/p", true);
    EXPECT_TRUE(error.outcome_unknown());
    EXPECT_EQ(error.exit_status(), status::outcome_unknown);
    const std::string message = error.what();
    const auto second_line = error_text(lost, "/p") + "\noutcome unknown: ";
    EXPECT_EQ(message.substr(0, second_line.size()), second_line);
    EXPECT_NE(message.find("`stat /p`", second_line.size()), std::string::npos);
  }
}

TEST(ZkError, ARefusedWriteHasAKnownOutcome) {
  const ZkError error(code::bad_version, "/p", true);
  EXPECT_FALSE(error.outcome_unknown());
  EXPECT_EQ(error.exit_status(), status::bad_version);
  EXPECT_STREQ(error.what(), "version No is not valid : /p");
}

TEST(ZkError, AWriteThatIsTooLargeForAServerIsRefusedAndSaysSo) {
  const ZkError error(code::connection_loss, "/p", true, usual_request_limit);
  EXPECT_EQ(error.exit_status(), status::server_refused);
  EXPECT_TRUE(error.outcome_unknown());
  EXPECT_NE(std::string(error.what()).find("jute.maxbuffer"), std::string::npos);
  const ZkError small(code::connection_loss, "/p", true, usual_request_limit - 1000);
  EXPECT_EQ(small.exit_status(), status::outcome_unknown);
  EXPECT_EQ(ZkError(code::no_node, "/p", true, usual_request_limit).exit_status(), status::no_node);
}

TEST(ZkError, ARemedyComesBehindTheText) {
  const ZkError error(ZkError(code::no_node, "/p"), " (make it)");
  EXPECT_STREQ(error.what(), "Node does not exist: /p (make it)");
  EXPECT_EQ(error.path(), "/p");
  EXPECT_EQ(error.exit_status(), status::no_node);
}

TEST(ZkError, AnUnknownOutcomeWithoutAPathNamesNoEmptyOne) {
  const std::string message = ZkError(code::connection_loss, "", true).what();
  EXPECT_EQ(message.find("`stat"), std::string::npos);
  EXPECT_NE(message.find("\noutcome unknown: "), std::string::npos);
}

TEST(OpenAcl, IsWorldAnyoneWithEveryPermission) {
  EXPECT_EQ(open_acl(), (Acl{{.perms = 31, .scheme = "world", .id = "anyone"}}));
}

}  // namespace
}  // namespace zksh
