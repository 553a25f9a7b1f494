// get: print the value of a node.
#include "base/byte_text.h"
#include "base/named_values.h"
#include "base/zlib.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/listing.h"
#include "node/node_json.h"

namespace zksh::command_get {
namespace {

/// How values are compressed; Auto detects it.
enum class Decoding { Gzip, Zlib, Auto };
constexpr NamedValues<Decoding, 3> decodings{
    {{"gzip", Decoding::Gzip}, {"zlib", Decoding::Zlib}, {"auto", Decoding::Auto}}};

struct Args {
  bool stat = false;
  bool human = false;
  bool watch = false;
  bool base64 = false;
  bool hexdump = false;
  bool raw = false;
  std::optional<Decoding> decoding;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's Stat below the value.");
  o.flag("-h,--human", a.human, "With -s: show ages, sizes and owners beside the fields.");
  o.flag("-w,--watch", a.watch, "Report the next change of the node.");
  o.flag("-b,--base64", a.base64, "Print the value in base64, on one line.");
  o.flag("-x,--hex", a.hexdump, "Print the value as a hex dump; overrides -b.");
  o.flag("--raw", a.raw, "Print the bytes and nothing else, even on a terminal.");
  o.choice("--decode", a.decoding, decodings, "compression",
           "Decompress the value first: gzip or zlib; auto: what it is, if it is one of them.");
  o.nodes("path", a.paths, "The nodes to read.");
}

/// Prints the value, including its final newline, piece by piece. `alone`: nothing follows it, so
/// plain output is the bytes and nothing else.
void print_text(Context& cx, const Args& a, Data data, bool alone) {
  const bool bare = a.raw || cx.out.plain();
  const bool coded = (a.hexdump || a.base64) && (data || !bare);
  auto value = std::move(data).value_or(bare ? "" : "null");
  if (!coded && (!bare || (!alone && !a.raw))) value += '\n';
  if (!coded && (a.raw || !cx.out.style().out_is_terminal)) return cx.out.out(value);
  constexpr std::size_t enough = 1U << 20U;
  std::string text;
  const auto add = [&](std::string_view piece) {
    text += piece;
    if (text.size() >= enough) cx.out.out(std::exchange(text, {}));
  };
  if (a.hexdump)
    hex_dump(value, add);
  else if (a.base64)
    encode_base64(value, add);
  else
    in_pieces(value, [&](std::string_view piece) { add(escape_for_terminal(piece, true)); });
  cx.out.out(coded ? text + '\n' : text);
}

/// By the first bytes: RFC 1952 and RFC 1950.
std::optional<Compression> compression_of(const std::string& data) {
  if (data.starts_with(gzip_magic)) return Compression::Gzip;
  if (data.size() < 2) return std::nullopt;
  constexpr unsigned deflate = 8;
  const auto first = static_cast<unsigned char>(data[0]);
  const auto second = static_cast<unsigned char>(data[1]);
  const bool is_zlib = (first & 0x0fU) == deflate && (first >> 4U) < deflate &&
                       (second & 0x20U) == 0 && (first * 256U + second) % 31 == 0;
  return is_zlib ? std::optional(Compression::Zlib) : std::nullopt;
}

/// The data, decompressed if they are compressed.
Data unpacked(Data data) {
  const auto compression = compression_of(*data);
  if (!compression) return data;
  try {
    return inflated(*data, *compression);
  } catch (const Error&) {
    if (*compression == Compression::Gzip) throw;
    return data;  // a text may begin like zlib's data
  }
}

/// Throws Error naming the node.
Data decoded(const Args& a, const std::string& path, Data data) {
  if (!a.decoding || !data || data->empty()) return data;
  try {
    if (*a.decoding == Decoding::Auto) return unpacked(std::move(data));
    return inflated(*data, *a.decoding == Decoding::Gzip ? Compression::Gzip : Compression::Zlib);
  } catch (const Error& error) {
    const auto* const name = *a.decoding == Decoding::Zlib ? "zlib" : "gzip";
    throw Error(
        fmt::format("the value of {} cannot be decoded as {}: {}", path, name, error.what()));
  }
}

constexpr DeprecatedForm old_form{"get path [watch]", "get [-s] [-w] path"};

Sent run(Context& cx, const Args& a) {
  if (a.raw && (a.base64 || a.hexdump))
    throw UsageError("--raw prints the bytes as they are; it cannot be combined with -b and -x");
  const auto given = node_words(cx, a.paths, is_watch_word, &old_form);
  const auto watch = cx.printed_watch(a.watch || given.legacy);
  const auto start = [&cx, watch](const std::string& path) {
    return cx.client.start_get(path, watch);
  };
  const auto print = [&cx, a, alone = given.paths.size() == 1](const std::string& path, Node node) {
    auto data = decoded(a, path, std::move(node.data));
    if (cx.out.json()) {
      auto json = json_line(cx, path);
      json.set_text("data", data);
      if (a.stat) json.set("stat", stat_json(node.stat));
      return json.end();
    }
    print_text(cx, a, std::move(data), alone && !a.stat);
    if (a.stat || prints_as_34(cx)) print_stat(cx, node.stat, a.human);
  };
  return read_each(cx, given.paths, start, print);
}

}  // namespace

extern const Command get_command = make_command<Args>(
    {.name = "get",
     .group = "Nodes",
     .summary = "Print the value of a node",
     .keywords = {"read", "cat", "value"},
     .details = "Prints the value and a newline; a null value prints as null, as in zkCli, which "
                "with -b and -x means the encoded word. With -o plain exactly the bytes are "
                "written, nothing for a null value; a newline follows each of several values. "
                "With -o json, null is null, and a value that "
                "is not UTF-8 is {\"base64\": …}. On a terminal, control characters are escaped in "
                "every format except with --raw. --decode is for compressed values, such as "
                "Curator can write; with auto, other values are printed as they are. A last word "
                "watch, true or 1 is zkCli 3.4's form of -w.",
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
