// dump: write a subtree as lines of text that apply and diff read.
#include "base/number.h"
#include "command/command.h"
#include "command/work.h"
#include "tree/live_tree.h"
#include "tree/tree_apply.h"
#include "tree/tree_text.h"
#include "txnlog/past_tree.h"
#include "txnlog/replay.h"
#include "txnlog/transaction_reader.h"

#include <algorithm>

namespace zksh::command_dump {
namespace {

struct Args {
  WorkOptions limits;
  std::vector<std::string> places;
  std::optional<std::string> at;
  std::string path;
};

void declare(Options& o, Args& a) {
  declare_work_limits(o, a.limits);
  o.files(
      "--in", a.places,
      "Dump from a server's files instead: its dataDir or dataLogDir, or a copy of them. May be "
      "given several times. No server is asked.",
      "dir");
  o.text(
      "--at", a.at,
      "With --in: the tree as it was at this time (\"2026-11-25 03:10\", -2h, milliseconds since "
      "1970) or zxid (0x300000005, or EPOCH:COUNTER); by default the newest.",
      "time|zxid");
  o.node("path", a.path, "The top of the subtree.");
}

/// The line of a record, as apply and diff read it. Throws Error if it would be too long.
std::string restorable_line(TreeFormat format, const TreeRecord& record, const std::string& path) {
  constexpr auto longest = TreeReader::longest_line;
  auto line = record.data && record.data->size() > longest ? "" : tree_line(format, record);
  if (line.empty() || line.size() > longest)
    throw Error(
        fmt::format("cannot dump {}: its value has {} bytes, and a line of a dump at most {} MiB",
                    path, record.data ? record.data->size() : 0, longest >> 20U));
  return line;
}

/// Writes the lines of the nodes that `next` returns. `check`, unless null, may refuse one.
void dump_records(Context& cx, const std::string& top,
                  void (*check)(const FoundNode&, const std::string& path),
                  const std::function<std::optional<FoundNode>()>& next) {
  constexpr std::size_t chunk = 64U << 10U;
  const auto format = cx.out.json() ? TreeFormat::JsonLines : TreeFormat::Text;
  Progress progress(cx.out, cx.background, "nodes");
  std::size_t ephemerals = 0;
  auto text = tree_header(format, top);
  while (auto node = next()) {
    progress.advance();
    auto& record = node->record;
    const bool ephemeral = record.life.kind == NodeKind::Ephemeral;
    if (ephemeral && !record.path.empty()) {
      ++ephemerals;
      continue;
    }
    const auto path = path_below(top, record.path);
    if (check) check(*node, path);
    if (ephemeral) record.life.kind = NodeKind::Persistent;  // as in a copy
    text += restorable_line(format, record, path);
    if (text.size() < chunk) continue;
    progress.give_way();
    cx.out.out(text);
    text.clear();
  }
  text += tree_end(format, ephemerals);
  progress.end();
  cx.out.out(text);
  if (ephemerals > 0) cx.out.err_line("{} left out", counted_were(ephemerals, "ephemeral node"));
}

/// The last deletion of a node up to `until`, unless it was created again: "/a was deleted by
/// 0x2335, 2026-…, of session 0x…; before:0x2335 still has it". nullopt also if the logs do not
/// reach back to it.
std::optional<std::string> deletion_text(const DataFiles& files, const std::string& path,
                                         std::int64_t until, const std::stop_token& stop) {
  std::optional<std::string> found;
  SessionEnds ends(files, stop);
  TransactionReader reader(files, INT64_MIN, {});
  LoggedTransaction txn;
  const auto deleted = [&](std::string_view how) {
    const auto zxid = zxid_text(txn.zxid);
    return fmt::format("{} was deleted by {}, {}, {} session {}; before:{} still has it", path,
                       zxid, local_time_text(txn.time), how, session_text(txn.session), zxid);
  };
  while (reader.next(txn) && txn.zxid <= until) {
    if (stop.stop_requested()) throw Cancelled();
    const auto ended = ends.ephemerals(txn);
    for (const auto& op : txn.operations) {
      if (op.path != path) continue;
      if (op.creates()) found.reset();
      if (op.deletes()) found = deleted("of");
    }
    if (std::ranges::find(ended, path) != ended.end()) found = deleted("the end of");
  }
  return found;
}

/// Dumps from a server's files.
int dump_past(Context& cx, const Args& a, const std::string& top) {
  const DataFiles files(a.places, cx.stop);
  const auto moment = a.at ? parse_moment(*a.at, "--at") : Moment();
  Progress reading(cx.out, cx.background, "bytes read");
  const auto past = replay(
      files,
      {.until = zxid_at(files, moment, cx.stop),
       .stop = cx.stop,
       .progress = [&](std::uint64_t bytes, std::uint64_t total) { reading.reach(bytes, total); },
       .skipped =
           [&](const std::string& text) {
             reading.end();
             cx.out.err_line("{}", cx.out.shown_in_error(text));
           }});
  reading.end();
  if (const auto text = end_text(past, moment)) cx.out.err_line("{}", *text);
  const auto doubt = doubt_text(past);
  if (doubt) cx.out.err_line("{}", cx.out.shown_in_error(*doubt));
  if (!past.tree.find(top))
    if (const auto gone = deletion_text(files, top, past.zxid, cx.stop))
      throw Error(*gone, status::no_node, top);
  PastRecords records(past.tree, top);
  if (doubt && !cx.out.json()) cx.out.line("# fuzzy: {}", escaped_field(*doubt));
  dump_records(cx, top, nullptr, [&] { return records.next(); });
  return doubt ? status::failure : status::ok;
}

int run(Context& cx, const Args& a) {
  const auto top = cx.resolve(a.path);
  if (!a.places.empty()) return dump_past(cx, a, top);
  if (a.at) throw SyntaxError("--at needs --in: servers know the present only");
  LiveTree tree(cx.client, {.top = top, .limits = a.limits.limits()}, cx.stop);
  dump_records(cx, top, require_whole, [&] { return tree.next(); });
  return status::ok;
}

}  // namespace

extern const Command dump_command = make_command<Args>(
    {.name = "dump",
     .group = "Trees",
     .summary = "Dump a subtree as text, for `apply` and `diff`",
     .keywords = {"backup", "export", "save", "snapshot", "migrate", "mirror", "replicate",
                  "undelete"},
     .details = "Writes a line for each node: its path below the top, kind (persistent, container, "
                "ttl=MILLISECONDS), ACL, data, and quota if it has one, separated by tabs. Data is "
                "null, a quoted string, or base64:… if it is not UTF-8. zksh-tree(5) describes the "
                "format. With -o json each line is a JSON object instead. Parents come before "
                "their children, and siblings are sorted by bytes, so equal subtrees give equal "
                "dumps.\n\nEphemeral nodes below the top are left out and counted, and so is "
                "/zookeeper below /; if the top itself is ephemeral, it is dumped as persistent. "
                "Servers do not tell clients whether a node is a container or has a TTL, so such a "
                "node may be dumped as persistent. If a node may not be read, or the servers hide "
                "the hashes of an ACL, dump fails and the output lacks its last line. A dump is "
                "not a snapshot: changes made meanwhile may or may not be in it.",
     .examples = {{"dump /app > app.tree", "Save a subtree to a file."},
                  {"dump /app | grep world:anyone", "Find the nodes that everybody may change."}},
     .json = "format version path | path kind acl data [ttl] [quota] | end [ephemeralsLeftOut]",
     .json_fields = {{"end", "boolean", "Marks the last line of a complete dump."},
                     {"ephemeralsLeftOut", "integer", "Ephemeral nodes that the dump leaves out."},
                     {"format", "string", "Always zksh-tree."},
                     {"quota", "PlainQuota",
                      "The quota of a dumped node: the limits that are set."},
                     {"version", "integer", "The version of the format: 1."}},
     .pages = true},
    declare, run);
}  // namespace zksh::command_dump
