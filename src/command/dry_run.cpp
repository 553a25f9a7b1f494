// DryRun: runs a command with --dry-run, which lists its writes instead of sending them.
#include "command/dry_run.h"

#include "base/json.h"
#include "base/words.h"

#include <algorithm>
#include <utility>

namespace zksh {

void print_rehearsed(Output& out, const WriteDescription& what) {
  const auto& [verb, path, detail, order] = what;
  if (out.json()) {
    const auto json = Json::object()
                          .set("would", verb)
                          .set("path", path)
                          .set("detail", Json::text_or_null(detail));
    out.out(json.text() + '\n');
    return;
  }
  // For a program that would be run, `path` is its command line.
  const bool is_path = path.starts_with('/');
  out.line("would {} {}{}", verb, is_path && !out.plain() ? as_word(path) : out.shown(path),
           detail.empty() ? "" : " (" + out.shown(detail) + ")");
}

DryRun::DryRun(Client& client, Output& out, std::stop_token stop)
    : out_(out),
      silence_(out.silent(std::move(stop))),
      rehearsal_(client, [this](const Monitor::Held& held, const WriteDescription& what) {
        notes_(held).push_back(what);
      }) {
  silence_.begin_command(out.command());
}

void DryRun::report() {
  auto notes = rehearsal_.monitor().with_lock(
      [&](const Monitor::Held& held) { return std::exchange(notes_(held), {}); });
  std::ranges::stable_sort(notes, {}, &WriteDescription::order);
  out_.set_format(silence_.style().format);  // the format that the command chose
  for (const auto& what : notes) print_rehearsed(out_, what);
  if (notes.empty() && !out_.json()) out_.err_line("nothing would be written");
}

}  // namespace zksh
