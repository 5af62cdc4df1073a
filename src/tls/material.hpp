// Certificates and keys as they lie in files (PEM), and what may be wrong with them.
//
// Messages name files and reasons and never repeat what is in a file. Used while starting up and at
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

/// How an upstream, or Redis, is spoken to.
struct ClientFiles {
  std::string ca;           ///< empty: the system's CAs
  CertificateFiles own;     ///< empty: no client certificate
  std::string server_name;  ///< in its certificate and SNI; empty: the host of the URL
  bool verify = true;
  friend bool operator==(const ClientFiles&, const ClientFiles&) = default;
};

using Certificate = std::shared_ptr<x509_st>;
using Key = std::shared_ptr<evp_pkey_st>;
using Certificates = std::vector<Certificate>;  ///< the first is the one, the others its chain

Result<Certificates> read_certificates(const std::string& file);
/// Keys under a passphrase are refused: nobody is there to type it.
Result<Key> read_key(const std::string& file);
bool belong_together(const Certificate& certificate, const Key& key);
/// Empty, or why others will not accept it now: it has expired, or is not valid yet.
std::string trouble_with_dates(const Certificate& certificate);
/// Empty, or why its key makes each full handshake expensive for the server: RSA with more than
/// 4096 bits.
std::string trouble_with_key(const Certificate& certificate);
/// False if a signature with its key takes a server much longer than usual: RSA with more than 2048
/// bits, or another curve than P-256 and Ed25519.
bool signs_fast(const Certificate& certificate);

}  // namespace weir::tls
