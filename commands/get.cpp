// get: print the value of a node.
#include "base/byte_text.h"
#include "base/inflate.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/listing.h"
#include "node/node_json.h"

namespace zksh::command_get {
namespace {

struct Args {
  bool stat = false;
  bool human = false;
  bool watch = false;
  bool base64 = false;
  bool hexdump = false;
  bool raw = false;
  std::optional<Compression> compression;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's Stat below the value.");
  o.flag("-h,--human", a.human, "With -s: show ages, sizes and owners beside the fields.");
  o.flag("-w,--watch", a.watch, "Report the next change of the node.");
  o.flag("-b,--base64", a.base64, "Print the value in base64, on one line.");
  o.flag("-x", a.hexdump, "Print the value as a hex dump; overrides -b.");
  o.flag("--raw", a.raw, "Print the bytes and nothing else, even on a terminal.");
  o.choice("--decode", a.compression, compressions, "compression", "Decompress the value first.");
  o.nodes("path", a.paths, "The nodes to read.");
}

/// The value as printed, including its final newline.
std::string value_text(const Context& cx, const Args& a, Data data) {
  if (a.hexdump) return hex_dump(std::move(data).value_or("null")) + '\n';
  if (a.base64) return encode_base64(std::move(data).value_or("null")) + '\n';
  if (a.raw) return std::move(data).value_or("");
  if (cx.out.plain()) return cx.out.shown_lines(std::move(data).value_or(""));
  return cx.out.shown_lines(std::move(data).value_or("null")) + '\n';
}

/// Throws Error naming the node.
Data decoded(const Args& a, const std::string& path, Data data) {
  if (!a.compression || !data || data->empty()) return data;
  try {
    return inflated(*data, *a.compression);
  } catch (const Error& error) {
    const auto* const name = *a.compression == Compression::Gzip ? "gzip" : "zlib";
    throw Error(
        fmt::format("the value of {} cannot be decoded as {}: {}", path, name, error.what()));
  }
}

void print_value(Context& cx, const Args& a, const std::string& path, Node node) {
  auto data = decoded(a, path, std::move(node.data));
  if (cx.out.json()) {
    auto json = path_json(path);
    json.set("data", data_json(data));
    if (a.stat) json.set("stat", stat_json(node.stat));
    return print_json(cx, json);
  }
  cx.out.out(value_text(cx, a, std::move(data)));
  if (a.stat || prints_as_34(cx)) print_stat(cx, node.stat, a.human);
}

constexpr DeprecatedForm old_form{"get path [watch]", "get [-s] [-w] path"};

Sent run(Context& cx, const Args& a) {
  const auto given = node_words(cx, a.paths, means_watch, &old_form);
  const auto watch = cx.printed_watch(a.watch || given.legacy);
  if (given.paths.size() != 1)
    return print_each(
        cx, given.paths,
        [&](const std::string& path) { return cx.client.get(path, watch, cx.stop); },
        [&](const std::string& path, const Node& node) { print_value(cx, a, path, node); });
  const auto& path = given.paths.front();
  cx.client.await_connection(path, cx.stop);
  const auto pending = cx.client.start_get(path, watch);
  return {path, pending, [&cx, a, path, pending] {
            print_value(cx, a, path, cx.client.answer_of(pending, path, cx.stop));
            return status::ok;
          }};
}

}  // namespace

extern const Command get_command = make_command<Args>(
    {.name = "get",
     .group = "Nodes",
     .summary = "Print the value of a node",
     .keywords = {"read", "cat", "value"},
     .details = "Prints the value and a newline; a null value prints as null, as in zkCli. With -o "
                "plain exactly the bytes are written. With -o json, null is null, and a value that "
                "is not UTF-8 is {\"base64\": …}. On a terminal, control characters are escaped in "
                "every format except with --raw. --decode is for compressed values, such as "
                "Curator can write. A last word watch, true or 1 is zkCli 3.4's form of -w.",
     .examples = {{"get /zookeeper", "The value."},
                  {"get -s /zookeeper", "The value and the Stat."},
                  {"get -x /zookeeper", "The value as a hex dump."},
                  {"get --decode gzip /zookeeper",
                   "Decompress the value; an empty value stays empty."}},
     .json = "path data [stat]",
     .zkcli_syntax = "[-s] [-w] path",
     .pages = true},
    declare, run);
}  // namespace zksh::command_get
