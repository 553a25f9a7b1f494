// create: create a node.
#include "base/number.h"
#include "base/time.h"
#include "client/client.h"
#include "client/server_version.h"
#include "command/command.h"
#include "config/settings.h"
#include "node/acl_argument.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "node/value.h"

namespace zksh::command_create {
namespace {

// Servers keep a TTL in 40 bits (EphemeralType.TTL in ZooKeeper).
constexpr std::int64_t longest_ttl = 0xFF'FFFF'FFFF;

struct Args {
  bool sequential = false;
  bool ephemeral = false;
  bool container = false;
  bool parents = false;
  bool force = false;
  std::optional<std::string> ttl;
  std::string path;
  std::optional<std::string> data;
  std::optional<std::string> acl;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--sequential", a.sequential,
         "Sequential: append a ten-digit number that grows with each child.");
  o.flag("-e,--ephemeral", a.ephemeral, "Ephemeral: removed when this session ends.");
  o.flag("-c,--container", a.container,
         "Container: removed some time after its last child is gone.");
  o.flag("-p,--parents", a.parents,
         "Create missing parents, with null values, for anybody (world:anyone:cdrwa).");
  declare_force_acl(o, a.force);
  o.text("-t,--ttl", a.ttl,
         "Remove the node after this time without a write, if it has no children: 5s, 2m; a bare "
         "number is milliseconds.",
         "ttl");
  o.node("path", a.path, "The node to create; its parent must exist.");
  o.text("data", a.data, "The value; null by default. @FILE and - work as for set.");
  o.acl("acl", a.acl, "The ACL: scheme:id:perms, separated by commas; perms are letters of cdrwa.");
}

std::int64_t checked_ttl(const Context& cx, const Args& a) {
  if (a.container && (a.ephemeral || a.sequential))
    throw ValueError(
        "-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.");
  if (!a.ttl) return 0;
  std::int64_t ttl = 0;
  try {
    // A bare number is milliseconds, as in zkCli, which knows no units.
    if (cx.input == Input::Pipe || is_number(*a.ttl))
      ttl = parse_number(*a.ttl, "-t", std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max());
    else
      ttl = parse_duration(*a.ttl, "-t", std::chrono::milliseconds(1)).count();
  } catch (const UsageError&) {
    if (cx.input == Input::Terminal) throw;
    throw ValueError("-t argument must be a long value");
  }
  if (a.ephemeral) throw ValueError("TTLs cannot be used with Ephemeral znodes");
  if (a.container) throw ValueError("TTLs cannot be used with Container znodes");
  if (ttl <= 0 || ttl > longest_ttl)
    throw ValueError(
        fmt::format("ttl must be positive and cannot be larger than: {}", longest_ttl));
  return ttl;
}

/// Names the missing parent, for a person who reads that the node to be created does not exist.
/// Piped input, and a zksh in the place of zkCli, get zkCli's words.
void name_missing_parent(const Context& cx, const ZkError& error) {
  const bool as_zkcli = cx.input == Input::Pipe || cx.services.settings.drop_in;
  if (error.code() != code::no_node || as_zkcli || cx.out.json()) return;
  const ZkError missing(error.code(), std::string(parent_path(error.path())));
  if (missing.path() == "/") throw ZkError(missing);  // the chroot is missing: -p would not help
  throw ZkError(missing, " (`create -p` creates the parents, too)");
}

Acl checked_acl(Context& cx, const Args& a) {
  try {
    return acl_argument(cx, *a.acl, a.path, a.force);
  } catch (const ZkError& error) {
    if (a.acl->find(':') != std::string::npos || cx.input == Input::Pipe) throw;
    throw ZkError(error, "; quote a value that contains blanks");
  }
}

CreateOp checked(Context& cx, const Args& a) {
  CreateOp op;
  op.ttl = checked_ttl(cx, a);
  op.sequential = a.sequential;
  if (a.ephemeral) op.mode = CreateMode::Ephemeral;
  if (a.container) op.mode = CreateMode::Container;
  if (a.acl) op.acl = checked_acl(cx, a);
  op.path = cx.resolve(a.path, a.sequential);
  refuse_sealed(cx, op.acl, op.path, a.force);
  if (a.data) op.data = value_of(cx, *a.data);
  return op;
}

template <class Body>
auto explaining(Context& cx, Body&& body) {
  try {
    return body();
  } catch (const ZkError& error) {
    // What zkCli prints before the error itself.
    if (error.code() == code::invalid_acl)
      cx.out.err_line("KeeperErrorCode = InvalidACL{}",
                      error.path() == "null" ? "" : " for " + error.path());
    if (error.code() == code::ephemeral_on_local_session)
      cx.out.err_line("Unable to create ephemeral node on a local session");
    name_missing_parent(cx, error);
    throw;
  }
}

/// The answer to the creation; `op` may have lost its value of `bytes` bytes by now.
Created answer(Context& cx, const Pending<Created>& pending, const CreateOp& op,
               std::size_t bytes) {
  try {
    return cx.client.written(pending, op.path, bytes, cx.stop);
  } catch (const ZkError& error) {
    if (error.code() == code::unimplemented && op.ttl > 0 && cx.input != Input::Pipe)
      throw ZkError(without_extended_types(error));
    throw ZkError(explained_acl(cx, error, op.acl));
  }
}

int finish(Context& cx, const NewParents& parents, const Pending<Created>& pending,
           const CreateOp& op, std::size_t bytes) {
  return explaining(cx, [&] {
    await_parents(cx.client, parents, cx.stop);
    const auto created = answer(cx, pending, op, bytes);
    if (cx.out.json())
      print_json(cx, path_json(created.path));
    else if (cx.out.plain())
      cx.out.line("{}", cx.out.shown(created.path));
    else
      cx.out.err_line("Created {}", cx.out.shown_in_error(created.path));
    return status::ok;
  });
}

Sent run(Context& cx, const Args& a) {
  return explaining(cx, [&] {
    auto op = checked(cx, a);
    if (!fits_multi(op))
      require_newer(cx.client, op.path, a.container ? "containers" : "nodes with a TTL", cx.stop);
    const auto parents = a.parents ? start_parents(cx.client, op.path, cx.stop) : NewParents();
    cx.client.await_connection(op.path, cx.stop);
    const auto pending = cx.client.start_create(op);
    const auto bytes = op.data.value_or("").size();
    op.data.reset();  // many may be in flight
    return Sent(op.path, pending, [&cx, parents, pending, op, bytes] {
      return finish(cx, parents, pending, op, bytes);
    });
  });
}

Op operation(Context& cx, const Args& a) {
  if (a.parents)
    throw ValueError(
        "-p cannot be used in a transaction; create each parent with an operation of its own");
  auto op = checked(cx, a);
  if (!fits_multi(op))
    throw ValueError(fmt::format("a node with {} cannot be created in a transaction",
                                 a.container ? "-c" : "a TTL"));
  return op;
}

}  // namespace

extern const Command create_command = make_command<Args>(
    {.name = "create",
     .group = "Nodes",
     .summary = "Create a node",
     .keywords = {"make", "mkdir", "TTL", "expire", "ephemeral", "sequential", "container"},
     .details =
         "Creates a node; its parent must exist. Prints `Created` and the path on stderr, "
         "as zkCli does. With -o plain the path goes to stdout, so that a script can read "
         "the name of a sequential node.\n\nThe ACL is that of the node alone. Its parent's ACL "
         "decides who may delete it, and parents that -p creates are open to anybody. An ACL that "
         "nobody could change any more (no entry with a) is refused without --force.",
     .examples = {{"create /app hello", "Create a node with a value."},
                  {"create -e /app/me $'host=a\\npid=7'",
                   "An ephemeral node, removed when this session ends."},
                  {"create -p /app/by/the/way", "Create missing parents, too."},
                  {"create -s /app/job- x", "A sequential node, such as /app/job-0000000000."},
                  {"create /app/notice x world:anyone:ra",
                   "A node that everybody may read, and open to writers again (a)."}},
     .json = "path",
     .zkcli_syntax = "[-s] [-e] [-c] [-t ttl] path [data] [acl]",
     .writes = true},
    declare, run, operation);
}  // namespace zksh::command_create
