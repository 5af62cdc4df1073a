// Settings without named entries: workers, the identity secret, limits for clients, the access log,
// the spellings of paths, and the response fields about limits.
#include <algorithm>
#include <array>
#include <string_view>

#include "config/sections.hpp"
#include "config/values.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr DurationRange timeout_range{milliseconds(1), hours(24)};
constexpr DurationRange max_age_range{milliseconds(0), hours(24) * 365};
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::int64_t most_workers = 256;
constexpr std::size_t short_secret = 16;

constexpr Key<options::Http2> http2_keys[] = {
    {.name = "max_streams", .read = read::integer<1, 10'000, &options::Http2::max_streams>},
    {.name = "glitches", .read = read::integer<0, 1'000'000'000, &options::Http2::glitches>},
};

void read_rate_of_connections(const Cursor& in, std::optional<rules::Policy>& to) {
  const auto text = in.text();
  if (!text || *text == "0") return;
  rules::Definition definition;
  read_rate(in, definition);
  if (definition.rates.empty()) return;
  const auto rate = rules::compile(definition);
  if (rate) {
    to = *rate;
  } else {
    const std::string& message = rate.error().message;
    in.error(in.shown_here().is_hidden() ? without_numbers(message) : message);
  }
}

constexpr Key<options::PerAddress> per_address_keys[] = {
    {.name = "connections",
     .read = read::integer<0, 10'000'000, &options::PerAddress::connections>},
    {.name = "rate", .read = read::with<read_rate_of_connections, &options::PerAddress::rate>},
};

constexpr Key<options::Downstream> downstream_keys[] = {
    {.name = "max_connections",
     .read = read::integer<0, 10'000'000, &options::Downstream::max_connections>},
    {.name = "max_handshakes",
     .read = read::integer<1, 1'000'000, &options::Downstream::max_handshakes>},
    {.name = "max_head", .read = read::size<1024, 1024 * 1024, &options::Downstream::max_head>},
    {.name = "max_target", .read = read::size<256, 1024 * 1024, &options::Downstream::max_target>},
    {.name = "max_body",
     .read = read::size<0, 1024 * 1024 * gibibyte, &options::Downstream::max_body>},
    {.name = "max_drain", .read = read::size<0, gibibyte, &options::Downstream::max_drain>},
    {.name = "head_timeout",
     .read = read::duration<timeout_range, &options::Downstream::head_timeout>},
    {.name = "idle_timeout",
     .read = read::duration<timeout_range, &options::Downstream::idle_timeout>},
    {.name = "body_timeout",
     .read = read::duration<timeout_range, &options::Downstream::body_timeout>},
    {.name = "max_age", .read = read::duration<max_age_range, &options::Downstream::max_age>},
    {.name = "http2", .read = read::table<http2_keys, &options::Downstream::http2>},
    {.name = "per_address",
     .read = read::table<per_address_keys, &options::Downstream::per_address>},
    {.name = "raw_target_bytes",
     .read =
         [](const Cursor& in, options::Downstream& to) {
           read_choice(in, to.raw_target_bytes, {{"refuse", false}, {"pass", true}});
         }},
    {.name = "unusual_field_names",
     .read =
         [](const Cursor& in, options::Downstream& to) {
           read_choice(
               in, to.unusual_field_names,
               {{"pass", options::UnusualNames::pass}, {"drop", options::UnusualNames::drop}});
         }},
};

void read_log_path(const Cursor& in, log::AccessLogOptions& to) {
  const auto text = in.text();
  if (!text) return;
  if (*text == "-" || *text == "stdout") {
    to.path = "-";
  } else if (*text == "off" || *text == "false") {
    to.path = "off";
  } else if (text->empty() || text->find('\0') != std::string::npos) {
    in.error("expected -, off or a file name");
  } else {
    to.path = resolve_path(in, *text);
  }
}

void read_sample(const Cursor& in, log::AccessLogOptions& to) {
  const auto text = in.text();
  if (!text) return;
  const Result<double> share = parse_fraction(*text);
  if (!share || !(*share > 0 && *share <= 1)) {
    return in.error_showing(
        "expected a share above 0 and up to 1, such as 0.1 for every tenth line");
  }
  to.sample = *share;
}

constexpr Key<log::AccessLogOptions> access_log_keys[] = {
    {.name = "path", .read = read_log_path},
    {.name = "format",
     .read =
         [](const Cursor& in, log::AccessLogOptions& to) {
           read_choice(in, to.format,
                       {{"json", log::AccessLogOptions::Format::json},
                        {"text", log::AccessLogOptions::Format::text}});
         }},
    {.name = "sample", .read = read_sample},
    {.name = "only",
     .read =
         [](const Cursor& in, log::AccessLogOptions& to) {
           read_choice(in, to.only,
                       {{"all", log::AccessLogOptions::Only::all},
                        {"denied", log::AccessLogOptions::Only::denied}});
         }},
};

}  // namespace

void read_workers(const Cursor& in, Config& to) {
  const auto cores = static_cast<std::int64_t>(in.environment().cores);
  if (const auto count = read_integer_or_auto(in, {1, most_workers}, cores))
    to.workers = static_cast<std::size_t>(*count);
}

void read_identity_secret(const Cursor& in, Config& to) {
  Secret secret;
  read_secret(in, secret);
  if (!secret.empty() && secret.reveal().size() < short_secret) {
    in.warn("shorter than " + std::to_string(short_secret) +
            " characters; hashes of identities can be guessed");
  }
  to.limiter.identity_key = sip_key_from_secret(secret.reveal());
}

void read_downstream(const Cursor& in, Config& to) {
  read_table(in, downstream_keys, to.proxy.downstream);
}
void read_access_log(const Cursor& in, Config& to) {
  if (is_off(in)) {
    to.access_log.path = "off";
    return;
  }
  read_table(in, access_log_keys, to.access_log);
}
namespace {

using http::LegacyFields;
using http::ResponseFieldOptions;
using http::RetryAfterForm;

void read_legacy_fields(const Cursor& in, ResponseFieldOptions& to) {
  read_choice(in, to.legacy,
              {{"ratelimit", LegacyFields::ratelimit},
               {"x_ratelimit", LegacyFields::x_ratelimit},
               {"none", LegacyFields::none}});
}

constexpr Key<ResponseFieldOptions> service_header_keys[] = {
    {.name = "standard", .read = read::flag<&ResponseFieldOptions::standard>},
    {.name = "legacy", .read = read_legacy_fields},
};

constexpr Key<ResponseFieldOptions> response_header_keys[] = {
    {.name = "standard", .read = read::flag<&ResponseFieldOptions::standard>},
    {.name = "legacy", .read = read_legacy_fields},
    {.name = "partition_key", .read = read::flag<&ResponseFieldOptions::partition_key>},
};

}  // namespace

void read_service_headers(const Cursor& in, ResponseFieldOptions& to) {
  read_table(in, service_header_keys, to);
}

void read_response_headers(const Cursor& in, Config& to) {
  read_table(in, response_header_keys, to.proxy.response_fields);
}
void read_retry_after(const Cursor& in, Config& to) {
  read_choice(in, to.proxy.response_fields.retry_after,
              {{"seconds", RetryAfterForm::seconds}, {"http_date", RetryAfterForm::http_date}});
}

namespace {

constexpr Key<options::Grpc> grpc_keys[] = {
    {.name = "denied_code", .read = read::integer<1, 16, &options::Grpc::denied_code>},
};

}  // namespace

void read_grpc(const Cursor& in, Config& to) {
  read_table(in, grpc_keys, to.proxy.grpc);
}

namespace {

constexpr Key<options::Tracing> tracing_keys[] = {
    {.name = "generate", .read = read::flag<&options::Tracing::generates>},
};

}  // namespace

void read_tracing(const Cursor& in, Config& to) {
  read_table(in, tracing_keys, to.proxy.tracing);
}

void read_retry_after_jitter(const Cursor& in, Config& to) {
  read_duration(in, to.proxy.response_fields.retry_after_jitter,
                {Duration{0}, std::chrono::hours(1)});
}

namespace {

using routing::PathVariants;

constexpr std::array<std::string_view, 6> variant_names{"letter_case",      "trailing_slash",
                                                        "repeated_slashes", "dot_segments",
                                                        "parameters",       "encoded_delimiters"};
constexpr std::array<bool PathVariants::*, 6> members{
    &PathVariants::letter_case,  &PathVariants::trailing_slash, &PathVariants::repeated_slashes,
    &PathVariants::dot_segments, &PathVariants::parameters,     &PathVariants::encoded_delimiters};

void read_variants(const Cursor& in, PathVariants& to) {
  for (const auto member : members)
    to.*member = false;
  const bool is_none = in.is_empty_list();
  if (is_none) return;
  for_each_item(in, "a list of differences, such as [letter_case]", variant_names.size(),
                [&](const Cursor& item) {
                  if (const auto index = read_word(item, variant_names)) to.*members[*index] = true;
                });
}

constexpr Key<PathVariants> path_keys[] = {
    {.name = "also_match", .read = read_variants},
};

}  // namespace

void read_paths(const Cursor& in, Config& to) {
  read_table(in, path_keys, to.proxy.path_variants);
}
}  // namespace weir::config
