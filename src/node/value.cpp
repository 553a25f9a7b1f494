// Value: values from arguments, safe changes of values, and editing them as files.
#include "node/value.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/process_setup.h"
#include "base/scratch_directory.h"
#include "base/text.h"
#include "client/client.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t longest_name = 100;

/// Writes a file that has just been created, or could not be (errno).
void write_new(const Fd& file, std::string_view bytes, const std::string& name) {
  if (!file) throw Error(fmt::format("cannot create {}: {}", name, std::strerror(errno)));
  if (const int problem = FdWriter(file.get(), {}).write(bytes); problem != 0)
    throw Error(fmt::format("cannot write {}: {}", name, std::strerror(problem)));
}

}  // namespace

std::string value_of(const Context& cx, const std::string& argument) {
  if (cx.input == Input::Pipe || argument.empty()) return argument;
  if (argument == "-" && cx.input != Input::Terminal)
    return read_all(cx.data_input(), "standard input");
  if (argument.front() != '@') return argument;
  const auto name = argument.substr(1);
  return name.starts_with('@') ? name : read_file(name);
}

std::optional<Stat> change_value(Client& client, const std::string& path,
                                 const std::function<std::optional<Data>(const Node&)>& decide,
                                 const std::stop_token& stop, std::optional<Node> read) {
  while (true) {
    const auto node =
        read ? *std::exchange(read, std::nullopt) : client.get(path, Watch::none(), stop);
    const auto wanted = decide(node);
    if (!wanted) return std::nullopt;
    try {
      return client.set({.path = path, .data = *wanted, .version = node.stat.version}, stop);
    } catch (const ZkError& error) {
      if (error.code() != code::bad_version) throw;
    }
  }
}

std::string value_file_name(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  if (name.size() > longest_name) name.erase(0, name.size() - longest_name);
  for (auto& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '-' &&
        letter != '_')
      letter = '_';
  // Avoids hidden files, options and directories.
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "value");
  return name;
}

std::string edited_value(std::string_view old_value, std::string file) {
  if (!old_value.ends_with('\n') && file.ends_with('\n')) file.pop_back();
  return file;
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && is_utf8(bytes);
}

void write_private_file(const std::string& name, std::string_view bytes) {
  write_new(Fd(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), bytes, name);
}

std::string keep_value(std::string_view path, std::string_view bytes) {
  const std::filesystem::path directory = environment("TMPDIR", "/tmp");
  std::string name =
      std::filesystem::absolute(directory) / ("zksh-" + value_file_name(path) + ".XXXXXX");
  write_new(Fd(mkostemp(name.data(), O_CLOEXEC)), bytes, name);  // 0600
  return name;
}

std::optional<std::string> chosen_editor() {
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    const char* const editor = std::getenv(variable);
    if (editor && std::string_view(editor).find_first_not_of(" \t") != std::string_view::npos)
      return editor;
  }
  return std::nullopt;
}

std::string editor_command() {
  if (auto chosen = chosen_editor()) return std::move(*chosen);
  for (const char* editor : {"editor", "nano", "vi"})
    if (is_program(editor)) return editor;
  throw Error(
      "no editor found: $VISUAL and $EDITOR are not set, and editor, nano and vi are not installed",
      status::program_not_found);
}

std::vector<std::string> editor_words(const std::string& command, const std::string& file) {
  // Runs the editor directly if possible, so that only the editor gets signals.
  if (command.find_first_of("|&;<>()$`\\\"'\n*?[#~=%{}") != std::string::npos) {
    // Ctrl-C reaches the shell too; it must neither end the shell nor be ignored by the editor.
    return {"/bin/sh", "-c", fmt::format("trap : INT; {} \"$@\"", command), command, file};
  }
  std::vector<std::string> words;
  std::istringstream text(command);
  for (std::string word; text >> word;) words.push_back(word);
  words.push_back(file);
  return words;
}

std::optional<std::string> edit_text(
    const TerminalSurroundings& around, const std::string& file_name, const std::string& text,
    const std::string& consequence,
    const std::function<std::string(const std::string& text)>& keep) {
  const auto editor = editor_command();
  const ScratchDirectory directory(around.monitor, "zksh-edit");
  const std::string file = directory.path() / file_name;
  write_private_file(file, text);
  // So that any write shows, however soon it comes.
  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) - std::chrono::seconds(1));
  const auto written = std::filesystem::last_write_time(file);
  const auto kept = [&] {
    const auto after = read_file(file);
    return consequence + (after == text ? "" : keep(after));
  };
  int result = status::ok;
  try {
    result = run_on_terminal(around, editor_words(editor, file));
  } catch (const Cancelled&) {
    throw Cancelled("the editor was interrupted; " + kept());
  }
  if (result == status::ok) {
    // An editor that is left without saving leaves the file as it was.
    auto after = read_file(file);
    if (after == text && std::filesystem::last_write_time(file) == written) return std::nullopt;
    return after;
  }
  throw Error(fmt::format("the editor exited with status {}; {}", result, kept()));
}

}  // namespace zksh
