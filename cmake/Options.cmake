# Language level, warnings and sanitizers, as one interface target that every target of ours links.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(PACML_CCACHE ccache)
if(PACML_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1  # one cache for every checkout
      ${PACML_CCACHE})
endif()

add_library(pacml_options INTERFACE)
target_compile_options(pacml_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${PACML_WERROR}>:-Werror>
  # g++ 12 sees overlapping copies in "text" + std::string (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Of files that are compiled together, g++ takes all but one for headers, where an unnamed namespace's type
  # in a class would be a fault.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  # The simulator's figures are compared bit for bit: a*b+c must round twice on every machine.
  -ffp-contract=off)
# Hardening that costs nothing measurable: checked copies, guarded stacks, tables that cannot be written to.
target_compile_options(pacml_options INTERFACE -fstack-protector-strong)
if(NOT PACML_SANITIZE)
  target_compile_options(pacml_options INTERFACE -D_FORTIFY_SOURCE=2)
endif()
target_link_options(pacml_options INTERFACE -Wl,-z,relro,-z,now)
if(PACML_ASSERTIONS)
  target_compile_definitions(pacml_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(PACML_ARCH)
  target_compile_options(pacml_options INTERFACE -march=${PACML_ARCH})
endif()
if(PACML_SANITIZE)
  add_compile_options(-fsanitize=${PACML_SANITIZE} -fno-omit-frame-pointer)
  # What a sanitizer adds makes g++ warn of values that are always set, in Boost's headers.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(PACML_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(PACML_SANITIZE MATCHES "thread")
    # Asio fences its handlers besides locking; g++ warns that it checks the locks only.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  add_link_options(-fsanitize=${PACML_SANITIZE})
endif()
if(PACML_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of the code under test guides the fuzzer
endif()
