# pacml_add_library(NAME SOURCES ... HEADERS ... PUBLIC_DEPS ... PRIVATE_DEPS ...)
# One library per folder: same flags, same proof that each header compiles alone. PUBLIC_DEPS are
# the arrows of docs/layers.txt, which scripts/check_layers.py enforces.
function(pacml_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;PUBLIC_DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(pacml_${name} STATIC ${ARG_SOURCES})
  add_library(pacml::${name} ALIAS pacml_${name})
  # A source includes its own header first (scripts/check_layers.py), which proves the header complete;
  # all_verify_interface_header_sets compiles the other ones.
  set(covered ${ARG_SOURCES})
  list(TRANSFORM covered REPLACE "\\.cc$" ".h")
  set(alone ${ARG_HEADERS})
  list(REMOVE_ITEM alone ${covered})
  set(covered ${ARG_HEADERS})
  list(REMOVE_ITEM covered "" ${alone})
  target_sources(pacml_${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${covered}
    FILE_SET alone TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${alone})
  target_link_libraries(pacml_${name} PUBLIC ${ARG_PUBLIC_DEPS}
                        PRIVATE ${ARG_PRIVATE_DEPS} pacml_options)
  set_target_properties(pacml_${name} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY alone)
endfunction()

# pacml_add_test(NAME LABEL unit SOURCES ... DEPS ... [TIMEOUT seconds] [ENVIRONMENT K=V ...] [TORCH] [KERNELS])
# One executable of Catch2 cases; the label is the folder below tests/. TORCH: it links LibTorch.
# KERNELS: its results depend on the matrix kernels, so it runs under each of them, too (label kernels).
function(pacml_add_test name)
  cmake_parse_arguments(ARG "TORCH;KERNELS" "LABEL;TIMEOUT" "SOURCES;DEPS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  # Assertions compile slowly; what they check is in the libraries, optimised as users run it.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  set(main pacml_test_main)
  if(ARG_TORCH)
    set(main pacml_test_torch_main)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${main} pacml_options)
  set(environment OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive
      PACML_SOURCE_DIR=${PROJECT_SOURCE_DIR} PACML_BINARY_DIR=${PROJECT_BINARY_DIR} ${ARG_ENVIRONMENT})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${environment}")
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
