# lua/*.lua as C++ string literals, regenerated when one of them changes: redis/lua_parts.hpp.
set(lua_header ${CMAKE_BINARY_DIR}/generated/redis/lua_parts.hpp)
file(GLOB lua_parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lua/*.lua)
add_custom_command(
  OUTPUT ${lua_header}
  COMMAND ${CMAKE_COMMAND} "-DPARTS=${lua_parts}" -DHEADER=${lua_header} -P ${CMAKE_SOURCE_DIR}/cmake/embed_lua.cmake
  DEPENDS ${lua_parts} ${CMAKE_SOURCE_DIR}/cmake/embed_lua.cmake
  COMMENT "Embedding lua/"
  VERBATIM)
add_custom_target(lua_parts DEPENDS ${lua_header})
target_sources(weir_redis PRIVATE ${lua_header})
target_include_directories(weir_redis PRIVATE ${CMAKE_BINARY_DIR}/generated)
