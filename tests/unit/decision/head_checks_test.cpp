// The checks of a head that both versions of HTTP share: a request is given by its method, scheme,
// authority, path and fields, without a parser.
#include "decision/head_checks.hpp"

#include "catch.hpp"
#include "decision/refusals.hpp"
#include "unit/decision/configuration.hpp"
#include "unit/http/request_of.hpp"

namespace weir::decision {
namespace {

using Fields = std::vector<http::FieldView>;

/// A configuration with an identity in X-Key and one trusted proxy, 192.0.2.9.
test::Configuration checked_settings() {
  test::Configuration config;
  config.limiter.identities.push_back({.name = "key", .source = {identity::FromHeader{"x-key"}}});
  config.proxy.client_address.trusted_proxies = {IpPrefix::parse("192.0.2.9").value()};
  config.proxy.downstream.max_body = 100;
  config.proxy.downstream.max_target = 20;
  return config;
}

struct ControlData {
  std::string_view method = "GET";
  std::string_view scheme = "https";
  std::string_view authority = "a.example";
  std::string_view path = "/";
};

constexpr http::Framing length_of(std::uint64_t length) {
  return {http::Framing::Kind::length, length};
}

/// A request that a parser has read, and the outcome of its checks.
struct Checked {
  explicit Checked(const ControlData& control, Fields fields = {},
                   const Result<http::Framing, http::Refusal>& framing = http::Framing{},
                   std::optional<http::Refusal> connection_fault = {},
                   const test::Configuration& config = checked_settings()) {
    request.peer = request.client = IpAddress::v4({192, 0, 2, 9});
    request.fields = std::move(fields);
    request.view.method = control.method;
    refusal = check_head(RequestRules(config.proxy, config.limiter),
                         {.target_fault = read_target_of(control, config.proxy.downstream),
                          .framing = framing,
                          .connection_fault = connection_fault,
                          .keep_alive = true},
                         request);
  }
  int status() const { return refusal ? refusal->status : 0; }

  http::ReceivedRequest request;
  std::optional<http::Refusal> refusal;

 private:
  /// As a parser of HTTP/2 reads the pseudo-header fields.
  std::optional<http::Refusal> read_target_of(const ControlData& control,
                                              const options::Downstream& downstream) {
    if (is_too_long(downstream, control.path)) return http::target_too_long;
    if (const auto fault = http::check_target(control.method, control.path, raw_bytes(downstream)))
      return fault;
    const auto host = http::host_field(request.fields);
    if (!host) return host.error();
    return http::set_uri(request.view, {control.scheme, control.authority, control.path}, *host,
                         request.target_storage);
  }
};

TEST_CASE("a request without faults is completed") {
  const Checked found({.method = "POST", .authority = "a.example:81", .path = "/a?b"},
                      http::fields_of({{"x-forwarded-for", "198.51.100.7"}, {"x-key", "k"}}),
                      length_of(100));
  REQUIRE_FALSE(found.refusal);
  const http::ReceivedRequest& request = found.request;
  CHECK(request.view.path == "/a");
  CHECK(request.view.query == "b");
  CHECK(request.view.host == "a.example");
  CHECK(request.view.authority == "a.example:81");
  CHECK(request.view.fields.size() == 2);
  CHECK(request.is_framed);
  CHECK(request.framing == length_of(100));
  CHECK(request.keep_alive);
  CHECK(request.client == IpAddress::v4({198, 51, 100, 7}));
}

TEST_CASE("each check refuses what it is for") {
  struct Row {
    int status;
    ControlData control;
    Fields fields{};
    http::Framing framing{};
  };
  const Row rows[] = {
      {0, {}},
      // The target.
      {0, {.path = "/2345678901234567890"}},
      {414, {.path = "/23456789012345678901"}},
      {400, {.path = "/\\"}},
      {400, {.path = "*"}},
      {0, {.method = "OPTIONS", .path = "*"}},
      {405, {.method = "TRACE"}},
      {405, {.method = "CONNECT"}},
      {400, {.scheme = "ftp"}},
      {400, {.authority = "user@a.example"}},
      {0, {}, http::fields_of({{"host", "a.example:443"}})},
      {400, {}, http::fields_of({{"host", "b.example"}})},
      {400, {}, http::fields_of({{"host", "a.example"}, {"host", "a.example"}})},
      // The method.
      {400, {.method = "get"}},
      // The declared length of the body.
      {0, {}, {}, length_of(100)},
      {413, {}, {}, length_of(101)},
      // A field used as an identity must appear once, and under its own name.
      {400, {}, http::fields_of({{"x-key", "1"}, {"x-key", "1"}})},
      {400, {}, http::fields_of({{"x_key", "1"}})},
      {0, {}, http::fields_of({{"x-other", "1"}, {"x-other", "1"}})},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    const Row& row = rows[i];
    CHECK(Checked(row.control, row.fields, row.framing).status() == row.status);
  }
}

TEST_CASE("the first of several faults is the reason") {
  const http::Refusal framing_fault{501, "framing"};
  const http::Refusal connection_fault{431, "connection"};
  const Fields repeated = http::fields_of({{"x-key", "1"}, {"x-key", "1"}, {"x_key", "1"}});
  const Fields twice_host = http::fields_of({{"host", "a"}, {"host", "a"}});
  // Each row lacks the fault that was the reason for the row before.
  CHECK(Checked({.method = "get", .path = "/23456789012345678901"}, repeated, framing_fault,
                connection_fault)
            .refusal == http::target_too_long);
  CHECK(Checked({.method = "get", .path = "/\\"}, twice_host, framing_fault, connection_fault)
            .refusal->detail.find("backslash") != std::string_view::npos);
  CHECK(Checked({.method = "get"}, twice_host, framing_fault, connection_fault).refusal->detail ==
        "more than one Host field");
  CHECK(Checked({.method = "get"}, repeated, framing_fault, connection_fault).refusal ==
        routing::lower_case_method);
  CHECK(Checked({}, repeated, framing_fault, connection_fault).refusal == framing_fault);
  CHECK(Checked({}, repeated, length_of(101), connection_fault).refusal == body_too_large);
  CHECK(Checked({}, repeated, length_of(100), connection_fault).refusal == connection_fault);
  CHECK(Checked({}, repeated).refusal == repeated_field);
}

TEST_CASE("a request that is refused early is not completed") {
  const http::Refusal fault{400, "fault"};
  const Fields forwarded = http::fields_of({{"x-forwarded-for", "198.51.100.7"}});
  const IpAddress peer = IpAddress::v4({192, 0, 2, 9});

  const Checked unframed({}, forwarded, fault);
  CHECK_FALSE(unframed.request.is_framed);
  CHECK_FALSE(unframed.request.keep_alive);
  CHECK(unframed.request.client == peer);

  const Checked large({}, forwarded, length_of(101));
  CHECK(large.request.is_framed);
  CHECK_FALSE(large.request.keep_alive);
  CHECK(large.request.client == peer);

  const Checked unconnected({}, forwarded, http::Framing{}, fault);
  CHECK_FALSE(unconnected.request.keep_alive);

  const Checked repeated(
      {}, http::fields_of({{"x-forwarded-for", "198.51.100.7"}, {"x-key", "1"}, {"x-key", "2"}}));
  CHECK(repeated.request.keep_alive);
  CHECK(repeated.request.client == IpAddress::v4({198, 51, 100, 7}));
}

TEST_CASE("fields with unusual names are dropped if the configuration wants it") {
  test::Configuration config = checked_settings();
  const Fields fields = http::fields_of({{"x-usual", "1"}, {"x.odd", "1"}});
  CHECK(Checked({}, fields, http::Framing{}, {}, config).request.view.fields.size() == 2);
  config.proxy.downstream.unusual_field_names = options::UnusualNames::drop;
  CHECK(Checked({}, fields, http::Framing{}, {}, config).request.view.fields.size() == 1);
}

TEST_CASE("a body is too large beyond max_body, if there is one") {
  options::Downstream downstream;
  CHECK_FALSE(is_too_large(downstream, 1'000'000'000'000));
  downstream.max_body = 100;
  CHECK_FALSE(is_too_large(downstream, 100));
  CHECK(is_too_large(downstream, 101));
}

TEST_CASE("raw bytes pass in a target if the configuration accepts them") {
  options::Downstream downstream;
  CHECK(raw_bytes(downstream) == http::RawBytes::refuse);
  downstream.raw_target_bytes = true;
  CHECK(raw_bytes(downstream) == http::RawBytes::pass);
}

}  // namespace
}  // namespace weir::decision
