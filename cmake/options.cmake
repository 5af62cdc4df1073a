# Warnings, sanitizers and the compiler cache, for every target of the project.
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

# No path of the machine in the program, and what ccache has of one checkout fits another.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# ccache meets precompiled headers only with these sloppinesses (ccache manual, "Precompiled headers").
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()
