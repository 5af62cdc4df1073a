// Catch2 under one name: version 3 (Debian 13) or 2.13 (Debian 12).
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
