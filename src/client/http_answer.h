// HttpAnswer: parses a web server's answer to a GET incrementally.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// The request for a path; asks the server to close the connection afterwards. `host`: "name:port".
std::string http_get(std::string_view host, std::string_view path);

/// The input is untrusted; parsing takes linear time whatever it is. Source: RFC 9112.
class HttpAnswer {
 public:
  /// `received` is all that has been received; it grows from call to call. True if the answer is
  /// complete, or is not HTTP.
  bool whole(std::string_view received);

  /// Once the answer is complete or the connection closed: the body of an answer with status 200.
  /// Otherwise empty, and `flaw` says why, for the user: "it answers HTTP 404".
  std::string body(std::string_view all, std::string& flaw);

 private:
  bool read_head(std::string_view received);
  bool read_field(std::string_view line);
  bool read_chunks(std::string_view received);

  int status_ = 0;
  std::size_t head_ = 0;  ///< its length; 0: not known yet
  std::optional<std::size_t> length_;
  bool chunked_ = false;
  std::size_t next_chunk_ = 0;  ///< its offset
  std::string chunks_;
  bool ended_ = false;
  bool broken_ = false;  ///< not HTTP
};

}  // namespace zksh
