// Settings of the whole process: workers, the identity secret, limits for clients, the access log.
#include "config/sections.hpp"
#include "config/values.hpp"

namespace weir::config {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr DurationRange timeout_range{milliseconds(1), hours(24)};
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::int64_t most_workers = 256;
constexpr std::size_t short_secret = 16;

constexpr Key<proxy::Downstream> downstream_keys[] = {
    {.name = "max_connections",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_integer_into(in, to.max_connections, {0, 10'000'000});
         }},
    {.name = "max_handshakes",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_integer_into(in, to.max_handshakes, {1, 1'000'000});
         }},
    {.name = "max_head",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_size_into(in, to.max_head, {1024, 1024 * 1024});
         }},
    {.name = "max_target",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_size_into(in, to.max_target, {256, 1024 * 1024});
         }},
    {.name = "max_body",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_size_into(in, to.max_body, {0, 1024 * 1024 * gibibyte});
         }},
    {.name = "max_drain",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_size_into(in, to.max_drain, {0, gibibyte});
         }},
    {.name = "head_timeout",
     .read = [](const Cursor& in,
                proxy::Downstream& to) { read_duration(in, to.head_timeout, timeout_range); }},
    {.name = "idle_timeout",
     .read = [](const Cursor& in,
                proxy::Downstream& to) { read_duration(in, to.idle_timeout, timeout_range); }},
    {.name = "body_timeout",
     .read = [](const Cursor& in,
                proxy::Downstream& to) { read_duration(in, to.body_timeout, timeout_range); }},
    {.name = "raw_target_bytes",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_choice(in, to.raw_target_bytes, {{"refuse", false}, {"pass", true}});
         }},
    {.name = "unusual_field_names",
     .read =
         [](const Cursor& in, proxy::Downstream& to) {
           read_choice(in, to.unusual_field_names,
                       {{"pass", proxy::UnusualNames::pass}, {"drop", proxy::UnusualNames::drop}});
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
  const auto text = in.text();
  if (!text) return;
  if (*text == "auto") {
    to.workers = in.environment().cores;
    return;
  }
  const Result<std::int64_t> count = parse_integer(*text);
  if (!count || *count < 1 || *count > most_workers) {
    return in.error_showing("expected auto or a whole number from 1 to " +
                            std::to_string(most_workers));
  }
  to.workers = static_cast<std::size_t>(*count);
}

void read_identity_secret(const Cursor& in, Config& to) {
  Secret secret;
  read_secret(in, secret);
  if (!secret.empty() && secret.reveal().size() < short_secret) {
    in.warn("shorter than " + std::to_string(short_secret) +
            " characters; hashes of identities can be guessed");
  }
  to.identity_key = sip_key_from_secret(secret.reveal());
}

void read_downstream(const Cursor& in, Config& to) {
  read_table(in, downstream_keys, to.downstream);
}
void list_downstream(const std::string& path, KeyPaths& out) {
  list_section<downstream_keys>(path, out);
}

void read_access_log(const Cursor& in, Config& to) {
  if (in.is_off()) {
    to.access_log.path = "off";
    return;
  }
  read_table(in, access_log_keys, to.access_log);
}
void list_access_log(const std::string& path, KeyPaths& out) {
  list_section<access_log_keys>(path, out);
}

}  // namespace weir::config
