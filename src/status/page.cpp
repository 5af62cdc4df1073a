#include "status/page.hpp"

#include <array>
#include <openssl/evp.h>
#include <stdexcept>

#include "status/page_parts.hpp"
#include "status/tables.hpp"

namespace weir::status {
namespace {

std::string replaced(std::string text, std::string_view mark, std::string_view part) {
  text.replace(text.find(mark), mark.size(), part);
  return text;
}

/// `access`: `token`, or `open` if none is needed. `refresh`: in the head, for browsers without
/// JavaScript; `content`: for them, too.
std::string document(std::string_view access, std::string_view refresh, std::string_view content) {
  // The content is last, because only it may contain a mark.
  std::string made = replaced(std::string(parts::page_html), "@style@", parts::page_css);
  made = replaced(std::move(made), "@script@", parts::page_js);
  made = replaced(std::move(made), "@access@", access);
  made = replaced(std::move(made), "@refresh@", refresh);
  return replaced(std::move(made), "@content@", content);
}

}  // namespace

std::string hash_source(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> encoded{};
  const int length = ::EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return "'sha256-" +
         std::string(encoded.data(), encoded.data() + static_cast<std::ptrdiff_t>(length)) + "'";
}

std::string page(const Report& report) {
  return document("open", "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n",
                  tables_of(report));
}

std::string locked_page() {
  return document("token", {}, parts::locked_html);
}

std::string_view security_policy() {
  static const std::string policy =
      "default-src 'none'; img-src data:; script-src " + hash_source(parts::page_js) +
      "; style-src " + hash_source(parts::page_css) +
      "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'";
  return policy;
}

}  // namespace weir::status
