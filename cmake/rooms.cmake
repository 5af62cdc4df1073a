# weir_precompile(TARGET SET header...): compiled by the first that asks for the SET; the others take it
# from there. So nothing that matters to the headers may differ between them.
function(weir_precompile target set)
  get_property(first GLOBAL PROPERTY weir_precompiled_${set})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY weir_precompiled_${set} ${target})
  endif()
endfunction()

# weir_room(NAME USES room... [LIBRARIES target...]): src/NAME as the static library weir_NAME.
# A room without sources yet is an interface library, so that the graph above stays whole. The global property
# weir_rooms lists all rooms in their order.
function(weir_room name)
  set_property(GLOBAL APPEND PROPERTY weir_rooms ${name})
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(TRANSFORM ROOM_USES PREPEND weir_)
  if(sources)
    add_library(weir_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(weir_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(weir_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(weir_${name} ${scope} ${ROOM_USES} ${ROOM_LIBRARIES})
  if(sources AND "asio" IN_LIST ROOM_LIBRARIES)
    weir_precompile(weir_${name} asio ${CMAKE_SOURCE_DIR}/cmake/asio_pch.hpp)
  endif()
endfunction()

# Asio is header-only: what it needs at link time, and the warnings of its headers kept out.
add_library(asio INTERFACE)
target_link_libraries(asio INTERFACE Threads::Threads)
# hiredis defines this for its users, and rooms with and without hiredis share precompiled headers.
target_compile_definitions(asio INTERFACE _FILE_OFFSET_BITS=64)

# The sanitizer presets compile a room's files together (CMAKE_UNITY_BUILD), which takes a third of the
# time. These have names of their own in their anonymous namespaces that others use differently.
set_source_files_properties(
  src/admin/admin_server.cpp src/cli/health.cpp src/config/expand.cpp src/config/limits.cpp
  src/config/policies_section.cpp src/loop/stream.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
