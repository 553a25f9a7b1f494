// setAcl: say who may do what with a node.
#include "acl_argument.h"
#include "command.h"
#include "listing.h"
#include "walk.h"

#include <deque>

namespace zksh {
namespace {

struct Args {
  bool stat = false;
  std::optional<std::int32_t> version;
  bool recursive = false;
  std::string path;
  std::string acl;
  std::optional<std::int32_t> legacy_version;
};

void declare(Options& o, Args& a) {
  o.flag("-s", a.stat, "Print the node's new Stat; not with -R.");
  o.number("-v", a.version, "version", "Set it only if this is the aclVersion; -1: any.");
  o.flag("-R", a.recursive, "Set it on every node of the subtree.");
  o.node("path", a.path, "The node.");
  o.acl("acl", a.acl,
        "Who may do what: scheme:id:perms, separated by commas; perms are letters of cdrwa.");
  o.legacy().number("version", a.legacy_version, "", "As -v.");
}

/// Sets the same ACL on one node after the other, without waiting for each, and tells what failed.
class AclWriter {
 public:
  AclWriter(Context& cx, const Acl& acl, std::int32_t version)
      : cx_(cx), acl_(acl), version_(version) {}

  void write(const std::string& path) {
    constexpr std::size_t most_in_flight = 256;
    if (sent_.size() == most_in_flight) take_answer();
    sent_.push_back({path, cx_.client.start_set_acl(path, acl_, version_)});
  }
  void finish() {
    while (!sent_.empty()) take_answer();
  }
  /// Of the first failure.
  int exit_status() const { return exit_status_; }

 private:
  struct Request {
    std::string path;
    Pending<Nothing> answer;
  };

  void take_answer() {
    const auto request = std::move(sent_.front());
    sent_.pop_front();
    const int code = cx_.client.await(request.answer, cx_.stop).code;
    if (code == code::ok) return;
    cx_.out.line("{}", cx_.out.shown(keeper_message(code, request.path)));
    if (exit_status_ == status::ok) exit_status_ = ZkError(code, request.path, true).exit_status();
  }

  Context& cx_;
  const Acl& acl_;
  std::int32_t version_;
  std::deque<Request> sent_;
  int exit_status_ = status::ok;
};

int set_subtree(Context& cx, const std::string& path, const Acl& acl, std::int32_t version) {
  AclWriter writer(cx, acl, version);
  try {
    visit_subtree(
        cx.client, path, Watch::none(), [&](const std::string& node) { writer.write(node); },
        cx.stop);
  } catch (const ZkError&) {
    writer.finish();  // what happened before is told before
    throw;
  }
  writer.finish();
  return writer.exit_status();
}

int run(Context& cx, const Args& a) {
  const auto acl = acl_argument(cx, a.acl);
  const auto path = cx.resolve(a.path);
  if (a.recursive && acl.empty())
    cx.client.get(path, Watch::none(), cx.stop);  // no node goes first
  refuse_empty(acl);
  const auto version = a.version ? *a.version : a.legacy_version.value_or(-1);
  if (a.recursive) return set_subtree(cx, path, acl, version);
  if (a.stat)
    print_stat(cx, cx.client.set_acl(path, acl, version, cx.stop));
  else
    cx.client.set_acl(path, acl, version, cx.stop);
  return status::ok;
}

}  // namespace

extern const Command setAcl_command = make_command<Args>(
    {.name = "setAcl",
     .group = "Access",
     .summary = "Say who may do what with a node",
     .details =
         "Replaces the whole ACL; silent when it worked. The permissions are c create children, d "
         "delete children, r read, w write, a set the ACL. Schemes: world:anyone; ip:ADDRESS or "
         "ip:ADDRESS/BITS; digest:USER:HASH; auth:: stands for whoever this session is (addauth). "
         "A part that cannot be read is told and left out. -R goes through the subtree as ls -R "
         "does; a node where it fails is told, and the others are done.",
     .examples = {{"create /app", "A node that all may do anything with."},
                  {"setAcl /app world:anyone:cdrwa", "Say so again."},
                  {"setAcl -v 1 /app world:anyone:cdrwa,ip:10.0.0.0/8:r",
                   "Only if the ACL was set once since the node was made."},
                  {"setAcl -R /app world:anyone:cdra", "None may write, in the whole subtree."}},
     .zkcli_syntax = "[-s] [-v version] [-R] path acl",
     .writes = true},
    declare, run);
}  // namespace zksh
