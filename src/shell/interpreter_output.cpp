// Interpreter: commands whose results go to a file, a program or a pager.
#include "command/given_words.h"
#include "command/live_picture.h"
#include "command/report.h"
#include "shell/interpreter.h"
#include "shell/output_file.h"
#include "shell/pager.h"

#include <algorithm>

namespace zksh {

int Interpreter::execute_into(const RedirectTo& to, const Words& words) {
  if (!command_named(words.texts.front())) return unknown_command(words.texts.front());
  if (to.kind != RedirectTo::Kind::Program) {
    OutputFile file(to.target, to.kind == RedirectTo::Kind::Append, stop_);
    return file.finish(execute_inside(words, stop_,
                                      {.write = [&](std::string_view bytes) { file.write(bytes); },
                                       .fd = [&] { return file.fd(); }}));
  }
  OutputProgram program(program_plan(to.target));
  program.start();
  const auto ends =
      program.finish(execute_inside(words, program.stop(),
                                    {.write = [&](std::string_view bytes) { program.write(bytes); },
                                     .fd = [&] { return program.fd(); }}));
  return ends.command != status::ok ? ends.command : ends.program;
}

int Interpreter::execute_with_pager(const std::string& pager, const Words& words) {
  Pager pages(program_plan(pager));
  return pages.finish(
      execute_inside(words, pages.stop(),
                     {.write = [&](std::string_view bytes) { pages.write(bytes); },
                      .terminal = true,
                      .error = [&](std::string_view bytes) { return pages.keep_error(bytes); }}));
}

/// Runs a command whose results go elsewhere; reports what fails.
int Interpreter::execute_inside(const Words& words, const std::stop_token& stop, Redirection to) {
  Interpreter inner(around_, input_, stop);
  inner.out_.redirect(std::move(to));
  const int result = reporting(inner.out_, [&] { return inner.execute(words); });
  quit_ = quit_ || inner.quit_;
  return result;
}

OutputProgram::Plan Interpreter::program_plan(const std::string& line) const {
  return {.monitor = around_.client.monitor(),
          .signals = around_.signals,
          .queue = around_.queue,
          .line = line,
          .arguments = input_ == Input::Text ? around_.arguments : nullptr,
          .at_prompt = input_ == Input::Terminal,
          .background = around_.background,
          .stop = stop_};
}

/// What shows the results of a command that are longer than the screen; nothing: no pager.
/// `words`: the command's arguments.
std::optional<std::string> Interpreter::pager_for(const Command& command,
                                                  const std::vector<std::string>& words) const {
  const bool screen = input_ == Input::Terminal && !around_.background && !out_.redirected() &&
                      out_.style().out_is_terminal && terminal_can_redraw();
  const auto lists = [&] {
    bool endless = false;
    command.describe([&](const Options& options) {
      for (const auto* option : given_words(options.arguments(), words).options)
        for (const auto name : command.endless)
          endless = endless || std::ranges::find(option->names, name) != option->names.end();
    });
    return (command.pages && !endless) || asks_for_help(command, words) ||
           (command.writes && wants_dry_run(command, words));
  };
  if (!screen || !lists()) return std::nullopt;
  return pager_line(around_.settings.value("pager"));
}

}  // namespace zksh
