# Writes version.cc. Run by the build whenever git's HEAD moves, so that a run records the revision
# that it was built from, and a build without changes has nothing to do.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=10 HEAD
                OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT REVISION)
  set(REVISION unknown)
endif()
configure_file(${SOURCE_DIR}/apps/cli/version.cc.in ${OUTPUT} @ONLY)
file(TOUCH ${OUTPUT})
