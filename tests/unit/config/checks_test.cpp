#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using test::problems_of;

TEST_CASE("a field that is read must not be dropped because of its name") {
  const std::string found = problems_of(R"(client_address: {header: edge_ip}
downstream: {unusual_field_names: drop}
identities: {key: {any_of: [{header: x-a}, {header: x_key}]}}
policies: {w: {algorithm: attributed_window, rate: 1/1s, attributes: ["header:x.b"]}}
routes: [{match: {headers: {x_tier: a}}, respond: {}}]
)");
  const std::string rest = "; choose pass, or a name of letters, digits and -\n";
  const std::string begin =
      "downstream.unusual_field_names: drop removes a field that is read here";
  CHECK(found == "1:26: client_address.header: " + begin + rest + "3:19: identities.key: " + begin +
                     rest + "4:70: policies.w.attributes: " + begin + rest +
                     "5:37: routes[0].match.headers.x_tier: " + begin + rest);
}

}  // namespace
}  // namespace weir::config
