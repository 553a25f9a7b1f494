// Output: what a job prints, queued for the main thread to write.
#include "command/output.h"

#include "base/byte_text.h"
#include "base/error.h"
#include "base/json.h"
#include "base/time.h"
#include "command/screen.h"

#include <sys/eventfd.h>

namespace zksh {

void OutputQueue::add(Stream stream, std::string_view bytes, const std::stop_token& stop) {
  if (bytes.empty()) return;
  for (; bytes.size() > limit; bytes.remove_prefix(limit))
    add(stream, bytes.substr(0, limit), stop);
  const auto has_room = [&](const Monitor::Held& held) { return state_(held).bytes <= limit; };
  if (!monitor_.wait(stop, has_room)) throw Cancelled();
  add(stream, bytes);
}

void OutputQueue::add(const std::vector<Chunk>& chunks, const std::stop_token& stop) {
  if (chunks.empty()) return;
  const auto has_room = [&](const Monitor::Held& held) { return state_(held).bytes <= limit; };
  if (!monitor_.wait(stop, has_room)) throw Cancelled();
  monitor_.with_lock([&](const Monitor::Held& held) {
    for (const auto& chunk : chunks) add(held, chunk.stream, chunk.bytes);
  });
}

void OutputQueue::add(const Monitor::Held& held, Stream stream, std::string_view bytes) {
  constexpr std::size_t chunk_size = 64U << 10U;
  auto& state = state_(held);
  if (state.chunks.empty()) eventfd_write(wake_fd_, 1);
  if (state.chunks.empty() || state.chunks.back().stream != stream ||
      state.chunks.back().bytes.size() >= chunk_size)
    state.chunks.push_back({stream, {}});
  state.chunks.back().bytes += bytes;
  state.bytes += bytes.size();
  ++state.added;
}

std::deque<OutputQueue::Chunk> OutputQueue::take() {
  return monitor_.change([&](const Monitor::Held& held) {
    auto& state = state_(held);
    state.written = state.taken;
    if (state.bytes > 0 && state.spoils && state.spoils()) return std::deque<Chunk>();
    state.taken = state.added;
    state.bytes = 0;
    return std::exchange(state.chunks, {});
  });
}

void OutputQueue::hold_back(std::function<bool()> spoils) {
  monitor_.with_lock([&](const Monitor::Held& held) { state_(held).spoils = std::move(spoils); });
  eventfd_write(wake_fd_, 1);
}

void Output::put(Stream stream, std::string_view bytes, bool blocks) {
  if (bytes.empty()) return;
  if (gathered_) {
    if (gathered_->empty() || gathered_->back().stream != stream)
      gathered_->push_back({.stream = stream, .bytes = {}});
    gathered_->back().bytes += bytes;
    return;
  }
  const bool on_terminal = stream == Stream::Out ? style_.out_is_terminal : style_.err_is_terminal;
  std::string named;  // with the job, for a person
  if (const int job = style_.job && on_terminal && !json() ? style_.job->load() : 0)
    bytes = named = with_job(job, stream, bytes);
  if (blocks)
    queue_.add(stream, bytes, stop_);
  else
    queue_.add(stream, bytes);
}

/// The bytes, with the job's number before each line.
std::string Output::with_job(int job, Stream stream, std::string_view bytes) {
  auto& within_line = within_line_.at(stream == Stream::Err ? 1 : 0);
  std::string text;
  while (!bytes.empty()) {
    const auto line = bytes.substr(0, bytes.find('\n'));
    const bool ends = line.size() < bytes.size();
    if (!within_line) text += fmt::format("[{}] ", job);
    text += bytes.substr(0, line.size() + (ends ? 1 : 0));
    within_line = !ends;
    bytes.remove_prefix(line.size() + (ends ? 1 : 0));
  }
  return text;
}

namespace {

std::string timed_line(std::string_view kind, const std::string& text, const std::string& command) {
  if (text.empty()) return {};  // an empty line only separates paragraphs for people
  auto json = Json::object();
  json.set(kind, escape_bytes(text)).set_time("time", wall_clock_now());
  if (!command.empty()) json.set("command", command);
  return json.text() + '\n';
}

}  // namespace

std::string news_line(const std::string& text, bool json, bool terminal,
                      const std::string& command) {
  if (json) return timed_line("note", text, command);
  if (!terminal) return text + '\n';
  return wrapped(escape_for_terminal(text, true), terminal_size(STDERR_FILENO).columns) + '\n';
}

std::string question_line(const std::string& text, const std::string& command) {
  return timed_line("question", text, command);
}

void OutputQueue::await_written(Clock::time_point deadline, const std::stop_token& stop) {
  // Even if all is written: the printer takes the notice away before it writes an empty text.
  add(Stream::Err, {});
  const auto until = added();
  const auto written = [&](const Monitor::Held& held) { return state_(held).written >= until; };
  if (!monitor_.wait_until(stop, deadline, written) && stop.stop_requested()) throw Cancelled();
}

bool OutputQueue::await_accepted(const std::stop_token& stop) {
  const auto until = added();
  const auto accepted = [&](const Monitor::Held& held) { return state_(held).written >= until; };
  return monitor_.wait(stop, accepted) &&
         monitor_.with_lock([&](const Monitor::Held& held) { return !state_(held).out_failed; });
}

}  // namespace zksh
