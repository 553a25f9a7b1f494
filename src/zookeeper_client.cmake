# Builds ZooKeeper's C client from source, with OpenSSL, and with SASL if Cyrus SASL is installed.
#
#   add_zookeeper_client(SOURCE)     SOURCE: a directory or a tarball, Debian's or Apache's
#
# Creates the static library zookeeper_client; its headers are found as <zookeeper/zookeeper.h>.

# Generates two files that the shipped source lacks, with a Java program. Apache's build runs it,
# and Debian's package of the server contains it.
function(generate_jute source directory)
  set(jute ${source}/zookeeper-jute/src/main/resources/zookeeper.jute)
  if(NOT EXISTS ${jute})
    message(FATAL_ERROR "ZooKeeper's source: ${source} has neither generated/zookeeper.jute.c nor ${jute}")
  endif()
  find_program(JAVA_PROGRAM java HINTS $ENV{JAVA_HOME}/bin)
  file(GLOB jars ${source}/zookeeper-jute/target/zookeeper-jute-*.jar
    $ENV{ZOOKEEPER_HOME}/lib/zookeeper-jute-*.jar /usr/share/java/zookeeper-jute.jar)
  list(FILTER jars EXCLUDE REGEX "(sources|javadoc|tests)[.]jar$")
  if(JAVA_PROGRAM)
    if(jars)
      list(GET jars 0 class_path)
    else()
      compile_jute(${source} ${directory} class_path)
    endif()
    file(MAKE_DIRECTORY ${directory}/generated)
    execute_process(COMMAND ${JAVA_PROGRAM} -cp ${class_path} org.apache.jute.compiler.generated.Rcc -l c ${jute}
      WORKING_DIRECTORY ${directory}/generated OUTPUT_VARIABLE said ERROR_VARIABLE said)
  endif()
  if(NOT EXISTS ${directory}/generated/zookeeper.jute.c)
    message(FATAL_ERROR "ZooKeeper's source lacks generated/zookeeper.jute.c, and the Java program "
      "that writes it does not run. On Debian: apt-get install default-jre-headless libzookeeper-java "
      "(or default-jdk-headless and javacc)\n${said}")
  endif()
endfunction()

# Compiles that program if no jar has it.
function(compile_jute source directory result)
  set(java ${source}/zookeeper-jute/src/main/java)
  set(generated ${directory}/jute/org/apache/jute/compiler/generated)
  find_program(JAVAC_PROGRAM javac HINTS $ENV{JAVA_HOME}/bin)
  find_program(JAVACC_PROGRAM javacc)
  file(MAKE_DIRECTORY ${generated})
  if(JAVAC_PROGRAM AND JAVACC_PROGRAM)
    execute_process(COMMAND ${JAVACC_PROGRAM} -OUTPUT_DIRECTORY=${generated}
      ${java}/org/apache/jute/compiler/generated/rcc.jj OUTPUT_QUIET ERROR_QUIET)
    file(GLOB sources ${java}/org/apache/jute/compiler/*.java ${generated}/*.java)
    execute_process(COMMAND ${JAVAC_PROGRAM} -nowarn -d ${directory}/jute -cp ${directory}/jute ${sources}
      OUTPUT_QUIET ERROR_QUIET)
  endif()
  set(${result} ${directory}/jute PARENT_SCOPE)
endfunction()

function(add_zookeeper_client given)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/zookeeper-client)
  get_filename_component(source "${given}" ABSOLUTE)
  if(NOT EXISTS "${source}")
    message(FATAL_ERROR "ZooKeeper's source: there is no ${source}")
  endif()
  if(NOT IS_DIRECTORY "${source}")
    file(TIMESTAMP "${source}" stamp)
    set(unpacked ${directory}/source-${stamp})
    if(NOT EXISTS ${unpacked})
      file(ARCHIVE_EXTRACT INPUT "${source}" DESTINATION ${unpacked}
        PATTERNS "*/zookeeper-client/zookeeper-client-c/*" "*/zookeeper-jute/src/main/*")
    endif()
    set(source ${unpacked})
  endif()
  # The top of the source, a directory above it, or the C client's own.
  file(GLOB tops "${source}/zookeeper-client/zookeeper-client-c/src/zookeeper.c"
    "${source}/*/zookeeper-client/zookeeper-client-c/src/zookeeper.c" "${source}/src/zookeeper.c")
  if(NOT tops)
    message(FATAL_ERROR "ZooKeeper's source: ${given} has no zookeeper-client/zookeeper-client-c/src/zookeeper.c")
  endif()
  list(GET tops 0 client)
  get_filename_component(client ${client}/../.. ABSOLUTE)
  file(READ ${client}/src/zookeeper.c text)
  if(NOT text MATCHES "zookeeper_init_ssl" OR NOT text MATCHES "SSL_connect")
    message(FATAL_ERROR "ZooKeeper's source: this C client has no TLS; ZooKeeper 3.6 and later have")
  endif()
  set(generated ${client}/generated)
  if(NOT EXISTS ${generated}/zookeeper.jute.c)
    set(generated ${directory}/generated)
    if(NOT EXISTS ${generated}/zookeeper.jute.c)
      get_filename_component(top ${client}/../.. ABSOLUTE)
      generate_jute(${top} ${directory})
    endif()
  endif()

  # What its own build detects is the same on every Linux.
  file(STRINGS ${client}/cmake_config.h.in wanted REGEX "^#cmakedefine")
  foreach(line IN LISTS wanted)
    string(REGEX REPLACE "^#cmakedefine ([A-Z0-9_]+).*" "\\1" name "${line}")
    set(${name} 1)
  endforeach()
  configure_file(${client}/cmake_config.h.in ${directory}/private/config.h)
  # Installed, the headers are in a directory of their own.
  file(GLOB headers ${client}/include/*.h ${generated}/zookeeper.jute.h)
  file(COPY ${headers} DESTINATION ${directory}/include/zookeeper)

  file(GLOB sources ${client}/src/*.c ${client}/src/hashtable/*.c)
  list(FILTER sources EXCLUDE REGEX "/(cli|load_gen|st_adaptor|winport|zk_sasl)[.]c$")
  find_package(OpenSSL REQUIRED)
  find_path(SASL_INCLUDE_DIR sasl/sasl.h)
  find_library(SASL_LIBRARY sasl2)
  set(definitions HAVE_OPENSSL_H)
  set(libraries OpenSSL::SSL OpenSSL::Crypto)
  if(SASL_INCLUDE_DIR AND SASL_LIBRARY AND EXISTS ${client}/src/zk_sasl.c)
    list(APPEND sources ${client}/src/zk_sasl.c)
    list(APPEND definitions HAVE_CYRUS_SASL_H)
    list(APPEND libraries ${SASL_LIBRARY})
    set(with "TLS and SASL")
  else()
    set(with "TLS, and without SASL (libsasl2-dev is missing)")
  endif()
  add_library(zookeeper_client STATIC ${sources} ${generated}/zookeeper.jute.c)
  target_include_directories(zookeeper_client SYSTEM PUBLIC ${directory}/include
    PRIVATE ${directory}/private ${client}/include ${client}/src ${generated})
  target_compile_definitions(zookeeper_client PUBLIC THREADED ${definitions} PRIVATE USE_STATIC_LIB)
  target_compile_options(zookeeper_client PRIVATE -w -UNDEBUG ${hardening})
  set_source_files_properties(${client}/src/zookeeper.c ${client}/src/mt_adaptor.c
    TARGET_DIRECTORY zookeeper_client PROPERTIES COMPILE_OPTIONS
    "-DZKSH_INSIDE_THE_C_CLIENT;-include;${CMAKE_CURRENT_SOURCE_DIR}/src/session/library/tls_calls.h")
  set_source_files_properties(${client}/src/zk_sasl.c TARGET_DIRECTORY zookeeper_client PROPERTIES COMPILE_OPTIONS
    "-include;${CMAKE_CURRENT_SOURCE_DIR}/src/session/library/sasl_calls.h")
  target_link_libraries(zookeeper_client PUBLIC ${libraries} Threads::Threads)
  message(STATUS "ZooKeeper's C client: from ${client}, with ${with}")
endfunction()
