// The route table finds the same routes as trying every route in order: random tables, random
// requests.
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"
#include "unit/http/request_of.hpp"
#include "unit/routing/linear_table.hpp"

namespace weir::routing {
namespace {

using Texts = std::vector<std::string>;

const Texts hosts{"a.example.com",   "A.Example.com",   "b.example.com", "*.example.com", "*.com",
                  "*.a.example.com", "*.A.EXAMPLE.com", "example.com",   "[2001:db8::1]"};
const Texts asked_hosts{"a.example.com",
                        "A.EXAMPLE.COM.",
                        "x.a.example.com",
                        "a.a.example.com",
                        "example.com",
                        "com",
                        "x.com",
                        ".example.com",
                        "evilexample.com",
                        "other.org",
                        "[2001:DB8::1]",
                        "[2001:db8::2]",
                        ".",
                        ""};
const Texts segments{"a",
                     "b",
                     "A",
                     "login",
                     "Login",
                     "a-long-segment-name",
                     "A-Long-Segment-name",
                     "x%20y",
                     "caf%C3%A9",
                     ".well-known"};
const Texts path_parts{"/a",
                       "/b",
                       "/A",
                       "/login",
                       "/Login",
                       "/a-long-segment-name",
                       "/x%20y",
                       "/caf%c3%a9",
                       "/",
                       "//",
                       "/..",
                       "/.",
                       ";v=1",
                       "%2F",
                       "%2561",
                       "/a/b",
                       "/.well-known",
                       "/%3Fx",
                       "/A-LONG-SEGMENT-NAME"};

/// A table and the requests that are asked about it, all from one random sequence.
struct Case {
  explicit Case(std::uint32_t seed) : random(seed) {
    // Small tables are tried linearly, large ones are divided: sizes on both sides of the bound.
    const std::size_t counts[] = {1, 3, 4, 5, 6, 9, 20, 60, 200};
    const std::size_t count = counts[below(std::size(counts))];
    decides = chance(3);
    shares_paths = chance(3);
    for (std::size_t i = 0; i < count; ++i)
      add_route();
    variants = {.letter_case = !chance(4),
                .trailing_slash = !chance(4),
                .repeated_slashes = !chance(4),
                .dot_segments = !chance(4),
                .parameters = !chance(4),
                .encoded_delimiters = !chance(4)};
  }

  std::size_t below(std::size_t bound) { return random() % bound; }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  const std::string& one_of(const Texts& texts) { return texts[below(texts.size())]; }

  std::string pattern() {
    if (chance(12)) return "/";
    if (shares_paths && !chance(3)) return chance(2) ? "/a/b/c/" + one_of(segments) : "/a/b/{id}";
    std::string text;
    const std::size_t depth = below(4);
    for (std::size_t i = 0; i < depth; ++i) {
      const std::size_t kind = below(8);
      if (kind == 0) {
        text += "/*";
      } else if (kind == 1) {
        text += "/{p" + std::to_string(i) + "}";
      } else {
        text += "/" + one_of(segments);
      }
    }
    if (chance(3) || text.empty()) {
      text += "/**";
    } else if (chance(5)) {
      text += "/";
    }
    return text;
  }

  void add_route() {
    Match& match = matches.emplace_back();
    if (chance(3)) match.host = one_of(hosts);
    if (!chance(10)) match.path = PathPattern::parse(pattern()).value();
    if (chance(5)) match.methods = {chance(2) ? "GET" : "POST"};
    if (chance(8)) match.headers = {{"X-Beta", chance(2) ? "1" : "2"}};
    if (chance(6)) match.address = chance(2) ? office : crawlers;
    RouteTable::Entry entry{.match = &match};
    if (chance(4)) entry.tolerated.slashes = true;
    if (chance(4)) entry.tolerated.doubled = true;
    entry.decides = decides && chance(3);
    entry.refuses = !entry.decides && chance(8);
    entries.push_back(entry);
  }

  std::string path() {
    if (chance(30)) return "*";
    std::string text;
    for (std::size_t count = 1 + below(4); count > 0; --count)
      text += one_of(path_parts);
    if (shares_paths && chance(2)) text.insert(0, "/a/b");
    return text.starts_with('/') ? text : "/" + text;
  }

  IpAddress client() { return IpAddress::v4({192, 0, static_cast<std::uint8_t>(below(4)), 7}); }

  std::mt19937 random;
  const AddressList office{"office", PrefixTable({IpPrefix::parse("192.0.0.0/23").value()})};
  const AddressList crawlers{"crawlers", PrefixTable({IpPrefix::parse("192.0.1.0/24").value()})};
  std::deque<Match> matches;
  std::vector<RouteTable::Entry> entries;
  PathVariants variants;
  bool decides = false;
  bool shares_paths = false;
};

/// One request, as it is asked and as it is described.
struct Request {
  Request(Case& from, const ReadingOptions& options)
      : asked_path(from.path()),
        described_path(from.path()),
        asked_host(from.one_of(asked_hosts)),
        described_host(from.one_of(asked_hosts)),
        fields(http::fields_of({{"x-beta", from.chance(2) ? "1" : "2"}})),
        is_described_refused(from.chance(20)) {
    const Texts methods{"GET", "HEAD", "POST", "PUT"};
    asked_method = from.one_of(methods);
    described_method = from.one_of(methods);
    const bool has_header = from.chance(2);
    asked.client = described.client = from.client();
    is_readable =
        fill(asked, asked_path, asked_host, asked_method, has_header, options) &&
        fill(described, described_path, described_host, described_method, from.chance(2), options);
  }

  bool fill(Question& question, const std::string& path, const std::string& host,
            const std::string& method, bool has_header, const ReadingOptions& options) {
    question.request.path = path;
    question.request.host = host;
    question.request.method = method;
    if (has_header) question.request.fields = fields;
    return !question.paths.read(path, options);
  }

  Result<const Question*, http::Refusal> original() {
    ++calls;
    if (is_described_refused) return http::Refusal{400, "the described request is refused"};
    return &described;
  }

  std::string asked_path, described_path, asked_host, described_host, asked_method,
      described_method;
  std::vector<http::FieldView> fields;
  Question asked, described;
  bool is_described_refused;
  bool is_readable = false;
  int calls = 0;
};

void check_same(const Candidate& found, const Candidate& expected, const Match& match) {
  REQUIRE(found.route == expected.route);
  REQUIRE(found.path.data() == expected.path.data());
  REQUIRE(found.path == expected.path);
  const std::size_t parameters = match.path ? match.path->parameters().size() : 0;
  for (std::size_t i = 0; i < parameters; ++i)
    REQUIRE(found.captures[i] == expected.captures[i]);
}

/// Returns the number of candidates; 0 if the request is refused or has no route.
std::size_t check_agreement(Case& one, const RouteTable& table, const LinearTable& model,
                            std::vector<Candidate>& candidates) {
  Request request(one, table.reading_options());
  if (!request.is_readable) return 0;
  CAPTURE(request.asked_path, request.asked_host, request.asked_method, request.described_path,
          request.described_host, request.described_method);
  const auto refusal = table.find(
      request.asked, [&] { return request.original(); }, candidates);
  const int calls = request.calls;
  const auto expected = model.find(request.asked, [&] { return request.original(); });
  REQUIRE(calls == request.calls - calls);
  REQUIRE(refusal.has_value() == expected.refusal.has_value());
  if (refusal) {
    REQUIRE(refusal->status == expected.refusal->status);
    REQUIRE(std::string_view{refusal->detail} == expected.refusal->detail);
    return 0;
  }
  REQUIRE(candidates.size() == expected.candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i)
    check_same(candidates[i], expected.candidates[i], one.matches[candidates[i].route]);
  return candidates.size();
}

TEST_CASE("the index finds the same routes as trying every route in order") {
  constexpr std::uint32_t cases = history_length(1'500U);
  const TestSeed seed;
  std::size_t found = 0;
  std::size_t several = 0;
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i < cases; ++i) {
    CAPTURE(i);
    Case one(seed + i);
    const RouteTable table(one.entries, one.variants);
    const LinearTable model(one.entries);
    for (int request = 0; request < 60; ++request) {
      const std::size_t count = check_agreement(one, table, model, candidates);
      found += count > 0 ? 1 : 0;
      several += count > 1 ? 1 : 0;
    }
  }
  // Otherwise the cases would prove nothing.
  CHECK(found > 7 * cases);
  CHECK(several > cases / 2);
}

}  // namespace
}  // namespace weir::routing
