// NodeFailures: a command on several nodes reports what fails, and goes on.
#include "node/node_failures.h"

#include "command/report.h"
#include "node/quota.h"
#include "node/remedy.h"

#include <algorithm>
#include <array>

namespace zksh {

bool NodeFailures::is_about_one_node(int code) {
  constexpr std::array all{code::no_node,       code::no_auth,     code::not_empty,
                           code::bad_version,   code::node_exists, code::no_children_for_ephemerals,
                           code::quota_exceeded};
  return std::ranges::find(all, code) != all.end();
}

void NodeFailures::report(const ZkError& error) {
  report_error(cx_.out, explained(error));
  note(error.exit_status());
}

ZkError NodeFailures::explained(const ZkError& error) {
  if (cx_.input == Input::Pipe) return error;
  ZkError known =
      explained_quota(cx_.client, missing_chroot_.explained(cx_.client, error, cx_.stop), cx_.stop);
  return cx_.input == Input::Terminal ? with_remedy(cx_.client, known, cx_.out.command(), cx_.stop)
                                      : known;
}

int each_node(Context& cx, const std::vector<std::string>& paths,
              const std::function<int(const std::string& path)>& work) {
  NodeFailures failures(cx);
  for (const auto& path : paths) {
    cx.out.set_node(path);
    failures.during([&] { failures.note(work(path)); });
  }
  return failures.first();
}

}  // namespace zksh
