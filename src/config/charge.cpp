#include <string_view>
#include <utility>
#include <vector>

#include "config/hints.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"
#include "usage/usage_plan.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_ranges = 64;

/// The statuses that a list may have, and what is expected where one is written.
struct StatusKind {
  int least;
  int most;
  std::string_view expected;
  std::string_view list;
};
/// A final response has a status from 200 to 599, or 101 if it begins another protocol.
constexpr StatusKind http_status{101, 599,
                                 "expected a status such as 401, or a range such as 500-599",
                                 "a list of statuses, such as [401, 403] or [500-599]"};
constexpr StatusKind grpc_status{
    0, 16, "expected a status of gRPC from 0 to 16, such as 16 for UNAUTHENTICATED, or a range",
    "a list of statuses of gRPC, such as [7, 16] or [13-15]"};

std::optional<int> status_in(std::string_view text, const StatusKind& kind) {
  const auto status = parse_integer(text);
  if (!status || *status < kind.least || *status > kind.most) return std::nullopt;
  return static_cast<int>(*status);
}

/// For 5xx: the range that is meant.
std::string range_meant(std::string_view written) {
  const bool is_class = written.size() == 3 && written[0] >= '2' && written[0] <= '5' &&
                        (written.substr(1) == "xx" || written.substr(1) == "XX");
  if (!is_class) return {};
  const std::string digit(written.substr(0, 1));
  return digit + "00-" + digit + "99";
}

void read_range(const Cursor& in, const StatusKind& kind, std::vector<limiter::StatusRange>& to) {
  const auto text = in.text();
  if (!text) return;
  const std::size_t dash = text->find('-');
  const auto first = status_in(std::string_view(*text).substr(0, dash), kind);
  const auto last =
      dash == std::string::npos ? first : status_in(std::string_view(*text).substr(dash + 1), kind);
  if (!first || !last)
    return in.error_showing(std::string(kind.expected), did_you_mean(range_meant(in.node().text)));
  if (*last < *first) return in.error_showing("the range ends before it begins");
  to.push_back({.first = *first, .last = *last});
}

void read_statuses(const Cursor& in, const StatusKind& kind, bool is_exclusion,
                   std::optional<limiter::ChargeByStatus>& to) {
  to.emplace().is_exclusion = is_exclusion;
  for_each_item(in, kind.list, most_ranges,
                [&](const Cursor& item) { read_range(item, kind, to->statuses); });
}

constexpr Key<limiter::Charge> charge_keys[] = {
    {.name = "status",
     .read = [](const Cursor& in,
                limiter::Charge& to) { read_statuses(in, http_status, false, to.by_status); }},
    {.name = "status_not",
     .read = [](const Cursor& in,
                limiter::Charge& to) { read_statuses(in, http_status, true, to.by_status); }},
    {.name = "grpc_status",
     .read = [](const Cursor& in,
                limiter::Charge& to) { read_statuses(in, grpc_status, false, to.by_grpc_status); }},
    {.name = "grpc_status_not",
     .read = [](const Cursor& in,
                limiter::Charge& to) { read_statuses(in, grpc_status, true, to.by_grpc_status); }},
};

limiter::Charge& charge_in(std::optional<limiter::Charge>& to) {
  return to ? *to : to.emplace();
}

void read_header_name(const Cursor& in, std::string& to) {
  if (auto name =
          read_field_name(in, "expected the name of a header field, such as x-usage-tokens"))
    to = *std::move(name);
}

void read_pointer(const Cursor& in, std::vector<usage::JsonPointer>& to) {
  const auto text = in.text();
  if (!text) return;
  auto pointer = usage::JsonPointer::parse(*text);
  if (!pointer) return in.error_showing(pointer.error().message);
  to.push_back(*std::move(pointer));
}

void read_pointers(const Cursor& in, std::vector<usage::JsonPointer>& to) {
  if (in.node().kind != Node::Kind::sequence) return read_pointer(in, to);
  for_each_item(in, "a JSON pointer, or a list of them to add up", usage::most_pointers,
                [&](const Cursor& item) { read_pointer(item, to); });
}

/// `reserve` while it is read.
struct ReserveDraft {
  std::string header;
  std::vector<usage::JsonPointer> json;
  std::optional<std::int64_t> units;
  std::int64_t at_most = usage::largest_count;
};

constexpr Key<ReserveDraft> reserve_keys[] = {
    {.name = "header", .read = read::with<read_header_name, &ReserveDraft::header>},
    {.name = "json", .read = read::with<read_pointer, &ReserveDraft::json>},
    {.name = "default",
     .read =
         [](const Cursor& in, ReserveDraft& to) {
           to.units = read_integer(in, {1, usage::largest_count});
         },
     .required = true},
    {.name = "at_most", .read = read::integer<1, usage::largest_count, &ReserveDraft::at_most>},
};

constexpr Key<usage::UsageSource> usage_source_keys[] = {
    {.name = "header", .read = read::with<read_header_name, &usage::UsageSource::field>},
    {.name = "json", .read = read::with<read_pointers, &usage::UsageSource::pointers>},
};

/// True if exactly one of the two is written; else reports it.
bool has_one_source(const Cursor& in) {
  if (!in.is_map()) return false;
  if (in.has("header") != in.has("json")) return true;
  if (in.has("json")) {
    in.at_key("json").error("header and json exclude each other; keep one");
  } else {
    in.error("names no source; write header: NAME or json: POINTER");
  }
  return false;
}

}  // namespace

void read_reserve(const Cursor& in, std::optional<limiter::Charge>& to) {
  limiter::Charge& charge = charge_in(to);
  limiter::Reserve reserve;
  if (in.node().kind == Node::Kind::scalar) {
    read_integer_into(in, reserve.units, {1, usage::largest_count});
    charge.reserve = std::move(reserve);
    return;
  }
  ReserveDraft draft;
  read_table(in, reserve_keys, draft);
  if (!has_one_source(in)) return;
  if (draft.units.value_or(1) > draft.at_most)
    in.at_key("default").error("the default is above at_most");
  reserve.units = draft.units.value_or(1);
  reserve.header = std::move(draft.header);
  if (!draft.json.empty()) {
    const usage::UsageSource source{.pointers = std::move(draft.json)};
    reserve.in_body = *usage::UsagePlan::compile({&source, 1});
  }
  reserve.at_most = charge.at_most = draft.at_most;
  charge.reserve = std::move(reserve);
}

void read_cost_from(const Cursor& in, std::optional<limiter::Charge>& to) {
  std::vector<usage::UsageSource> sources;
  bool is_whole = true;
  for_each_item(in, "a list of sources, such as [{header: x-usage}, {json: /usage/total_tokens}]",
                usage::UsagePlan::most_entries, [&](const Cursor& item) {
                  usage::UsageSource source;
                  read_table(item, usage_source_keys, source);
                  is_whole &=
                      has_one_source(item) && source.field.empty() != source.pointers.empty();
                  sources.push_back(std::move(source));
                });
  limiter::Charge& charge = charge_in(to);
  if (!is_whole || sources.empty()) return;
  auto plan = usage::UsagePlan::compile(sources);
  if (!plan) return in.error(plan.error().message);
  charge.cost_from = *std::move(plan);
}

void read_missing(const Cursor& in, std::optional<limiter::Charge>& to) {
  read_choice(in, charge_in(to).missing_is_free, {{"reserved", false}, {"zero", true}});
}

void read_charge(const Cursor& in, std::optional<limiter::Charge>& to) {
  limiter::Charge charge;
  if (!read_table(in, charge_keys, charge)) return;
  if (in.has("status") && in.has("status_not"))
    return in.at_key("status_not").error("status and status_not exclude each other; keep one");
  if (in.has("grpc_status") && in.has("grpc_status_not"))
    return in.at_key("grpc_status_not")
        .error("grpc_status and grpc_status_not exclude each other; keep one");
  if (in.node().entries.empty())
    return in.error("names no status; write status: [401, 403] or status_not: [500-599]");
  charge_in(to).by_status = std::move(charge.by_status);
  charge_in(to).by_grpc_status = std::move(charge.by_grpc_status);
}

}  // namespace weir::config
