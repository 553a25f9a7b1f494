// fmt, compiled into the program: Debian has only a shared library, which needs the shared C++
// library, and loading both takes a fifth of the time of `zksh -c 'get /a'`.
#ifdef ZKSH_STATIC
#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

/// Makes the compiler emit a function that the rest of the program links with.
template <auto function>
struct Emit {
  [[gnu::used]] static inline const auto pointer = function;
};

template struct Emit<static_cast<std::string (*)(fmt::string_view, fmt::format_args)>(
    &fmt::vformat)>;
template struct Emit<static_cast<void (*)(std::FILE*, fmt::string_view, fmt::format_args)>(
    &fmt::vprint)>;
template struct Emit<static_cast<bool (*)(std::uint32_t)>(&fmt::detail::is_printable)>;
#if FMT_VERSION >= 110000
template struct Emit<&fmt::report_error>;
#else
template struct Emit<&fmt::detail::throw_format_error>;
#endif
template struct Emit<&fmt::detail::decimal_point_impl<char>>;
template struct Emit<&fmt::detail::thousands_sep_impl<char>>;
template struct Emit<&fmt::detail::dragonbox::to_decimal<double>>;
template struct Emit<&fmt::detail::dragonbox::to_decimal<float>>;

}  // namespace
#endif
