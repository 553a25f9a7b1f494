// HttpAnswer: what a web server answers to one GET, taken apart as it comes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// The request for a path, after which the server is to close the connection. `host`: "name:port".
std::string http_get(std::string_view host, std::string_view path);

/// Untrusted: whatever comes, the time is linear in it. Source: RFC 9112.
class HttpAnswer {
 public:
  /// `so_far`: all that has come; more each time. True when the answer ends there, or is none.
  bool whole(std::string_view so_far);

  /// After the connection was closed, or whole: the body of an answer 200; else empty, and `flaw`
  /// says why, for the user: "it answers HTTP 404".
  std::string body(std::string_view all, std::string& flaw);

 private:
  bool read_head(std::string_view so_far);
  bool read_field(std::string_view line);
  bool read_chunks(std::string_view so_far);

  int status_ = 0;
  std::size_t head_ = 0;  ///< its length; 0: not yet known
  std::optional<std::size_t> length_;
  bool chunked_ = false;
  std::size_t next_chunk_ = 0;  ///< where it begins
  std::string chunks_;
  bool ended_ = false;
  bool broken_ = false;  ///< no HTTP
};

}  // namespace zksh
