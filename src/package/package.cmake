# Packages, made by `cpack` in the build directory: `cpack -G DEB` for Debian, and a source tarball
# with `--config CPackSourceConfig.cmake`. Name, version and description are the project's. The target
# zksh-tarball makes a release for any Linux.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VENDOR "the zksh maintainers")
set(CPACK_PACKAGE_CONTACT "zksh maintainers <maintainers@users.noreply.a-seed-34d33a86.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "native, interactive shell for Apache ZooKeeper")
set(CPACK_PACKAGE_DESCRIPTION "\
zksh has the commands of ZooKeeper's zkCli.sh and starts in milliseconds. It
has a prompt with completion of node paths, hints and history, scripts with
exact exit statuses, whole trees (find, dump, apply, diff), the four-letter
words for all servers, and locks to use, watch and study by hand.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};${PROJECT_NAME};ALL;/")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what the program is linked with; needs dpkg-dev
# The packages of the libraries that the program loads when it is told to use TLS or SASL.
set(loaded "")
find_program(DPKG_QUERY_PROGRAM dpkg-query)
if(DPKG_QUERY_PROGRAM)
  foreach(library libssl.so.3 libsasl2.so.2)
    execute_process(COMMAND ${DPKG_QUERY_PROGRAM} -S "*/${library}" OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([^:]+):")
      string(APPEND loaded ", ${CMAKE_MATCH_1}")
    endif()
  endforeach()
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "less${loaded}, libsasl2-modules")
# For --sandbox, which starts servers.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libzookeeper-java, default-jre-headless, libsasl2-modules-gssapi-mit")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_NAME ${PROJECT_NAME})
# A package of earlier versions.
set(CPACK_DEBIAN_PACKAGE_CONFLICTS ${PROJECT_NAME}-tls)
set(CPACK_DEBIAN_PACKAGE_REPLACES ${PROJECT_NAME}-tls)

# lintian's complaints about a package that is not uploaded to Debian, and must start in
# milliseconds.
set(lintian_overrides "${CPACK_DEBIAN_PACKAGE_NAME}: initial-upload-closes-no-bugs *\n")
if(link_statically)
  string(APPEND lintian_overrides "# Loading shared libraries takes as long as a one-shot command.\n"
    "${CPACK_DEBIAN_PACKAGE_NAME}: embedded-library ncurses *\n"
    "${CPACK_DEBIAN_PACKAGE_NAME}: embedded-library zlib *\n")
endif()

# What Debian requires besides what every installation has.
set(package_directory ${CMAKE_CURRENT_LIST_DIR})
string(TIMESTAMP changelog_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${package_directory}/changelog.in ${CMAKE_BINARY_DIR}/package/changelog @ONLY)
configure_file(${package_directory}/debian_files.cmake.in ${CMAKE_BINARY_DIR}/package/debian_files.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_BINARY_DIR}/package/debian_files.cmake)

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git(/|$)" "/build[^/]*/" "/__pycache__/" "~$")

include(CPack)

# What `cmake --install` installs, with the portable file as the program.
if(TARGET zksh-portable)
  string(TOLOWER "${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" release)
  set(tarball ${CMAKE_BINARY_DIR}/${release}.tar.gz)
  set(content ${CMAKE_BINARY_DIR}/package/${release})
  add_custom_command(OUTPUT ${tarball}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${content}
    COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${content} > ${CMAKE_BINARY_DIR}/package/tarball.log
    COMMAND ${CMAKE_STRIP} -o ${content}/bin/zksh $<TARGET_FILE:zksh-portable>
    COMMAND tar -C ${CMAKE_BINARY_DIR}/package --owner=root:0 --group=root:0 --sort=name -czf ${tarball} ${release}
    DEPENDS zksh zksh-portable ${man_pages} VERBATIM)
  add_custom_target(zksh-tarball DEPENDS ${tarball})
endif()
