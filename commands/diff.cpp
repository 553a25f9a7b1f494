// diff: compare two subtrees, on servers or in files.
#include "base/json.h"
#include "base/number.h"
#include "base/words.h"
#include "client/client.h"
#include "client/connect_string.h"
#include "command/command.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/live_tree.h"
#include "tree/tree_apply.h"
#include "tree/tree_record.h"
#include "tree/tree_text.h"

#include <algorithm>

namespace zksh::command_diff {
namespace {

struct TreeDifference {
  enum class Kind { OnlyInA, OnlyInB, InLife, InAcl, InQuota, InData };
  Kind kind = Kind::InData;
  std::string path{};  ///< relative to the tops; "/" for the tops themselves
  std::string a{};     ///< the first side's value, as a field of a dump; for data, an excerpt
  std::string b{};
  std::optional<std::size_t> at{};       ///< for data on both sides: the first byte that differs
  std::optional<std::size_t> a_bytes{};  ///< of data that are not null
  std::optional<std::size_t> b_bytes{};
};

using Kind = TreeDifference::Kind;

constexpr std::size_t excerpt_bytes = 24;

/// Whether the byte continues a character in UTF-8.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::string shown_path(const std::string& path) { return path.empty() ? "/" : path; }

/// A part of the data from a position on, as in a dump.
std::string excerpt(const Data& data, std::size_t from) {
  if (!data) return "null";
  auto end = std::min(data->size(), from + excerpt_bytes);
  // Does not cut a character.
  while (end < data->size() && end > from + excerpt_bytes - 4 && continues((*data)[end])) --end;
  return fmt::format("{}\"{}\"{}", from > 0 ? "…" : "",
                     escaped_field(std::string_view(*data).substr(from, end - from)),
                     end < data->size() ? "…" : "");
}

TreeDifference data_difference(const TreeRecord& a, const TreeRecord& b) {
  TreeDifference difference{.kind = Kind::InData, .path = shown_path(a.path)};
  std::size_t at = 0;
  if (a.data && b.data) {
    at = static_cast<std::size_t>(std::ranges::mismatch(*a.data, *b.data).in1 - a.data->begin());
    difference.at = at;
  }
  if (a.data) difference.a_bytes = a.data->size();
  if (b.data) difference.b_bytes = b.data->size();
  // A few equal bytes show where it is.
  constexpr std::size_t before = 6;
  auto from = at > before ? at - before : 0;
  while (from > 0 && a.data && continues((*a.data)[from])) --from;
  difference.a = excerpt(a.data, from);
  difference.b = excerpt(b.data, from);
  return difference;
}

void compare(const TreeRecord& a, const TreeRecord& b,
             const std::function<void(const TreeDifference&)>& report) {
  const auto path = shown_path(a.path);
  if (!agree(a.life, b.life))
    report({.kind = Kind::InLife, .path = path, .a = life_text(a.life), .b = life_text(b.life)});
  if (a.acl != b.acl)
    report({.kind = Kind::InAcl, .path = path, .a = acl_field(a.acl), .b = acl_field(b.acl)});
  if (a.limits != b.limits)
    report({.kind = Kind::InQuota,
            .path = path,
            .a = limits_text(a.limits),
            .b = limits_text(b.limits)});
  if (a.data != b.data) report(data_difference(a, b));
}

std::string size_note(const std::optional<std::size_t>& bytes) {
  return bytes ? counted(*bytes, "byte") + ' ' : "";
}

constexpr NamedValues<Kind, 6> difference_names{{{"onlyInA", Kind::OnlyInA},
                                                 {"onlyInB", Kind::OnlyInB},
                                                 {"kind", Kind::InLife},
                                                 {"acl", Kind::InAcl},
                                                 {"quota", Kind::InQuota},
                                                 {"data", Kind::InData}}};

/// A line for people, without a newline: "< /a", "> /b", "! /c  data: …".
std::string difference_text(const TreeDifference& difference) {
  const auto path = escaped_field(difference.path);
  switch (difference.kind) {
    case Kind::OnlyInA:
      return "< " + path;
    case Kind::OnlyInB:
      return "> " + path;
    case Kind::InData:
      return fmt::format("! {}\tdata: {}{} | {}{}{}", path, size_note(difference.a_bytes),
                         difference.a, size_note(difference.b_bytes), difference.b,
                         difference.at ? fmt::format(" (from byte {} on)", *difference.at) : "");
    default:
      return fmt::format("! {}\t{}: {} | {}", path, name_of(difference_names, difference.kind),
                         difference.a.empty() ? "none" : difference.a,
                         difference.b.empty() ? "none" : difference.b);
  }
}

struct Args {
  WorkOptions limits;
  std::string a;
  std::string b;
};

void declare(Options& o, Args& a) {
  declare_work_limits(o, a.limits);
  o.text("A", a.a, "A node (/…), another server's (HOST:PORT/… or zk://…), or a file (@…, or -).");
  o.text("B", a.b, "The same.");
}

/// One of the two trees, as a source of records.
class Side {
 public:
  Side(Context& cx, const std::string& word, const WorkLimits& limits) {
    if (word.starts_with('/')) {
      const auto path = cx.resolve(word);
      if (!cx.client.exists(path, Watch::none(), cx.stop) && access(word.c_str(), R_OK) == 0)
        throw Error(
            fmt::format("Node does not exist: {} (to name the file, use @{})", path, as_word(word)),
            status::no_node);
      read_tree(cx, cx.client, path, limits);
    } else if (const auto other = server_node(word)) {
      connect(cx, other->hosts);
      read_tree(cx, *client_, other->path, limits);
    } else {
      file_ = open_tree(cx, word.starts_with('@') ? word.substr(1) : word);
    }
  }

  /// The next record, in the order of stands_before; nullopt at the end.
  std::optional<TreeRecord> next() {
    if (file_) return file_->next();
    while (auto node = tree_->next()) {
      if (node->record.life.kind == NodeKind::Ephemeral && !node->record.path.empty()) {
        ++ephemerals_;
        continue;
      }
      require_whole(*node, path_below(top_, node->record.path));
      return std::move(node->record);
    }
    return std::nullopt;
  }
  std::size_t ephemerals() const { return ephemerals_; }

 private:
  void read_tree(Context& cx, Client& client, const std::string& top, const WorkLimits& limits) {
    check_path(top);
    top_ = top;
    tree_ =
        std::make_unique<LiveTree>(client, LiveTree::Plan{.top = top, .limits = limits}, cx.stop);
  }

  void connect(Context& cx, const std::string& hosts) {
    client_ = cx.client.another();
    client_->open(hosts);
    try {
      client_->await_connection("", cx.stop);
    } catch (const ZkError& error) {
      throw Error("no connection to " + client_->connection_problem(), error.exit_status());
    }
  }

  std::string top_{};
  std::unique_ptr<Client> client_{};  ///< for another server
  std::unique_ptr<LiveTree> tree_{};
  std::optional<TreeReader> file_{};
  std::size_t ephemerals_ = 0;
};

Json difference_json(const TreeDifference& difference) {
  auto json = Json::object();
  json.set("path", difference.path).set("difference", name_of(difference_names, difference.kind));
  if (difference.kind == Kind::OnlyInA || difference.kind == Kind::OnlyInB) return json;
  const bool data = difference.kind == Kind::InData;
  json.set("a", data && !difference.a_bytes ? Json() : Json(difference.a))
      .set("b", data && !difference.b_bytes ? Json() : Json(difference.b));
  if (data)
    json.set("aBytes", difference.a_bytes)
        .set("bBytes", difference.b_bytes)
        .set("at", difference.at);
  return json;
}

/// Reports every difference, in the order of the nodes. Keeps one record of each side in memory.
void compare_trees(Side& left, Side& right, Progress& progress,
                   const std::function<void(const TreeDifference&)>& report) {
  auto a = left.next();
  auto b = right.next();
  while (a || b) {
    const bool only_in_a = a && (!b || stands_before(a->path, b->path));
    const bool only_in_b = b && (!a || stands_before(b->path, a->path));
    if (only_in_a)
      report({.kind = Kind::OnlyInA, .path = shown_path(a->path)});
    else if (only_in_b)
      report({.kind = Kind::OnlyInB, .path = shown_path(b->path)});
    else
      compare(*a, *b, report);
    if (!only_in_b) a = left.next();
    if (!only_in_a) b = right.next();
    progress.advance();
  }
}

int run(Context& cx, const Args& a) {
  if (a.a == "-" && a.b == "-") throw ValueError("only one of the two can be standard input");
  const auto limits = a.limits.limits();
  Side left(cx, a.a, limits);
  Side right(cx, a.b, limits);
  Progress progress(cx.out, cx.background, "nodes");
  bool same = true;
  compare_trees(left, right, progress, [&](const TreeDifference& difference) {
    same = false;
    progress.give_way();
    print_result(cx, difference_json(difference), difference_text(difference));
  });
  progress.end();
  if (const auto count = left.ephemerals() + right.ephemerals(); count > 0)
    cx.out.err_line("{} not compared", counted_were(count, "ephemeral node"));
  return same ? status::ok : status::failure;
}

}  // namespace

extern const Command diff_command = make_command<Args>(
    {.name = "diff",
     .group = "Trees",
     .summary = "Compare two subtrees, of servers or in files",
     .keywords = {"compare", "difference", "mirror", "replicate"},
     .details =
         "Compares the data, ACLs, quotas and (if known) kinds of all nodes below A and B; "
         "versions and times are ignored, and so are ephemeral nodes below A and B. Prints one "
         "line per difference: `<` for a path that only A has, `>` for a path that only B has, `!` "
         "for a node that differs, with A's value before B's; long data is shown from the first "
         "difference on. The status is 0 if the trees are equal, 1 if they differ, and another if "
         "they could not be compared, as where the servers hide the hashes of an ACL.\n\nA and B "
         "are each a node of this server (/app), a node of another one (HOST:PORT/app or "
         "zk://HOST:PORT,HOST:PORT/app), or a file that `dump` wrote (app.tree; @/tmp/app.tree if "
         "the name begins with a slash; - for standard input). Other servers get the credentials "
         "of --auth-file, but not those of `addauth`.",
     .examples = {{"diff /app /app", "Prints nothing: they are equal."},
                  {"dump /app > app.tree", "Save a subtree to a file."},
                  {"diff app.tree /app", "Show what has changed since."}},
     .json = "path difference [a] [b] [aBytes] [bBytes] [at]",
     .json_fields =
         {{"a", "string?",
           "The value in the first tree, as text; may be truncated; null: a null value."},
          {"aBytes", "integer?", "The length of the value in the first tree."},
          {"at", "integer?",
           "The position of the first byte that differs; null if a value is null."},
          {"b", "string?",
           "The value in the second tree, as text; may be truncated; null: a null value."},
          {"bBytes", "integer?", "The length of the value in the second tree."},
          {"difference", "string", "What differs: onlyInA, onlyInB, data, acl, quota or kind."}},
     .pages = true},
    declare, run);

}  // namespace zksh::command_diff
