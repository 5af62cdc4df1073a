#include "tls/material.hpp"

#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "tls/context.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::tls {
namespace {

using test::MadeCertificate;

TEST_CASE("a certificate and its key belong together, and to no other") {
  const MadeCertificate one("one.test");
  const MadeCertificate other("other.test");
  const auto certificates = read_certificates(one.files().certificate);
  const auto key = read_key(one.files().private_key);
  const auto other_key = read_key(other.files().private_key);
  REQUIRE(certificates.has_value());
  REQUIRE(key.has_value());
  REQUIRE(other_key.has_value());
  CHECK(certificates->size() == 1);
  CHECK(belong_together(certificates->front(), *key));
  CHECK_FALSE(belong_together(certificates->front(), *other_key));
  CHECK(date_problem(certificates->front()).empty());
}

TEST_CASE("an expired certificate is reported with the date") {
  const MadeCertificate old("old.test", -3600);
  const auto certificates = read_certificates(old.files().certificate);
  REQUIRE(certificates.has_value());
  CHECK(date_problem(certificates->front()).starts_with("the certificate expired on "));
}

TEST_CASE("a file without a certificate or key is named, and its content is not shown") {
  const MadeCertificate one("one.test");
  const auto no_key = read_key(one.files().certificate);
  REQUIRE_FALSE(no_key.has_value());
  CHECK(no_key.error().message ==
        "cannot use file \"" + one.files().certificate +
            "\": it has no usable private key in PEM form, which begins with -----BEGIN PRIVATE "
            "KEY-----");
  const auto no_certificate = read_certificates(one.files().private_key);
  REQUIRE_FALSE(no_certificate.has_value());
  CHECK(no_certificate.error().message.find("it has no certificate") != std::string::npos);
  CHECK_FALSE(read_certificates("/nowhere").has_value());
}

TEST_CASE("a pipe instead of a file does not block") {
  const MadeCertificate one("one.test");
  const std::string pipe = one.files().certificate + ".pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto none = read_key(pipe);
  ::unlink(pipe.c_str());
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message == "cannot use file \"" + pipe + "\": it is not a regular file");
}

TEST_CASE("a key that is too short is refused with the sizes that are accepted") {
  const MadeCertificate weak("weak.test", 3600, EVP_RSA_gen(512));
  const auto server = ServerContext::load({weak.files()});
  REQUIRE_FALSE(server.has_value());
  CHECK(server.error().message == "cannot use the certificate in \"" + weak.files().certificate +
                                      "\": ee key too small; use RSA with 2048 bits or more, or "
                                      "P-256");
}

TEST_CASE("the context whose certificate is for a name") {
  const MadeCertificate one("one.test");
  const MadeCertificate wild("*.wild.test");
  const auto server = ServerContext::load({one.files(), wild.files()});
  REQUIRE(server.has_value());
  const ServerContext& context = **server;
  CHECK(context.context_for("one.test") == context.native());
  CHECK(context.context_for("a.wild.test") != nullptr);
  CHECK(context.context_for("a.wild.test") != context.native());
  CHECK(context.context_for("wild.test") == nullptr);
  CHECK(context.context_for("two.test") == nullptr);
  CHECK(context.context_for(nullptr) == nullptr);
  CHECK_FALSE(ServerContext::load({}).has_value());
}

}  // namespace
}  // namespace weir::tls
