#include "identity/token_readings.hpp"

#include <string>

#include "catch.hpp"
#include "unit/http/request_of.hpp"
#include "unit/identity/resolving.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::identity {
namespace {

using State = TokenReading::State;
using std::chrono::seconds;

const jwt::Issuer& issuer() {
  static const jwt::Issuer one("oct");
  return one;
}

/// exp: 1000 s.
std::string token(const std::string& subject, const std::string& key_id = "k") {
  return issuer().token(jwt::JwsAlgorithm::hs256, R"({"exp":1000,"sub":")" + subject + "\"}",
                        R"("kid":")" + key_id + "\",");
}

std::shared_ptr<const jwt::KeySet> keys_named(const std::string& key_id) {
  const std::string text = R"({"keys":[)" + issuer().jwk(R"("kid":")" + key_id + "\",") + "]}";
  return std::make_shared<const jwt::KeySet>(
      jwt::read_key_set(text, jwt::KeyOrigin::configured).value().keys);
}

TokenProvider provider(TokenPlace place = FromHeader{"authorization"}) {
  TokenProvider made{
      .name = "idp", .place = std::move(place), .rules = {}, .shown_claims = {}, .keys_from = {}};
  made.rules.algorithms = {jwt::JwsAlgorithm::hs256};
  made.rules.leeway = Duration{0};
  made.rules.claims = {"sub"};
  return made;
}

struct Fixture {
  explicit Fixture(TokenProvider made = provider()) : providers{std::move(made)} {
    providers[0].state->keys.publish(keys_named("k"));
  }
  TokenReading read(std::initializer_list<http::NameValue> fields, std::string_view query = {}) {
    http::RequestOf request{fields};
    request.view.query = query;
    readings.begin(now);
    return readings.of(0, request.view);
  }
  State state(std::string_view authorization) {
    return read({{"Authorization", authorization}}).state;
  }

  std::vector<TokenProvider> providers;
  TokenReadings readings{providers, test::key};
  Instant now{};
};

}  // namespace

TEST_CASE("a token follows the scheme Bearer, and other schemes carry none") {
  Fixture fixture;
  const std::string good = token("alice");
  const std::string forged = good.substr(0, good.size() - 6) + "AAAAAA";
  const auto [credentials, state] = GENERATE_COPY(table<std::string, State>({
      {"Bearer " + good, State::valid},
      {"bEaReR  " + good, State::valid},
      {"Bearer " + forged, State::invalid},
      {"Bearer " + good + " ", State::valid},  // blanks around a field value are not part of it
      {good, State::valid},                    // without a scheme it is a token all the same
      {forged, State::invalid},
      {"Bearer", State::invalid},
      {"Bearer x", State::invalid},
      {"Basic YTpi", State::absent},
      {"DPoP " + good, State::absent},
      {"Bearer " + good + " " + good, State::ambiguous},
      {"Bearer " + good + "," + good, State::ambiguous},
      {"Basic Bearer " + good, State::absent},
      {"", State::absent},
  }));
  CAPTURE(credentials);
  CHECK(fixture.state(credentials) == state);
}

TEST_CASE(
    "a token in the JSON serialization is an invalid token, and other texts like it are not") {
  // RFC 7515 section 7.2: general, flattened. Only the compact serialization is accepted.
  const auto [token, state] = GENERATE(table<std::string, State>({
      {R"({"payload":"e30","signatures":[{"protected":"eyJ9","signature":"c2ln"}]})",
       State::invalid},
      {R"({"payload": "e30", "protected": "eyJ9", "signature": "c2ln"})", State::invalid},
      {R"({"payload":"a.b.c"})", State::invalid},
      {"{}", State::invalid},
      // Some services find another token in these: after a second scheme, behind a semicolon, in a
      // parameter, at the start, at the end.
      {R"({"payload":"Bearer e30"})", State::ambiguous},
      {R"({"payload":";e30"})", State::ambiguous},
      {R"({"payload","token=e30"})", State::ambiguous},
      {R"({"payload":"\u0065"})", State::ambiguous},
      {"{\"payload\":\"\xc2\xa0\"}", State::ambiguous},
      {R"(e30 {"payload":""})", State::ambiguous},
      {R"({"payload":""} e30)", State::ambiguous},
      {R"({"payload":""},e30)", State::ambiguous},
  }));
  CAPTURE(token);
  Fixture strict;
  CHECK(strict.state("Bearer " + token) == state);
  CHECK(strict.state("Bearer " + token) == state);  // remembered
  TokenProvider ignoring = provider();
  ignoring.rejects_invalid = false;
  Fixture lenient{ignoring};
  const State ignored = state == State::invalid ? State::absent : state;
  CHECK(lenient.state("Bearer " + token) == ignored);
}

TEST_CASE("a token in another header, a parameter or a cookie") {
  const std::string good = token("alice");
  Fixture header{provider(FromHeader{"x-token"})};
  CHECK(header.read({{"X-Token", good}}).state == State::valid);
  CHECK(header.read({{"X-Token", "Bearer " + good}}).state == State::valid);
  CHECK(header.read({{"X-Token", "Basic " + good}}).state == State::invalid);
  CHECK(header.read({{"Authorization", "Bearer " + good}}).state == State::absent);
  Fixture query{provider(FromQuery{"t"})};
  CHECK(query.read({}, "a=b&t=" + good).state == State::valid);
  CHECK(query.read({}, "t=").state == State::absent);
  CHECK(query.read({}, "t=" + good + "&t=" + good).state == State::ambiguous);
  CHECK(query.read({}, "t=" + good.substr(1)).state == State::invalid);
  Fixture cookie{provider(FromCookie{"t"})};
  CHECK(cookie.read({{"Cookie", "a=b; t=" + good}}).state == State::valid);
  CHECK(cookie.read({{"Cookie", "t=" + good + "; t=" + good}}).state == State::ambiguous);
  CHECK(cookie.read({{"Cookie", "a=b"}}).state == State::absent);
}

TEST_CASE("a verification is remembered until the token expires by the wall clock") {
  Fixture fixture;
  const std::string field = "Bearer " + token("alice");
  fixture.now = Instant{seconds(999)};
  for (int i = 0; i < 2; ++i) {
    const TokenReading reading = fixture.read({{"Authorization", field}});
    REQUIRE(reading.state == State::valid);
    CHECK(reading.claims[0].text == "alice");
  }
  fixture.readings.set_wall_clock_offset(seconds(1));
  CHECK(fixture.state(field) == State::invalid);
  CHECK(fixture.read({{"Authorization", field}}).rejection == jwt::Rejection::expired);
  fixture.readings.set_wall_clock_offset(seconds(0));
  // The rejection is remembered too: a token that has expired is not used again.
  CHECK(fixture.state(field) == State::invalid);
}

TEST_CASE("a removed key stops working with the next set, and an added one works") {
  Fixture fixture;
  auto& keys = fixture.providers[0].state->keys;
  const std::string first = "Bearer " + token("alice", "k");
  const std::string second = "Bearer " + token("alice", "l");
  CHECK(fixture.state(first) == State::valid);
  CHECK(fixture.state(second) == State::invalid);
  CHECK(fixture.read({{"Authorization", second}}).rejection == jwt::Rejection::unknown_key);
  keys.publish(keys_named("l"));
  CHECK(fixture.state(first) == State::invalid);
  CHECK(fixture.state(second) == State::valid);
}

TEST_CASE("each token with an unknown key is noted, a remembered one too") {
  Fixture fixture;
  auto& keys = fixture.providers[0].state->keys;
  CHECK(fixture.state("Bearer " + token("alice")) == State::valid);
  CHECK(fixture.state("Bearer a.b.c") == State::invalid);
  CHECK_FALSE(keys.take_unknown_key());
  const std::string unknown = "Bearer " + token("alice", "l");
  for (int i = 0; i < 2; ++i) {
    CHECK(fixture.state(unknown) == State::invalid);
    CHECK(keys.take_unknown_key());
    CHECK_FALSE(keys.take_unknown_key());
  }
}

TEST_CASE("without keys a token is unverifiable, and what needs no key is rejected") {
  Fixture fixture;
  fixture.providers[0].state = std::make_shared<ProviderState>();
  CHECK(fixture.state("Bearer " + token("alice")) == State::unverifiable);
  CHECK(fixture.providers[0].state->keys.take_unknown_key());
  CHECK(fixture.state("Bearer a.b.c") == State::invalid);
  fixture.now = Instant{seconds(1000)};
  CHECK(fixture.state("Bearer " + token("alice")) == State::invalid);
  fixture.now = Instant{seconds(0)};
  fixture.providers[0].state->keys.publish(keys_named("k"));
  CHECK(fixture.state("Bearer " + token("bob")) == State::valid);
}

TEST_CASE("an invalid token counts as none if the provider ignores invalid tokens") {
  TokenProvider lenient = provider();
  lenient.rejects_invalid = false;
  Fixture fixture{lenient};
  CHECK(fixture.state("Bearer a.b.c") == State::absent);
  CHECK(fixture.state("Bearer a b") == State::ambiguous);
  CHECK(fixture.state("Bearer " + token("alice")) == State::valid);
}

TEST_CASE("the token of a request is read once") {
  Fixture fixture;
  const std::string field = "Bearer " + token("alice");
  const http::RequestOf good{{{"Authorization", field}}};
  const http::RequestOf none{{}};
  fixture.readings.begin(fixture.now);
  CHECK(fixture.readings.of(0, good.view).state == State::valid);
  CHECK(fixture.readings.of(0, none.view).state == State::valid);
  fixture.readings.begin(fixture.now);
  CHECK(fixture.readings.of(0, none.view).state == State::absent);
}

TEST_CASE("tokens are counted by result, and a claim that cannot identify a client is noted") {
  const auto counters = std::make_shared<TokenCounters>();
  std::vector<TokenProvider> providers{provider()};
  providers[0].rules.claims = {"sub", "roles"};
  TokenReadings readings{providers, test::key, {counters}};
  const auto read = [&](const std::string& authorization) {
    const http::RequestOf request{{{"Authorization", authorization}}};
    readings.begin({});
    return readings.of(0, request.view).state;
  };
  const std::string listed =
      "Bearer " + issuer().token(jwt::JwsAlgorithm::hs256, R"({"exp":9,"sub":"a","roles":["x"]})",
                                 R"("kid":"k",)");
  CHECK(read(listed) == State::unverifiable);
  providers[0].state->keys.publish(keys_named("k"));
  CHECK(read(listed) == State::valid);
  CHECK(read(listed) == State::valid);
  CHECK(read("Bearer a.b.c") == State::invalid);
  CHECK(counters->valid.value() == 2);
  CHECK(counters->invalid.value() == 1);
  CHECK(counters->unverifiable.value() == 1);
  CHECK(providers[0].state->unusable_claims.load() == 2);
}

TEST_CASE("a claim identifies a client by its provider, its path, its kind and its text") {
  std::vector<TokenProvider> providers{provider()};
  providers[0].rules.claims = {"sub", "id"};
  providers[0].rules.is_expiry_required = false;
  providers[0].state->keys.publish(keys_named("k"));
  providers.push_back(providers[0]);
  providers[1].name = "other";
  TokenReadings tokens{providers, test::key};
  const auto resolve_claim = [&](const Source& source, const std::string& payload) {
    const std::string field =
        "Bearer " + issuer().token(jwt::JwsAlgorithm::hs256, payload, R"("kid":"k",)");
    const http::RequestOf request{{{"Authorization", field}}};
    tokens.begin({});
    return resolve(source, {request.view, "/", {}, {}, {}}, test::key, tokens);
  };
  const auto id = [&](const std::string& value) {
    return resolve_claim(test::claim("id", 1), R"({"id":)" + value + "}");
  };
  const Hash128 five = id("5").key;
  CHECK(id("5").state == Resolution::State::found);
  CHECK(id("5.0").key == five);
  CHECK(id("50e-1").key == five);
  CHECK(id(R"("5")").key != five);
  CHECK(id("true").key != id(R"("true")").key);
  CHECK(id(R"("5")").key == keys_of(test::claim("id", 1), "5", {.client = {}}, test::key)[0]);
  for (const char* value : {"null", R"("")", "[5]", "{}"}) {
    INFO(value);
    CHECK(id(value).state == Resolution::State::absent);
  }
  const std::string both = R"({"sub":"5","id":"5"})";
  CHECK(resolve_claim(test::claim("sub"), both).key !=
        resolve_claim(test::claim("id", 1), both).key);
  Source other = test::claim("id", 1);
  std::get<FromClaim>(other.from).provider_index = 1;
  CHECK(resolve_claim(other, both).state == Resolution::State::found);
  CHECK(resolve_claim(other, both).key != resolve_claim(test::claim("id", 1), both).key);
  CHECK(resolve_claim(test::any_of({test::claim("sub")}), both).key ==
        resolve_claim(test::claim("sub"), both).key);
  CHECK(resolve_claim(test::all_of({test::claim("sub")}), both).key !=
        resolve_claim(test::claim("sub"), both).key);
  CHECK(resolve_claim(test::header("authorization"), both).key !=
        resolve_claim(test::claim("sub"), both).key);
}

TEST_CASE("a combination with an invalid token is invalid, even if another part is found") {
  std::vector<TokenProvider> providers{provider()};
  TokenReadings tokens{providers, test::key};
  const http::RequestOf request{{{"Authorization", "Bearer x"}, {"X-Api-Key", "a"}}};
  const auto state = [&](const Source& source) {
    tokens.begin({});
    const Resolution found = resolve(source, {request.view, "/", {}, {}, {}}, test::key, tokens);
    if (found.state == Resolution::State::invalid)
      CHECK(found.token_fault.rejection == jwt::Rejection::not_compact);
    return found.state;
  };
  const Source key = test::header("x-api-key");
  CHECK(state(test::any_of({key, test::claim("sub")})) == Resolution::State::invalid);
  CHECK(state(test::any_of({test::claim("sub"), key})) == Resolution::State::invalid);
  CHECK(state(test::all_of({key, test::claim("sub")})) == Resolution::State::invalid);
  CHECK(state(key) == Resolution::State::found);
}

TEST_CASE("a token at a place of several providers is read by the one whose issuer it names") {
  std::vector<TokenProvider> providers;
  for (const char* const name : {"a", "b"}) {
    TokenProvider& one = providers.emplace_back(provider());
    one.name = name;
    one.rules.issuer = name;
    one.state->keys.publish(keys_named("k"));
  }
  const auto signed_by = [](const std::string& claims) {
    return "Bearer " +
           issuer().token(jwt::JwsAlgorithm::hs256, "{" + claims + "}", R"("kid":"k",)");
  };
  const std::vector counters{std::make_shared<TokenCounters>(), std::make_shared<TokenCounters>()};
  TokenReadings readings{providers, test::key, counters};
  const auto read = [&](const std::string& authorization) {
    const http::RequestOf request{{"Authorization", authorization}};
    readings.begin(Instant{});
    const auto shown = [](const TokenReading& one) {
      const bool is_invalid = one.state == State::invalid;
      return std::pair{one.state, is_invalid ? std::optional(one.rejection) : std::nullopt};
    };
    // The result does not depend on the order, and is remembered.
    const auto second = shown(readings.of(1, request.view));
    const auto first = shown(readings.of(0, request.view));
    readings.begin(Instant{});
    CHECK(shown(readings.of(0, request.view)) == first);
    CHECK(shown(readings.of(1, request.view)) == second);
    return std::pair{first, second};
  };
  constexpr std::pair valid{State::valid, std::optional<jwt::Rejection>{}};
  constexpr std::pair absent{State::absent, std::optional<jwt::Rejection>{}};
  const auto invalid = [](jwt::Rejection why) {
    return std::pair{State::invalid, std::optional(why)};
  };
  using jwt::Rejection;
  CHECK(read(signed_by(R"("iss":"a","exp":9,"sub":"x")")) == std::pair{valid, absent});
  CHECK(read(signed_by(R"("iss":"b","exp":9,"sub":"x")")) == std::pair{absent, valid});
  const auto expired = invalid(Rejection::expired);
  CHECK(read(signed_by(R"("iss":"b","exp":0,"sub":"x")")) == std::pair{expired, expired});
  const auto foreign = invalid(Rejection::wrong_issuer);
  CHECK(read(signed_by(R"("iss":"c","exp":9,"sub":"x")")) == std::pair{foreign, foreign});
  std::string forged = signed_by(R"("iss":"b","exp":9,"sub":"x")");
  forged.replace(forged.size() - 6, 6, "AAAAAA");
  const auto unsigned_ = invalid(Rejection::bad_signature);
  CHECK(read(forged) == std::pair{unsigned_, unsigned_});
  CHECK(counters[0]->valid.value() == 2);
  CHECK(counters[1]->valid.value() == 2);
  CHECK(counters[0]->invalid.value() == 6);

  SECTION("the provider whose keys are not known yet") {
    providers[1].state = std::make_shared<ProviderState>();
    TokenReadings later{providers, test::key};
    const std::string good = signed_by(R"("iss":"b","exp":9,"sub":"x")");
    const http::RequestOf request{{"Authorization", good}};
    later.begin(Instant{});
    CHECK(later.of(0, request.view).state == State::unverifiable);
    CHECK(later.of(1, request.view).state == State::unverifiable);
  }
  SECTION("a rejected token counts as none only for the provider that ignores it") {
    providers[0].rejects_invalid = false;
    const auto both = read(signed_by(R"("iss":"c","exp":9,"sub":"x")"));
    CHECK(both == std::pair{absent, foreign});
  }
}

}  // namespace weir::identity
