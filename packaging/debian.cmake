# Three Debian packages by `cpack -G DEB`, of a shared build without LibTorch:
#   libequinorm0     the shared library
#   libequinorm-dev  headers (those of the LibTorch front end too), archives, CMake, pkg-config
#   equinorm         the command
#
# Not a source package: Debian's own archive would want debian/. The trap: configure with
# CMAKE_INSTALL_PREFIX=/usr (the preset `package` does), or the libraries miss the multiarch folder.
set(soname_package libequinorm${PROJECT_VERSION_MAJOR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Equinorm maintainers <maintainers@equinorm.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # would stand before each package's own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${soname_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_SOURCE_DIR}/symbols ${CMAKE_CURRENT_SOURCE_DIR}/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Transformer normalization kernels: shared library
LayerNorm, RMSNorm and their relatives, forward and backward, for f64, f32, f16
and bf16, with the same bits for any thread count, batch and instruction set.
.
This package holds the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libequinorm-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${soname_package} (= ${PROJECT_VERSION}), libmpfr-dev, libgmp-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Transformer normalization kernels: headers and archives
LayerNorm, RMSNorm and their relatives, forward and backward, for f64, f32, f16
and bf16, with the same bits for any thread count, batch and instruction set.
.
This package holds the headers for C, C++ and LibTorch, static libraries, a
CMake package and a pkg-config file.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME equinorm)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${CMAKE_BINARY_DIR}/src/api ${CMAKE_BINARY_DIR}/src/reference)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${soname_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "Transformer normalization kernels: command
Checks every kernel of the library on this machine, bit by bit, measures its
speed, and explains normalization on numbers of your own.
.
Training comparisons want a build from source with LibTorch.")

# What every package carries in /usr/share/doc.
find_program(EQUINORM_GZIP gzip REQUIRED)
mark_as_advanced(EQUINORM_GZIP)
configure_file(changelog.in changelog @ONLY)
execute_process(COMMAND ${EQUINORM_GZIP} -9nc ${CMAKE_CURRENT_BINARY_DIR}/changelog
  OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
foreach(component library development command)
  string(TOUPPER ${component} upper)
  set(doc share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES copyright ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz DESTINATION ${doc}
    COMPONENT ${component})
endforeach()
execute_process(COMMAND ${EQUINORM_GZIP} -9nc ${CMAKE_CURRENT_SOURCE_DIR}/equinorm.1
  OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/equinorm.1.gz COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/equinorm.1.gz DESTINATION share/man/man1
  COMPONENT command)
set(examples ${PROJECT_SOURCE_DIR}/examples)
install(FILES ${examples}/c_norm.c ${examples}/c_transformer_block.c ${examples}/cpp_norm.cpp
  ${examples}/libtorch_norm.cpp ${examples}/mapped_file.cpp
  DESTINATION share/doc/libequinorm-dev/examples COMPONENT development)

include(CPack)
