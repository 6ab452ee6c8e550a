# Writes OUTPUT, a .cc with the page: DIR/page.html with the style and the scripts that it names put
# in. LIBRARY is the chart library's file, with its licence at the top.
function(put_in name file)
  file(READ ${file} text)
  string(FIND "${text}" "</script" ends_early)
  if(NOT ends_early EQUAL -1)
    message(FATAL_ERROR "${file} would end the script that it is put into")
  endif()
  string(REPLACE "@${name}@" "${text}" page "${page}")
  set(page "${page}" PARENT_SCOPE)
endfunction()

file(READ ${DIR}/page.html page)
put_in(style ${DIR}/style.css)
put_in(chart_library ${LIBRARY})
put_in(script ${DIR}/page.js)
# Compilers take strings of 64 KiB without asking; literals side by side are one.
string(LENGTH "${page}" length)
set(pieces)
set(begin 0)
while(begin LESS length)
  string(SUBSTRING "${page}" ${begin} 16000 piece)
  string(APPEND pieces "    R\"~~~~(${piece})~~~~\"\n")
  math(EXPR begin "${begin} + 16000")
endwhile()
file(WRITE ${OUTPUT} "#include \"apps/dashboard/page.h\"

namespace pacml::apps {

std::string_view dashboard_page() {
  static constexpr std::string_view kPage =
${pieces};
  return kPage;
}

}  // namespace pacml::apps
")
