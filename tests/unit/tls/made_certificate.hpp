// A key and a self-signed certificate in files of a directory that goes with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string>

#include "tls/material.hpp"

#pragma GCC diagnostic ignored "-Wold-style-cast"  // in OpenSSL's macros

namespace weir::tls::test {

class MadeCertificate {
 public:
  /// Valid from now to so many seconds from now. The certificate owns the key.
  explicit MadeCertificate(const std::string& name, long valid_s = 3600,
                           EVP_PKEY* key = EVP_EC_gen("P-256")) {
    std::string directory = (std::filesystem::temp_directory_path() / "weir-tls-XXXXXX").string();
    directory_ = ::mkdtemp(directory.data());
    X509* const certificate = X509_new();
    X509_set_version(certificate, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), valid_s < 0 ? 2 * valid_s : 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), valid_s);
    X509_set_pubkey(certificate, key);
    X509_NAME* const subject = X509_get_subject_name(certificate);
    const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(certificate, subject);
    X509_EXTENSION* const names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + name).c_str());
    X509_add_ext(certificate, names, -1);
    X509_sign(certificate, key, EVP_sha256());
    write(files().certificate, [&](BIO* out) { PEM_write_bio_X509(out, certificate); });
    write(files().private_key, [&](BIO* out) {
      PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    X509_EXTENSION_free(names);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  ~MadeCertificate() { std::filesystem::remove_all(directory_); }
  MadeCertificate(const MadeCertificate&) = delete;
  MadeCertificate& operator=(const MadeCertificate&) = delete;

  CertificateFiles files() const {
    return {.certificate = directory_ + "/crt", .private_key = directory_ + "/key"};
  }

 private:
  template <class Write>
  void write(const std::string& file, Write&& pem) {
    BIO* const out = BIO_new_file(file.c_str(), "w");
    pem(out);
    BIO_free(out);
  }

  std::string directory_;
};

}  // namespace weir::tls::test
