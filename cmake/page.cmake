# src/status/page as C++ string literals, regenerated when one of its files changes: status/page_parts.hpp.
set(page_header ${CMAKE_BINARY_DIR}/generated/status/page_parts.hpp)
file(GLOB page_parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/status/page/*)
add_custom_command(
  OUTPUT ${page_header}
  COMMAND ${CMAKE_COMMAND} -DPAGE=${CMAKE_SOURCE_DIR}/src/status/page -DHEADER=${page_header}
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page_parts} ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
  COMMENT "Embedding src/status/page/"
  VERBATIM)
add_custom_target(page_parts DEPENDS ${page_header})
target_sources(weir_status PRIVATE ${page_header})
target_include_directories(weir_status PRIVATE ${CMAKE_BINARY_DIR}/generated)
