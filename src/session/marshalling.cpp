// Marshalling: writes the bodies of newer requests, and reads their answers.
#include "session/marshalling.h"

#include "client/node_path.h"

#include <array>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t size_of_part_header = 9;  // type, done, code

void add_part_header(std::string& to, std::int32_t type, bool done) {
  add_number(to, type);
  to += static_cast<char>(done);
  add_number(to, -1);
}

void add_read(std::string& to, std::int32_t type, const std::string& path) {
  add_part_header(to, type, false);
  add_text(to, path);
  to += '\0';  // without a watch
}

bool reads_names(const ReadOp& op) {
  return op.what == ReadOp::What::Names || op.what == ReadOp::What::Listing;
}

/// Takes a part of an answer; returns its code.
template <class Take>
int take_part(AnswerReader& from, Take&& take) {
  const auto type = from.number();
  from.flag();
  from.number();
  if (type == operation::failed) return from.number();
  take();
  return code::ok;
}

}  // namespace

std::string path_request(const std::string& chroot, const std::string& path) {
  std::string body;
  add_text(body, whole_path(chroot, path));
  return body;
}

std::string add_watch_request(const std::string& chroot, const std::string& path, WatchMode mode) {
  auto body = path_request(chroot, path);
  add_number(body, mode == WatchMode::Recursive ? 1 : 0);
  return body;
}

std::string remove_watches_request(const std::string& chroot, const std::string& path) {
  constexpr std::int32_t any = 3;
  auto body = path_request(chroot, path);
  add_number(body, any);
  return body;
}

std::string watching_request(const std::string& chroot, const std::string& path) {
  return path_request(chroot, path) + '\1';
}

std::vector<std::string> split_watches(std::string_view request) {
  constexpr std::size_t most_bytes = 128UL * 1024;
  constexpr std::size_t size_of_head = 4 + 4 + 8;  // xid, operation, last zxid
  std::vector<std::string> parts;
  if (request.size() <= most_bytes) return parts;  // so is each part
  AnswerReader from(request);
  from.skip(4);
  if (from.number() != operation::set_watches) return parts;
  from.skip(8);
  struct List {
    std::int32_t count = 0;
    std::string paths{};
  };
  std::array<List, 3> lists;  // of nodes, of missing nodes, of children
  std::size_t bytes = 0;
  const auto finish_part = [&] {
    std::string part(request.substr(0, size_of_head));
    for (auto& [count, paths] : lists) {
      add_number(part, count);
      part += paths;
    }
    parts.push_back(std::move(part));
    lists = {};
    bytes = 0;
  };
  for (auto& list : lists)
    from.list([&] {
      const auto path = from.text();
      if (bytes > 0 && bytes + path.size() > most_bytes / 2) finish_part();
      ++list.count;
      add_text(list.paths, path);
      bytes += 4 + path.size();
    });
  if (bytes > 0) finish_part();
  return from.broken() ? std::vector<std::string>() : parts;
}

std::vector<std::string> ephemerals_in(std::string_view answer, const std::string& chroot) {
  AnswerReader from(answer);
  std::vector<std::string> paths;
  from.list([&] {
    const auto path = from.text();
    if (!path.starts_with(chroot)) return;
    const auto below = path.substr(chroot.size());
    // A neighbour of the chroot may begin with its name.
    if (below.starts_with('/')) paths.emplace_back(below);
  });
  return paths;
}

std::int64_t number_in(std::string_view answer) { return AnswerReader(answer).number(); }

std::vector<Identity> identities_in(std::string_view answer) {
  AnswerReader from(answer);
  std::vector<Identity> all;
  from.list(
      [&] { all.push_back({.scheme = std::string(from.text()), .id = std::string(from.text())}); });
  return all;
}

std::size_t multi_read::size_of(const ReadOp& op) {
  const auto one = size_of_part_header + 4 + op.path.size() + 1;
  return op.what == ReadOp::What::Listing ? 2 * one : one;
}

std::string multi_read::request(const std::string& chroot, const std::vector<ReadOp>& ops) {
  std::string body;
  std::size_t size = size_of_part_header;
  for (const auto& op : ops) size += size_of(op) + 2 * chroot.size();
  body.reserve(size);
  for (const auto& op : ops) {
    const auto path = whole_path(chroot, op.path);
    if (op.what != ReadOp::What::Names) add_read(body, operation::get, path);
    if (reads_names(op)) add_read(body, operation::children, path);
  }
  add_part_header(body, -1, true);
  return body;
}

std::vector<ReadResult> multi_read::results(std::string_view answer,
                                            const std::vector<ReadOp>& ops) {
  AnswerReader from(answer);
  std::vector<ReadResult> results;
  results.reserve(ops.size());
  for (const auto& op : ops) {
    auto& result = results.emplace_back();
    if (op.what != ReadOp::What::Names)
      result.code = take_part(from, [&] {
        const auto bytes = from.data();
        if (bytes && op.what == ReadOp::What::Value) result.data = std::string(*bytes);
        result.stat = from.stat();
      });
    if (!reads_names(op)) continue;
    const int code = take_part(
        from, [&] { from.names([&](std::string_view name) { result.names.add(name); }); });
    if (result.code == code::ok) result.code = code;
  }
  return results;
}

}  // namespace zksh
