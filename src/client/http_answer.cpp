// HttpAnswer: parses the head, and a body that ends by its length, by chunks or with the
// connection.
#include "client/http_answer.h"

#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace zksh {
namespace {

constexpr std::size_t longest_head = std::size_t{64} << 10U;
constexpr std::size_t longest_number = 16;
constexpr std::size_t most_bytes = std::size_t{1} << 40U;  // sums cannot overflow

std::optional<std::size_t> number(std::string_view text, int base) {
  const auto value = number_in<std::size_t>(text, base);
  return value && *value <= most_bytes ? value : std::nullopt;
}

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::string http_get(std::string_view host, std::string_view path) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: zksh\r\nAccept: application/json\r\n"
      "Connection: close\r\n\r\n",
      path, host);
}

bool HttpAnswer::whole(std::string_view received) {
  if (head_ == 0 && !broken_) broken_ = !read_head(received);
  if (broken_ || ended_) return true;
  if (head_ == 0) return false;
  if (chunked_) {
    broken_ = !read_chunks(received);
    return broken_ || ended_;
  }
  ended_ = length_ && received.size() - head_ >= *length_;
  return ended_;
}

/// Returns false if this is not HTTP.
bool HttpAnswer::read_head(std::string_view received) {
  constexpr std::string_view version = "HTTP/1.";
  const auto known = std::min(version.size(), received.size());
  if (received.substr(0, known) != version.substr(0, known)) return false;
  const auto end = received.substr(0, longest_head).find("\r\n\r\n");
  if (end == std::string_view::npos) return received.size() < longest_head;
  auto lines = received.substr(0, end + 2);
  // "HTTP/1.1 200 OK"
  const auto first = lines.substr(0, lines.find("\r\n"));
  const auto blank = first.find(' ');
  if (blank == std::string_view::npos) return false;
  const auto status = number(first.substr(blank + 1, 3), 10);
  if (!status) return false;
  status_ = static_cast<int>(*status);
  lines.remove_prefix(first.size() + 2);
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size() + 2);
    if (!read_field(line)) return false;
  }
  head_ = end + 4;
  next_chunk_ = head_;
  return true;
}

bool HttpAnswer::read_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const auto name = lower(line.substr(0, colon));
  const auto value = without_blanks(line.substr(colon + 1));
  if (name == "transfer-encoding") {
    chunked_ = lower(value) == "chunked";
    return chunked_;
  }
  if (name != "content-length") return true;
  const auto length = number(value, 10);
  const bool same = length && (!length_ || *length_ == *length);
  length_ = length;
  return same;
}

bool HttpAnswer::read_chunks(std::string_view received) {
  while (next_chunk_ < received.size()) {
    const auto rest = received.substr(next_chunk_);
    const auto end = rest.substr(0, longest_number + 2).find("\r\n");
    if (end == std::string_view::npos) return rest.size() < longest_number + 2;
    const auto size = number(rest.substr(0, end), 16);
    if (!size) return false;
    ended_ = *size == 0;
    if (ended_) return true;
    const auto begin = end + 2;
    if (rest.size() < begin + *size + 2) return true;
    if (rest.substr(begin + *size, 2) != "\r\n") return false;
    chunks_ += rest.substr(begin, *size);
    next_chunk_ += begin + *size + 2;
  }
  return true;
}

std::string HttpAnswer::body(std::string_view all, std::string& flaw) {
  whole(all);
  if (broken_ || head_ == 0)
    flaw = "it does not speak plain HTTP";
  else if (status_ >= 300 && status_ < 400)
    flaw = fmt::format("it answers with HTTP {}, a redirect, which zksh does not follow", status_);
  else if (status_ != 200)
    flaw = fmt::format("it answers with HTTP {}", status_);
  else if (!ended_ && (chunked_ || length_))
    flaw = "its answer is truncated";
  if (!flaw.empty()) return {};
  if (chunked_) return std::move(chunks_);
  const auto rest = all.substr(head_);
  return std::string(length_ ? rest.substr(0, *length_) : rest);
}

}  // namespace zksh
