// set: set a node's value.
#include "base/byte_text.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/listing.h"
#include "node/node_json.h"
#include "node/value.h"

namespace zksh::command_set {
namespace {

struct Args {
  bool stat = false;
  bool base64 = false;
  std::optional<std::string> version;
  std::optional<std::string> if_value;
  std::string path;
  bool null = false;
  std::optional<std::string> data;
  std::optional<std::int32_t> legacy_version;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's new Stat.");
  o.text("-v,--version", a.version, "Write only if this is the data version; -1 matches any.",
         "version");
  o.text("--if-value", a.if_value,
         "Write only if this is the current value; otherwise the status is 1.", "value");
  o.flag("-b,--base64", a.base64, "Decode the data from base64.");
  o.flag("--null", a.null, "Write null, which is no value, instead of data.");
  o.node("path", a.path, "The node to write.");
  o.text("data", a.data, "The new value; @FILE reads a file, - standard input.");
  o.legacy().number("version", a.legacy_version, "", "The same as -v.");
}

Data bytes_of(const Context& cx, const Args& a) {
  if (a.null) return std::nullopt;
  auto data = value_of(cx, *a.data);
  if (!a.base64) return data;
  auto decoded = decode_base64(data);
  if (!decoded) throw ValueError("the data is not base64: " + data.substr(0, 40));
  return decoded;
}

SetOp set_op(const Context& cx, const Args& a) {
  // As in zkCli, the usage comes before the error of an invalid version.
  if (!a.null && !a.data && cx.input == Input::Terminal)
    throw UsageError("the new value is missing; \"\" is an empty one, and --null is none");
  if (!a.null && !a.data) throw SyntaxError("too few arguments: path data expected");
  if (a.null && a.data) throw UsageError("--null stands for the data; leave one of them out");
  return {.path = cx.resolve(a.path),
          .data = bytes_of(cx, a),
          .version = expected_version(cx, a.version, a.legacy_version)};
}

Op operation(Context& cx, const Args& a) {
  if (a.if_value) throw ValueError("--if-value cannot be used in a transaction; use -v");
  return set_op(cx, a);
}

int print(Context& cx, bool with_stat, const std::string& path, const Stat& stat) {
  if (cx.out.json())
    print_json(cx, path_json(path).set("stat", stat_json(stat)));
  else if (with_stat || prints_as_34(cx))
    print_stat(cx, stat);
  return status::ok;
}

Sent run(Context& cx, const Args& a) {
  const auto op = set_op(cx, a);
  if (a.if_value) {
    if (a.version || a.legacy_version) throw UsageError("-v and --if-value cannot be combined");
    const auto write_if = [&, expected = value_of(cx, *a.if_value)](const Node& node) {
      return node.data == expected ? std::optional<Data>(op.data) : std::nullopt;
    };
    const auto stat = change_value(cx.client, op.path, write_if, cx.stop);
    if (!stat) throw Error(op.path + " does not have the value given with --if-value");
    return print(cx, a.stat, op.path, *stat);
  }
  cx.client.await_connection(op.path, cx.stop);
  const auto pending = cx.client.start_set(op);
  return {op.path, pending,
          [&cx, pending, stat = a.stat, path = op.path, bytes = op.data.value_or("").size()] {
            return print(cx, stat, path, cx.client.written(pending, path, bytes, cx.stop));
          }};
}

}  // namespace

extern const Command set_command = make_command<Args>(
    {.name = "set",
     .group = "Nodes",
     .summary = "Set the value of a node",
     .keywords = {"write", "put", "update", "value"},
     .details =
         "Prints nothing on success. With -v the write fails if somebody else has written since "
         "that version. Null, an empty value and the text null are three different things. To "
         "write any bytes, use $'…' with \\xHH escapes, @FILE, or --base64.",
     .examples = {{"set /app/config on", "Write a value."},
                  {"set -v 1 /app/config off", "Write only if the version is still 1."},
                  {"set --null /app/config", "No value, as after `create /app/config`."},
                  {"set /app/config $'two\\nlines'", "A value with a line break."}},
     .json = "path stat",
     .zkcli_syntax = "[-s] [-v version] path data",
     .writes = true},
    declare, run, operation);
}  // namespace zksh::command_set
