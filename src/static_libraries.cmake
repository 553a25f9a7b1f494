# Finds libraries to link statically, so that a one-shot command does not spend its time loading
# them.
#
#   find_static_libraries(RESULT)     sets RESULT to ON if all were found and a test program links
#   find_portable_libraries(RESULT)   the same of what is linked in addition into zksh-portable
#
# Then set READLINE_LIBRARY, RE2_LIBRARY and ZLIB_LIBRARY, or PORTABLE_LIBRARIES, to what to link;
# otherwise they say why not.
include(CheckCXXSourceCompiles)

# Archives with what they depend on: the libraries of a pkg-config package, as archives if available.
function(find_archives package archives result)
  set(found ${archives})
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${package}_PACKAGE QUIET ${package})
    foreach(library IN LISTS ${package}_PACKAGE_STATIC_LIBRARIES)
      if(NOT library STREQUAL package)
        find_library(ARCHIVE_OF_${library} NAMES lib${library}.a ${library})
        mark_as_advanced(ARCHIVE_OF_${library})
        if(ARCHIVE_OF_${library})
          list(APPEND found ${ARCHIVE_OF_${library}})
        endif()
      endif()
    endforeach()
  endif()
  list(REMOVE_DUPLICATES found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(find_static_libraries result)
  set(${result} OFF PARENT_SCOPE)
  find_library(READLINE_ARCHIVE libreadline.a)
  find_library(TINFO_ARCHIVE libtinfo.a)
  find_library(RE2_ARCHIVE libre2.a)
  find_library(ZLIB_ARCHIVE libz.a)
  set(wanted READLINE_ARCHIVE TINFO_ARCHIVE RE2_ARCHIVE ZLIB_ARCHIVE)
  foreach(archive IN LISTS wanted)
    if(NOT ${archive})
      message(STATUS "Linking with shared libraries: there is no ${archive}")
      return()
    endif()
  endforeach()
  find_archives(re2 ${RE2_ARCHIVE} re2)
  set(re2 -Wl,--start-group ${re2} -Wl,--end-group)  # they need one another
  set(CMAKE_REQUIRED_LIBRARIES ${READLINE_ARCHIVE} ${TINFO_ARCHIVE} ${re2} ${ZLIB_ARCHIVE} Threads::Threads)
  set(CMAKE_REQUIRED_INCLUDES ${READLINE_INCLUDE_DIR} ${RE2_INCLUDE_DIR} ${ZLIB_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
  set(CMAKE_REQUIRED_QUIET ON)
  # The cached result is for these libraries only.
  string(MD5 tried "${CMAKE_REQUIRED_LIBRARIES}")
  check_cxx_source_compiles("
      #include <cstdio>
      #include <readline/readline.h>
      #include <re2/re2.h>
      #include <zlib.h>
      int main(int count, char** words) {
        rl_callback_handler_install(\"\", nullptr);
        return RE2::PartialMatch(words[count - 1], RE2(\"a|b\")) && zlibVersion() ? 1 : 0;
      }" ZKSH_LINKS_STATICALLY_${tried})
  if(NOT ZKSH_LINKS_STATICALLY_${tried})
    message(STATUS "Linking with shared libraries: a program does not link with the archives "
      "${CMAKE_REQUIRED_LIBRARIES}")
    return()
  endif()
  set(READLINE_LIBRARY ${READLINE_ARCHIVE} ${TINFO_ARCHIVE} PARENT_SCOPE)
  set(RE2_LIBRARY ${re2} PARENT_SCOPE)
  set(ZLIB_LIBRARY ${ZLIB_ARCHIVE} PARENT_SCOPE)
  set(${result} ON PARENT_SCOPE)
endfunction()

function(find_portable_libraries result)
  set(${result} OFF PARENT_SCOPE)
  find_library(SSL_ARCHIVE libssl.a)
  find_library(CRYPTO_ARCHIVE libcrypto.a)
  find_library(SASL_ARCHIVE libsasl2.a)
  foreach(archive IN ITEMS SSL_ARCHIVE CRYPTO_ARCHIVE SASL_ARCHIVE)
    if(NOT ${archive})
      message(STATUS "No zksh-portable: there is no ${archive}")
      return()
    endif()
  endforeach()
  find_archives(libssl "${SSL_ARCHIVE};${CRYPTO_ARCHIVE}" ssl)
  set(CMAKE_REQUIRED_LIBRARIES ${SASL_ARCHIVE} ${ssl})
  set(CMAKE_REQUIRED_LINK_OPTIONS -static)
  set(CMAKE_REQUIRED_QUIET ON)
  string(MD5 tried "${CMAKE_REQUIRED_LIBRARIES}")
  check_cxx_source_compiles("
      #include <openssl/ssl.h>
      int main() { return SSL_CTX_new(TLS_client_method()) ? 1 : 0; }" ZKSH_LINKS_PORTABLY_${tried})
  if(NOT ZKSH_LINKS_PORTABLY_${tried})
    # OpenSSL's archive needs libzstd-dev on Debian 13, which its package does not depend on.
    message(STATUS "No zksh-portable: a program does not link with ${CMAKE_REQUIRED_LIBRARIES}; is libzstd-dev installed?")
    return()
  endif()
  set(PORTABLE_LIBRARIES ${CMAKE_REQUIRED_LIBRARIES} PARENT_SCOPE)
  set(${result} ON PARENT_SCOPE)
endfunction()
