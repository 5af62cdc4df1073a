# weir_room(NAME USES room... [LIBRARIES target...]): src/NAME as the static library weir_NAME.
# A room without sources yet is an interface library, so that the graph above stays whole. The global property
# weir_rooms lists all rooms in their order.
set(rooms_off_the_request_path config admin app scenario cli)
function(weir_room name)
  set_property(GLOBAL APPEND PROPERTY weir_rooms ${name})
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(TRANSFORM ROOM_USES PREPEND weir_)
  if(sources)
    add_library(weir_${name} STATIC ${sources})
    set_target_properties(weir_${name} PROPERTIES UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP room)
    # GCC bounds how much a translation unit may grow by inlining if it is larger than this many instructions. A room
    # is, and requests with Redis would cost 8 % more instructions. Rooms that serve no request compile faster with it.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT name IN_LIST rooms_off_the_request_path)
      target_compile_options(weir_${name} PRIVATE --param=large-unit-insns=1000000)
    endif()
    set(scope PUBLIC)
  else()
    add_library(weir_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(weir_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(weir_${name} ${scope} ${ROOM_USES} ${ROOM_LIBRARIES})
endfunction()

# weir_unit(ROOM NAME FILE...): compiles these files of the room as a translation unit of their own (docs/adr/0036).
function(weir_unit room name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/src/${room}/ OUTPUT_VARIABLE sources)
  foreach(source IN LISTS sources)
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "weir_unit(${room} ${name}): there is no ${source}")
    endif()
  endforeach()
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${name})
endfunction()

# Asio, compiled once. What it needs at link time, and the warnings of its headers kept out.
add_library(asio STATIC ${CMAKE_SOURCE_DIR}/cmake/asio.cpp)
target_link_libraries(asio PUBLIC Threads::Threads)
target_compile_definitions(asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION)
