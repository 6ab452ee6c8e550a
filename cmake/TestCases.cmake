# Lists the cases of a test program for CTest, when the program has been linked:
#
#   cmake -D PROGRAM=... -D OUTPUT=... -P TestCases.cmake
#
# OUTPUT calls pacml_case(SENTENCE PATTERN) for each: its name, and how Catch2 finds that one alone.
execute_process(COMMAND ${PROGRAM} --list-test-names-only
                OUTPUT_VARIABLE listed ERROR_VARIABLE said RESULT_VARIABLE cases)
if(NOT cases GREATER 0)  # the exit code is how many there are
  message(FATAL_ERROR "${PROGRAM} lists no test cases: ${cases}\n${listed}${said}")
endif()
# Brackets and semicolons would make or break lists.
string(REPLACE "[" "<open>" listed "${listed}")
string(REPLACE "]" "<close>" listed "${listed}")
string(REPLACE ";" "<semicolon>" listed "${listed}")
string(REPLACE "\n" ";" listed "${listed}")
set(script "")
foreach(sentence IN LISTS listed)
  if(sentence STREQUAL "")
    continue()
  endif()
  string(REGEX REPLACE "^\"(#.*)\"$" "\\1" sentence "${sentence}")
  string(REPLACE "\\" "\\\\" pattern "${sentence}")
  foreach(special "," "\"" "*")
    string(REPLACE "${special}" "\\${special}" pattern "${pattern}")
  endforeach()
  string(REPLACE "<open>" "\\<open>" pattern "${pattern}")
  string(APPEND script "pacml_case([==[${sentence}]==] [==[${pattern}]==])\n")
endforeach()
string(REPLACE "<open>" "[" script "${script}")
string(REPLACE "<close>" "]" script "${script}")
string(REPLACE "<semicolon>" ";" script "${script}")
file(WRITE ${OUTPUT} "${script}")
