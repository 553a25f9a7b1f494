// Operators: finds the operators of a line, which say where its results and errors go.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace zksh {

struct Operator {
  enum class Kind {
    Program,          ///< `|`
    File,             ///< `>`, `1>`
    Append,           ///< `>>`, `1>>`
    ErrorFile,        ///< `2>`
    AppendErrors,     ///< `2>>`
    ErrorsToResults,  ///< `2>&1`
    Foreign           ///< another shell's, which zksh refuses
  };
  Kind kind = Kind::Foreign;
  std::size_t begin = 0;  ///< byte offsets into the line
  std::size_t end = 0;

  bool names_file() const {
    return kind == Kind::File || kind == Kind::Append || kind == Kind::ErrorFile ||
           kind == Kind::AppendErrors;
  }
  std::string_view text_in(std::string_view line) const { return line.substr(begin, end - begin); }
};

/// The unquoted operators of a line up to the first `|`, which is the last of them: what follows is
/// another program's. An operator needs no blanks around it; as in sh, a number belongs to it only
/// if a word begins with the number. Empty for a comment.
std::vector<Operator> operators_in(std::string_view line);

/// Throws ValueError that names what to write instead of a foreign operator.
[[noreturn]] void refuse_operator(std::string_view text);

}  // namespace zksh
