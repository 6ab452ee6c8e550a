# Debian packages of what is installed: `cpack --config build/release/CPackConfig.cmake` makes one .deb
# of each component of Install.cmake, here in the build folder's packages/.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT "the pacml authors <pacml@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL pacml libpacml-dev)
if(PACML_WITH_TORCH)
  list(APPEND CPACK_COMPONENTS_ALL pacml-learner)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# What the programs and the library link, as dpkg-shlibdeps finds it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
# ... and lets the system's linker know of the library.
set(CPACK_DEBIAN_PACML_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_DEBIAN_PACML_PACKAGE_NAME pacml)
set(CPACK_COMPONENT_PACML_DESCRIPTION
    "The program, the library, configurations and documents: simulating, acting, evaluating, deciding.")
# Trains where it is there; the others need nothing of it.
set(CPACK_DEBIAN_PACML_PACKAGE_SUGGESTS pacml-learner)
set(CPACK_DEBIAN_PACML-LEARNER_PACKAGE_NAME pacml-learner)
set(CPACK_COMPONENT_PACML-LEARNER_DESCRIPTION "What trains policies, and exports them: needs LibTorch.")
# LibTorch's own choice of a BLAS may be a very slow one.
set(CPACK_DEBIAN_PACML-LEARNER_PACKAGE_DEPENDS
    "pacml (= ${PROJECT_VERSION}), libopenblas0-pthread")
set(CPACK_DEBIAN_LIBPACML-DEV_PACKAGE_NAME libpacml-dev)
set(CPACK_COMPONENT_LIBPACML-DEV_DESCRIPTION
    "Headers of the library, and how CMake and pkg-config find it.")
set(CPACK_DEBIAN_LIBPACML-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBPACML-DEV_PACKAGE_DEPENDS "pacml (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBPACML-DEV_PACKAGE_SHLIBDEPS OFF)
include(CPack)
