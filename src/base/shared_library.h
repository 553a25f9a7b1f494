// SharedLibrary: functions of a library that is loaded while the program runs, or, in the portable
// file (ZKSH_PORTABLE), is linked into it.
#pragma once

#include <dlfcn.h>
#include <string>

namespace zksh {

#ifdef ZKSH_PORTABLE
#define ZKSH_FIND_IN(library, functions, name) ((functions).name = &::name)
#else
#define ZKSH_FIND_IN(library, functions, name) (library).find(#name, (functions).name)
#endif

/// Stays loaded until the process ends. ZKSH_FIND_IN sets one of the functions, a pointer of the
/// same name. From any thread.
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
