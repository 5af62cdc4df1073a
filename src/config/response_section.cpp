// `response_headers`, `retry_after` and `retry_after_jitter`: the response fields about limits.
#include "config/sections.hpp"

namespace weir::config {

namespace {

using http::LegacyFields;
using http::ResponseFieldOptions;
using http::RetryAfterForm;

constexpr Key<ResponseFieldOptions> response_header_keys[] = {
    {.name = "standard",
     .read = [](const Cursor& in, ResponseFieldOptions& to) { read_flag(in, to.standard); }},
    {.name = "legacy",
     .read =
         [](const Cursor& in, ResponseFieldOptions& to) {
           read_choice(in, to.legacy,
                       {{"ratelimit", LegacyFields::ratelimit},
                        {"x_ratelimit", LegacyFields::x_ratelimit},
                        {"none", LegacyFields::none}});
         }},
    {.name = "partition_key",
     .read = [](const Cursor& in, ResponseFieldOptions& to) { read_flag(in, to.partition_key); }},
};

}  // namespace

void read_response_headers(const Cursor& in, Config& to) {
  read_table(in, response_header_keys, to.response_fields);
}
void list_response_headers(const std::string& path, KeyPaths& out) {
  list_section<response_header_keys>(path, out);
}

void read_retry_after(const Cursor& in, Config& to) {
  read_choice(in, to.response_fields.retry_after,
              {{"seconds", RetryAfterForm::seconds}, {"http_date", RetryAfterForm::http_date}});
}

void read_retry_after_jitter(const Cursor& in, Config& to) {
  read_duration(in, to.response_fields.retry_after_jitter, {Duration{0}, std::chrono::hours(1)});
}

}  // namespace weir::config
