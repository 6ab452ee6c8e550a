# What `cmake --install` puts where, and the packages that cpack makes of it:
#   pacml          the program, libpacml.so, configurations, documents
#   pacml-learner  what trains; needs LibTorch
#   libpacml-dev   headers, and how CMake and pkg-config find them
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pacml)
set(share_dir ${CMAKE_INSTALL_DATADIR}/pacml)

install(TARGETS pacml RUNTIME COMPONENT pacml)
if(PACML_WITH_TORCH)
  install(TARGETS pacml-learner RUNTIME COMPONENT pacml-learner)
endif()
install(TARGETS pacml_api EXPORT pacml-targets
  LIBRARY COMPONENT pacml NAMELINK_COMPONENT libpacml-dev
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libpacml-dev)
install(DIRECTORY configs DESTINATION ${share_dir} COMPONENT pacml)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT pacml)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pacml)
# As the documents name them.
install(DIRECTORY deploy/prometheus deploy/grafana DESTINATION ${CMAKE_INSTALL_DOCDIR}/deploy
  COMPONENT pacml)
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}\")
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
  cmake_path(APPEND prefix \"${CMAKE_INSTALL_DOCDIR}\" OUTPUT_VARIABLE destination)
  include(\"${PROJECT_SOURCE_DIR}/cmake/InstallLinked.cmake\")" COMPONENT pacml)

install(EXPORT pacml-targets NAMESPACE pacml:: DESTINATION ${package_dir} COMPONENT libpacml-dev)
configure_package_config_file(cmake/pacml-config.cmake.in ${PROJECT_BINARY_DIR}/pacml-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pacml-config-version.cmake
  COMPATIBILITY SameMinorVersion)
# Found from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH PACML_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/pacml.pc.in ${PROJECT_BINARY_DIR}/pacml.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pacml-config.cmake
              ${PROJECT_BINARY_DIR}/pacml-config-version.cmake
  DESTINATION ${package_dir} COMPONENT libpacml-dev)
install(FILES ${PROJECT_BINARY_DIR}/pacml.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libpacml-dev)
