#include "config/foreign_file.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

std::string program_of(std::string_view text) {
  const auto found = find_foreign_format(text);
  if (!found) return "none";
  const std::string start = "this looks like a file of ";
  REQUIRE(found->message.starts_with(start));
  const std::size_t end = found->message.find_first_of(",:", start.size());
  return found->message.substr(start.size(), end - start.size()) + " " +
         std::to_string(found->line) + ":" + std::to_string(found->column);
}

TEST_CASE("files of other programs are recognised by a line") {
  CHECK(program_of("# api\nhttp {\n}\n") == "nginx 2:1");
  CHECK(program_of("  location /api {\r\n") == "nginx 1:3");
  CHECK(program_of("static_resources:\n") == "Envoy 1:1");
  CHECK(program_of("domain: a\ndescriptors:\n") == "Envoy's ratelimit service 2:1");
  CHECK(program_of("http:\n  routers:\n") == "Traefik 2:3");
  CHECK(program_of("http:\n  middlewares:\n    limit:\n") == "Traefik 2:3");
  CHECK(program_of("middlewares:\n  limit:\n") == "Traefik 1:1");
  CHECK(program_of("[http.middlewares.limit.rateLimit]\n") == "Traefik 1:1");
  CHECK(program_of("spec:\n  middlewares:\napiVersion: traefik.io/v1\n") == "Kubernetes 3:1");
  CHECK(program_of("frontend www\n") == "HAProxy 1:1");
  CHECK(program_of("a {\n\treverse_proxy b\n") == "Caddy 2:2");
  CHECK(program_of("_format_version: \"3.0\"\nservices:\n") == "Kong 1:1");
  CHECK(program_of("apiVersion: v1\n") == "Kubernetes 1:1");
  CHECK(program_of("services:\n") == "Docker Compose 1:1");
}

TEST_CASE("a file of Weir is never taken for another") {
  CHECK(program_of("") == "none");
  CHECK(program_of("listen: 8080\n") == "none");
  CHECK(program_of("services:\nroutes:\n") == "none");
  CHECK(program_of("routes:\n  middlewares:\n") == "none");
  CHECK(program_of("  frontend www\n") == "none");
  CHECK(program_of("location /api\n") == "none");
}

}  // namespace
}  // namespace weir::config
