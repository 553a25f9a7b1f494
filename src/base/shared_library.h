// SharedLibrary: functions of a library that is loaded while the program runs, or, in the portable
// file (ZKSH_PORTABLE), is linked into it.
#pragma once

#include <dlfcn.h>
#include <string>

namespace zksh {

// For each name in a list of functions (a macro that takes a macro): declares a pointer of that
// name, and finds the function in `library` for the pointer in `found`.
#define ZKSH_DECLARE(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#ifdef ZKSH_PORTABLE
#define ZKSH_FIND(name) found.name = &::name;
#else
#define ZKSH_FIND(name) library.find(#name, found.name);
#endif

/// Stays loaded until the process ends. From any thread.
class SharedLibrary {
 public:
#ifdef ZKSH_PORTABLE
  explicit SharedLibrary(const char* /*name*/) {}
  const std::string& problem() const { return problem_; }

 private:
  std::string problem_{};
};
#else
  /// `name` is its soname: "libssl.so.3".
  explicit SharedLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) problem_ = dlerror();
  }

  /// Sets `function`; leaves it null, with a problem, if the library lacks it.
  template <class Function>
  void find(const char* name, Function*& function) {
    if (!problem_.empty()) return;
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function == nullptr) problem_ = dlerror();
  }
  /// Why the library, or one of its functions, cannot be used; empty if all can.
  const std::string& problem() const { return problem_; }

 private:
  void* handle_;
  std::string problem_{};
};
#endif

}  // namespace zksh
