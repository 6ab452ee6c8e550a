# pacml_add_library(NAME SOURCES ... HEADERS ... PUBLIC_DEPS ... PRIVATE_DEPS ...)
# One library per folder: same flags, same proof that each header compiles alone
# (all_verify_interface_header_sets). PUBLIC_DEPS are
# the arrows of docs/layers.txt, which scripts/check_layers.py enforces.
function(pacml_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;PUBLIC_DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(pacml_${name} STATIC ${ARG_SOURCES})
  add_library(pacml::${name} ALIAS pacml_${name})
  target_sources(pacml_${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  target_link_libraries(pacml_${name} PUBLIC ${ARG_PUBLIC_DEPS}
                        PRIVATE ${ARG_PRIVATE_DEPS} pacml_options)
  set_target_properties(pacml_${name} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# pacml_add_programs(NAME SOURCES ...)
# Both programs once more, with tasks of one's own (docs/adding_a_task.md): programs/NAME/pacml and
# programs/NAME/pacml-learner in the build folder.
function(pacml_add_programs name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(programs pacml pacml-learner)
  set(mains main.cc learner_main.cc)
  foreach(program main IN ZIP_LISTS programs mains)
    string(REPLACE "-" "_" parts ${program}_main)
    if(NOT TARGET ${parts})
      continue()
    endif()
    add_executable(${name}-${program} ${PROJECT_SOURCE_DIR}/apps/${main} ${ARG_SOURCES})
    target_link_libraries(${name}-${program} PRIVATE ${parts} pacml_options)
    set_target_properties(${name}-${program} PROPERTIES OUTPUT_NAME ${program}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/programs/${name})
  endforeach()
endfunction()

# pacml_add_test(NAME LABEL unit SOURCES ... DEPS ... [TIMEOUT seconds] [ENVIRONMENT K=V ...]
#                [TORCH] [KERNELS] [SEPARATE] [PER_CASE] [PROCESSES n] [RESOURCE_LOCK name ...])
# One executable of Catch2 cases; the label is the folder below tests/.
#   TORCH          it links LibTorch.
#   KERNELS        its results depend on the matrix kernels, so it runs under each of them, too (label
#                  kernels).
#   SEPARATE       its files have fixtures of like names, so they are never compiled together.
#   PER_CASE       CTest runs each case by itself, with a time limit of its own: for tests that start
#                  processes, whose cases take seconds and may have to wait for a busy machine, and for
#                  those of which a case may find that it cannot run here.
#                  They are called "NAME: the case's sentence".
#   PROCESSES      how many processes it keeps busy: CTest runs nothing beside it that would not fit.
#   RESOURCE_LOCK  what it wants for itself; no other test with that name runs meanwhile.
#   TIMEOUT        of the program, or of each case. What it waits for may take all but the end of it
#                  (tests/support/soon.h). Five times that where sanitizers slow everything down.
function(pacml_add_test name)
  cmake_parse_arguments(ARG "TORCH;KERNELS;SEPARATE;PER_CASE" "LABEL;TIMEOUT;PROCESSES"
                        "SOURCES;DEPS;ENVIRONMENT;RESOURCE_LOCK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(PACML_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  math(EXPR patience "${ARG_TIMEOUT} - 15")
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  # Assertions compile slowly; what they check is in the libraries, optimised as users run it.
  target_compile_options(${name} PRIVATE -O1)
  set(main pacml_test_main)
  if(ARG_TORCH)
    set(main pacml_test_torch_main)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} pacml_test_support ${main} pacml_options)
  set(environment OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive
      PACML_SOURCE_DIR=${PROJECT_SOURCE_DIR} PACML_BINARY_DIR=${PROJECT_BINARY_DIR}
      PACML_TEST_SECONDS=${patience} ${ARG_ENVIRONMENT})
  # As text, because values are lists themselves.
  set(limits "TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT [==[${environment}]==]")
  if(ARG_PROCESSES)
    string(APPEND limits " PROCESSORS ${ARG_PROCESSES}")
  endif()
  if(ARG_RESOURCE_LOCK)
    string(APPEND limits " RESOURCE_LOCK [==[${ARG_RESOURCE_LOCK}]==]")
  endif()
  if(ARG_PER_CASE)
    # A case that cannot run here says so and does nothing else.
    pacml_add_cases(${name} "LABELS [==[${ARG_LABEL}]==] ${limits} SKIP_REGULAR_EXPRESSION [==[this test is skipped: ]==]")
  else()
    add_test(NAME ${name} COMMAND ${name})
    cmake_language(EVAL CODE
      "set_tests_properties([==[${name}]==] PROPERTIES LABELS [==[${ARG_LABEL}]==] ${limits})")
  endif()
  if(NOT ARG_KERNELS)
    return()
  endif()
  foreach(setting OPENBLAS_CORETYPE=Prescott OPENBLAS_CORETYPE=Haswell OPENBLAS_CORETYPE=Zen
                  OPENBLAS_CORETYPE=SkylakeX ATEN_CPU_CAPABILITY=default ATEN_CPU_CAPABILITY=avx2
                  ATEN_CPU_CAPABILITY=avx512)
    string(REGEX REPLACE ".*_(CORETYPE|CAPABILITY)=" "" kernel ${setting})
    add_test(NAME ${name}/${kernel} COMMAND pacml_under_kernels ${setting} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}/${kernel} PROPERTIES LABELS kernels TIMEOUT ${ARG_TIMEOUT}
      ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

# pacml_add_script_test(NAME LABEL browser SCRIPT file.py [ARGS ...] [TIMEOUT seconds] [PROCESSES n])
# A Python program of Debian's interpreter. It skips itself, in a sentence and with code 77, where what it
# needs is not there. The other arguments are those of pacml_add_test.
function(pacml_add_script_test name)
  cmake_parse_arguments(ARG "" "LABEL;SCRIPT;TIMEOUT;PROCESSES" "ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(NOT ARG_PROCESSES)
    set(ARG_PROCESSES 1)
  endif()
  math(EXPR patience "${ARG_TIMEOUT} - 40")
  cmake_path(ABSOLUTE_PATH ARG_SCRIPT BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME ${name} COMMAND /usr/bin/python3 ${ARG_SCRIPT} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} SKIP_RETURN_CODE 77
    TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${ARG_PROCESSES}
    ENVIRONMENT "PACML_SOURCE_DIR=${PROJECT_SOURCE_DIR};PACML_TEST_SECONDS=${patience}")
endfunction()

# Fuzzing of one part of the source tree. Of each of TARGETS, NAME_target.cc says what is done with any
# bytes, and NAME_fuzzer.cc is libFuzzer's way in (clang, PACML_FUZZ), run from the root of the source
# tree: fuzz_PART_NAME CORPUS -max_total_time=60. TESTS (replay_test.cc, if not given) are plain tests
# that replay the corpus in every build. DEPS: what is fuzzed; PRIVATE_DEPS: of the targets alone.
function(pacml_add_fuzz part)
  cmake_parse_arguments(ARG "" "" "TARGETS;TESTS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT ARG_TESTS)
    set(ARG_TESTS replay_test.cc)
  endif()
  # scripts/fuzz goes by the corpora.
  file(GLOB corpora RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/*)
  if(NOT corpora STREQUAL ARG_TARGETS)
    message(FATAL_ERROR "tests/fuzz/${part}: targets ${ARG_TARGETS}, but corpora ${corpora}")
  endif()
  list(TRANSFORM ARG_TARGETS APPEND _target.cc OUTPUT_VARIABLE sources)
  add_library(fuzz_${part}_targets STATIC ${sources})
  target_link_libraries(fuzz_${part}_targets PUBLIC ${ARG_DEPS}
                        PRIVATE ${ARG_PRIVATE_DEPS} pacml_options)
  pacml_add_test(fuzz_${part}_replay LABEL fuzz SOURCES ${ARG_TESTS} DEPS fuzz_${part}_targets)
  if(NOT PACML_FUZZ)
    return()
  endif()
  foreach(target ${ARG_TARGETS})
    add_executable(fuzz_${part}_${target} ${target}_fuzzer.cc)
    target_link_libraries(fuzz_${part}_${target} PRIVATE fuzz_${part}_targets pacml_options)
    target_link_options(fuzz_${part}_${target} PRIVATE -fsanitize=fuzzer)
  endforeach()
endfunction()

# Each case of a test program as a test of CTest's. What they are called is known when the program
# has been linked; CTest reads it then.
function(pacml_add_cases name properties)
  set(cases ${CMAKE_CURRENT_BINARY_DIR}/${name}_cases.cmake)
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM BYPRODUCTS ${cases}
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}> -D OUTPUT=${cases}
            -P ${PROJECT_SOURCE_DIR}/cmake/TestCases.cmake)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake CONTENT
"if(EXISTS [==[${cases}]==])
  function(pacml_case sentence pattern)
    add_test(\"${name}: \${sentence}\" [==[$<TARGET_FILE:${name}>]==] \"\${pattern}\" --warn NoTests)
    set_tests_properties(\"${name}: \${sentence}\" PROPERTIES ${properties})
  endfunction()
  include([==[${cases}]==])
else()
  add_test([==[${name}: has not been built]==] false)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY
    TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake)
endfunction()
