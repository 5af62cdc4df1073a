#include "tls/material.hpp"

#include <cerrno>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/path_advice.hpp"
#include "tls/openssl.hpp"

namespace weir::tls {
namespace {

constexpr std::size_t largest_file = 1024 * 1024;

Problem cannot_use(const std::string& file, const std::string& why) {
  return {"cannot use file \"" + file + "\": " + why};
}

/// The text of a file, wiped by the destructor because it may be a key.
class Text {
 public:
  Text() : bytes_(largest_file + 1, '\0') {}
  Text(Text&&) = default;
  Text& operator=(Text&&) = delete;
  ~Text() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  /// Returns why the file cannot be read, or an empty text.
  std::string read(const std::string& file) {
    // O_NONBLOCK: opening a FIFO returns at once, and it is refused before a read could block.
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    const bool is_file =
        descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    ssize_t got = -1;
    if (is_file) {
      while (size_ < bytes_.size() &&
             (got = ::read(descriptor, bytes_.data() + size_, bytes_.size() - size_)) > 0)
        size_ += static_cast<std::size_t>(got);
    }
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (descriptor >= 0 && !is_file) return "it is not a regular file";
    if (got < 0) return std::generic_category().message(error) + read_advice(error, ::geteuid());
    return size_ > largest_file ? "it is larger than 1 MiB" : "";
  }
  BioOwner bio() const { return BioOwner(BIO_new_mem_buf(bytes_.data(), static_cast<int>(size_))); }

 private:
  std::vector<char> bytes_;
  std::size_t size_ = 0;
};

/// Without this callback OpenSSL would prompt on the terminal.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

bool is_end_of_file() {
  const unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

}  // namespace

Result<Certificates> read_certificates(const std::string& file) {
  Text text;
  if (const std::string why = text.read(file); !why.empty()) return cannot_use(file, why);
  const BioOwner bio = text.bio();
  Certificates found;
  ERR_clear_error();
  while (X509* const one = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    found.emplace_back(one, X509_free);
  const bool is_end = is_end_of_file();
  const std::string why = take_reason();
  if (!is_end) return cannot_use(file, "a certificate in it is broken (" + why + ")");
  if (found.empty())
    return cannot_use(
        file, "it has no certificate in PEM form, which begins with -----BEGIN CERTIFICATE-----");
  return found;
}

Result<Key> read_key(const std::string& file) {
  Text text;
  if (const std::string why = text.read(file); !why.empty()) return cannot_use(file, why);
  const BioOwner bio = text.bio();
  bool has_passphrase = false;
  ERR_clear_error();
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, &has_passphrase);
  ERR_clear_error();
  if (key != nullptr) return Key(key, EVP_PKEY_free);
  if (has_passphrase)
    return cannot_use(file, "the key is encrypted with a passphrase; remove the passphrase");
  return cannot_use(
      file,
      "it has no usable private key in PEM form, which begins with -----BEGIN PRIVATE KEY-----");
}

bool belong_together(const Certificate& certificate, const Key& key) {
  const bool same = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return same;
}

std::string date_problem(const Certificate& certificate) {
  const auto text_of = [](const ASN1_TIME* time) {
    const BioOwner bio(BIO_new(BIO_s_mem()));
    ASN1_TIME_print(bio.get(), time);
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    return std::string(text, static_cast<std::size_t>(size));
  };
  const ASN1_TIME* const until = X509_get0_notAfter(certificate.get());
  const ASN1_TIME* const from = X509_get0_notBefore(certificate.get());
  if (X509_cmp_current_time(until) < 0) return "the certificate expired on " + text_of(until);
  if (X509_cmp_current_time(from) > 0)
    return "the certificate is not valid before " + text_of(from);
  return "";
}

std::string key_problem(const Certificate& certificate) {
  constexpr int most_rsa_bits = 4096;
  const EVP_PKEY* const key = X509_get0_pubkey(certificate.get());
  const bool is_rsa = key != nullptr && (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA ||
                                         EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA_PSS);
  if (!is_rsa || EVP_PKEY_get_bits(key) <= most_rsa_bits) return "";
  return "an RSA key of " + std::to_string(EVP_PKEY_get_bits(key)) +
         " bits makes handshakes so expensive that a few clients can occupy a worker; use P-256, "
         "or RSA with 2048 bits";
}

bool signs_fast(const Certificate& certificate) {
  const EVP_PKEY* const key = X509_get0_pubkey(certificate.get());
  if (key == nullptr) return false;
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS:
      return EVP_PKEY_get_bits(key) <= 2048;
    case EVP_PKEY_EC:
      return EVP_PKEY_get_bits(key) <= 256;
    default:
      return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
  }
}

}  // namespace weir::tls
