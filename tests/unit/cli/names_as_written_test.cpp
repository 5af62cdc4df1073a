#include "cli/names_as_written.hpp"

#include "catch.hpp"

namespace weir::cli {

TEST_CASE("names from variables are shown as the file has them") {
  config::Config config;
  config.identities = {{.name = "a", .source = {identity::FromQuery{.name = "secret_query"}}},
                       {.name = "b",
                        .source = {identity::AnyOf{
                            {{identity::FromHeader{"secret-header"}},
                             {identity::AllOf{{{identity::FromCookie{.name = "Secret"}}}}}}}}},
                       {.name = "c", .source = {identity::FromQuery{.name = "plain"}}}};
  limiter::Policy policy;
  policy.name = "w";
  policy.attributes = {{.kind = limiter::Attribute::Kind::query,
                        .text = "query:secret_page",
                        .name = "secret_page",
                        .source = {identity::FromQuery{.name = "secret_page"}}}};
  config.policies = {policy};
  config.client_address.header_name = "secret-address";
  config.client_address.untrusted_fields = {"plain-*", "secret-*"};
  config.written.add("identities.a.query", "${QUERY}");
  config.written.add("identities.b.any_of[0].header", "${HEADER}");
  config.written.add("identities.b.any_of[1].all_of[0].cookie", "${COOKIE}");
  config.written.add("policies.w.attributes[0]", "query:${PAGE}");
  config.written.add("client_address.header", "${ADDRESS}");
  config.written.add("client_address.untrusted_fields[1]", "${PREFIX}");
  const auto shown = [&](const std::string& name) {
    return with_names_as_written(config, "a field may be read as \"" + name + "\"; remove it");
  };
  const auto text = [](const std::string& name) {
    return "a field may be read as \"" + name + "\"; remove it";
  };
  CHECK(shown("secret_query") == text("${QUERY}"));
  CHECK(shown("secret-header") == text("${HEADER}"));
  CHECK(shown("Secret") == text("${COOKIE}"));
  CHECK(shown("secret") == text("${COOKIE}"));
  CHECK(shown("secret_page") == text("${PAGE}"));
  CHECK(shown("secret-address") == text("${ADDRESS}"));
  CHECK(shown("secret-*") == text("${PREFIX}"));
  CHECK(shown("plain") == text("plain"));
  CHECK(shown("plain-*") == text("plain-*"));
  CHECK(shown("other") == text("other"));
}

}  // namespace weir::cli
