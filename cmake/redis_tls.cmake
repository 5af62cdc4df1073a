# rediss:// needs hiredis' ssl module, which comes with 1.0 and later. weir_config refuses such a URL where it is missing; weir_redis
# learns of it through weir_config.
pkg_check_modules(HIREDIS_SSL IMPORTED_TARGET hiredis_ssl)
if(HIREDIS_SSL_FOUND)
  find_package(OpenSSL REQUIRED)
  target_compile_definitions(weir_config PUBLIC WEIR_HAS_REDIS_TLS)
  target_link_libraries(weir_redis PUBLIC PkgConfig::HIREDIS_SSL OpenSSL::SSL OpenSSL::Crypto)
endif()
