# While the documents are installed: puts what they link to outside of docs/, headers and configurations,
# where it is in the sources, so that none of their links leads nowhere.
#   source       the project's folder
#   destination  what stands for it where the documents are
file(GLOB_RECURSE documents ${source}/docs/*.md)
foreach(document IN LISTS documents)
  cmake_path(GET document PARENT_PATH folder)
  file(READ ${document} text)
  string(REGEX MATCHALL "\\(\\.\\./[^)#\n]+" links "${text}")
  foreach(link IN LISTS links)
    string(REPLACE "(" "${folder}/" target "${link}")
    cmake_path(NORMAL_PATH target)
    cmake_path(RELATIVE_PATH target BASE_DIRECTORY ${source} OUTPUT_VARIABLE place)
    if(place MATCHES "^docs/" OR NOT EXISTS ${target})
      continue()
    endif()
    cmake_path(GET place PARENT_PATH folder_of_place)
    file(INSTALL ${target} DESTINATION ${destination}/${folder_of_place})
  endforeach()
endforeach()
