// Reads certificates and keys from PEM files and reports problems with them.
//
// Messages name files and reasons and never contain the content of a file. Used at start-up and at
// a reload, from one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

struct evp_pkey_st;
struct x509_st;

namespace weir::tls {

/// A certificate with the chain that leads to its CA, and its key.
struct CertificateFiles {
  std::string certificate;
  std::string private_key;
  friend bool operator==(const CertificateFiles&, const CertificateFiles&) = default;
};

/// The TLS settings of an upstream or of Redis.
struct ClientFiles {
  std::string ca;           ///< empty: the system's CAs
  CertificateFiles own;     ///< empty: no client certificate
  std::string server_name;  ///< for its certificate and SNI; empty: the host of the URL
  bool verify = true;
  friend bool operator==(const ClientFiles&, const ClientFiles&) = default;
};

using Certificate = std::shared_ptr<x509_st>;
using Key = std::shared_ptr<evp_pkey_st>;
using Certificates = std::vector<Certificate>;  ///< a certificate and its chain

Result<Certificates> read_certificates(const std::string& file);
/// Keys that are encrypted with a passphrase are refused: nobody could type it.
Result<Key> read_key(const std::string& file);
bool belong_together(const Certificate& certificate, const Key& key);
/// Returns why peers will not accept it now: it has expired, or is not valid yet; else empty.
std::string date_problem(const Certificate& certificate);
/// Returns why its key makes each full handshake expensive for the server (RSA with more than 4096
/// bits); else empty.
std::string key_problem(const Certificate& certificate);
/// False if a signature with its key takes a server much longer than usual: RSA with more than 2048
/// bits, or a curve other than P-256 and Ed25519.
bool signs_fast(const Certificate& certificate);

}  // namespace weir::tls
