// SharedLibrary: functions of a library that is loaded while the program runs.
#pragma once

#include <dlfcn.h>
#include <string>

namespace zksh {

/// Stays loaded until the process ends. From any thread.
class SharedLibrary {
 public:
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

}  // namespace zksh
