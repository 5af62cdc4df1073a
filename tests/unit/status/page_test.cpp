#include "status/page.hpp"

#include <array>
#include <openssl/evp.h>
#include <string>

#include "catch.hpp"
#include "unit/status/sample.hpp"

namespace weir::status {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string content_of(const std::string& html, const std::string& element) {
  const auto begin = html.find('<' + element + '>') + element.size() + 2;
  return html.substr(begin, html.find("</" + element + '>', begin) - begin);
}

std::string sha256_of(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  REQUIRE(::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha256(), nullptr));
  std::array<unsigned char, 100> encoded{};
  ::EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return "sha256-" + std::string(reinterpret_cast<const char*>(encoded.data()));
}

TEST_CASE("the policy allows the script and the style of the page, and no other") {
  const std::string policy(security_policy());
  for (const std::string& html : {page(sample_report().report), locked_page()}) {
    CHECK(has(policy, "script-src '" + sha256_of(content_of(html, "script")) + "';"));
    CHECK(has(policy, "style-src '" + sha256_of(content_of(html, "style")) + "';"));
  }
  CHECK(policy.starts_with("default-src 'none';"));
  CHECK(has(policy, "frame-ancestors 'none'"));
  CHECK(!has(policy, "unsafe"));
}

TEST_CASE("the page uses nothing from elsewhere, and no handler in its markup") {
  const std::string html = page(sample_report().report);
  CHECK(!has(html, "src=\""));
  CHECK(!has(html, " style=\""));
  CHECK(!has(html, "onclick"));
  CHECK(!has(html, "innerHTML"));
  CHECK(!has(html, "https:"));
  for (std::size_t at = html.find("href=\""); at != std::string::npos;
       at = html.find("href=\"", at + 1))
    CHECK(html.substr(at, 12) == "href=\"data:,");
  for (const char* mark : {"@style@", "@script@", "@refresh@", "@content@", "@access@"})
    CHECK(!has(html, mark));
}

TEST_CASE("the page has the tables, and is loaded again without JavaScript") {
  const std::string html = page(sample_report().report);
  CHECK(has(html, "data-access=\"open\""));
  CHECK(has(html, "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"));
  CHECK(has(html, "<th scope=\"row\">c0ffee</th>") == false);
  CHECK(has(html, "<td>c0ffee</td>"));
}

TEST_CASE("the page without a token has nothing of the process, and explains how to send it") {
  const std::string html = locked_page();
  CHECK(has(html, "data-access=\"token\""));
  CHECK(has(html, "Authorization: Bearer"));
  CHECK(!has(html, "http-equiv=\"refresh\""));
  CHECK(!has(html, "<td>"));
  CHECK(!has(html, WEIR_VERSION));
}

TEST_CASE("a text that looks like a mark of the page stays as it is") {
  Status status = sample_status();
  status.routes[0].name = "@script@@style@@content@";
  CHECK(has(page(compare(nullptr, status)), ">@script@@style@@content@</th>"));
}

}  // namespace
}  // namespace weir::status
