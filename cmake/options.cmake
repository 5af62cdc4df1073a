# Unity builds, warnings, sanitizers and the compiler cache, for every target of the project.

# A room is compiled as one translation unit, because most of the time of a file is spent on its headers. So two
# files of a room cannot have the same name in their anonymous namespaces.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "compile the files of a room together")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes a .cpp file in a unity build for a header and warns of each type of its anonymous namespace.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It reports members of std::optional and std::variant that are never read (GCC bug 80635).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -fno-omit-frame-pointer
                    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
add_compile_definitions(WEIR_VERSION="${PROJECT_VERSION}" BOOST_ASIO_NO_DEPRECATED
                        BOOST_ASIO_HAS_CO_AWAIT)
if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all)
  if(WEIR_SANITIZE STREQUAL "address,undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The checks of every pointer that is used take a quarter of the compiler's time. AddressSanitizer reports the same
    # null pointers and ends of objects; the fuzz preset, which Clang compiles, also has the checks of alignment.
    add_compile_options(-fno-sanitize=null,alignment,object-size)
  endif()
  add_link_options(-fsanitize=${WEIR_SANITIZE})
endif()
if(WEIR_FUZZ)
  # Coverage of our own code is what leads the fuzzer; main() comes with the targets in tests/fuzz.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  # Clang 14 has the coroutines but does not say so, and libstdc++'s <coroutine> believes it.
  add_compile_definitions(__cpp_impl_coroutine=201902L)
  if(WEIR_SANITIZE MATCHES "undefined")
    # Its function prologues do not assemble in a coroutine (LLVM bug 49689).
    add_compile_options(-fno-sanitize=function)
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Fewer collections of the compiler's garbage: a seventh less time, for up to 1 GiB of memory.
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# No path of the machine in the program, and what ccache has of one checkout fits another.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()
