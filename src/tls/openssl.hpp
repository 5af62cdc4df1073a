// Owners of OpenSSL objects, and its errors as text. For the .cpp files of this room only.
#pragma once

#include <memory>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string>

#include "base/freed.hpp"

#pragma GCC diagnostic ignored "-Wold-style-cast"  // in OpenSSL's macros

namespace weir::tls {

using BioOwner = std::unique_ptr<BIO, Freed<BIO_free_all>>;

/// Returns the oldest of this thread's errors, which caused the others, and clears them all.
inline std::string take_reason() {
  const unsigned long code = ERR_peek_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

}  // namespace weir::tls
