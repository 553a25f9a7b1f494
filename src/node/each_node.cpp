// EachNode: which failures are about one node, and telling them.
#include "node/each_node.h"

#include "command/report.h"

namespace zksh {

bool NodeFailures::is_about_one_node(int code) {
  switch (code) {
    case code::no_node:
    case code::no_auth:
    case code::not_empty:
    case code::bad_version:
    case code::node_exists:
    case code::no_children_for_ephemerals:
    case code::quota_exceeded:
      return true;
    default:
      return false;
  }
}

void NodeFailures::tell(const ZkError& error) {
  report_error(cx_.out, cx_.input == Input::Pipe
                            ? error
                            : missing_chroot_.explained(cx_.client, error, cx_.stop));
  note(error.exit_status());
}

int each_node(Context& cx, const std::vector<std::string>& paths,
              const std::function<int(const std::string& path)>& work) {
  NodeFailures failures(cx);
  for (const auto& path : paths) failures.during([&] { failures.note(work(path)); });
  return failures.first();
}

}  // namespace zksh
