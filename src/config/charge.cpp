#include "config/charge.hpp"

#include <string_view>

#include "config/advice.hpp"
#include "config/values.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_ranges = 64;

/// A final response has a status from 200 to 599, or 101 if it begins another protocol.
std::optional<int> status_in(std::string_view text) {
  const auto status = parse_integer(text);
  if (!status || *status < 101 || *status > 599) return std::nullopt;
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

void read_range(const Cursor& in, std::vector<limiter::StatusRange>& to) {
  const auto text = in.text();
  if (!text) return;
  const std::size_t dash = text->find('-');
  const auto first = status_in(std::string_view(*text).substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : status_in(std::string_view(*text).substr(dash + 1));
  if (!first || !last)
    return in.error_showing("expected a status such as 401, or a range such as 500-599",
                            did_you_mean(range_meant(in.node().text)));
  if (*last < *first) return in.error_showing("the range ends before it begins");
  to.push_back({.first = *first, .last = *last});
}

void read_statuses(const Cursor& in, limiter::ChargeByStatus& to, bool is_exclusion) {
  to.is_exclusion = is_exclusion;
  for_each_item(in, "a list of statuses, such as [401, 403] or [500-599]", most_ranges,
                [&](const Cursor& item) { read_range(item, to.statuses); });
}

constexpr Key<limiter::ChargeByStatus> charge_keys[] = {
    {.name = "status",
     .read = [](const Cursor& in, limiter::ChargeByStatus& to) { read_statuses(in, to, false); }},
    {.name = "status_not",
     .read = [](const Cursor& in, limiter::ChargeByStatus& to) { read_statuses(in, to, true); }},
};

}  // namespace

void read_charge(const Cursor& in, std::optional<limiter::ChargeByStatus>& to) {
  limiter::ChargeByStatus charge;
  read_table(in, charge_keys, charge);
  if (in.node().kind != Node::Kind::map) return;
  if (in.has("status") && in.has("status_not"))
    return in.at_key("status_not").error("status and status_not exclude each other; keep one");
  if (in.node().entries.empty())
    return in.error("names no status; write status: [401, 403] or status_not: [500-599]");
  to = std::move(charge);
}

void list_charge(const std::string& path, KeyPaths& out) {
  list_section<charge_keys>(path, out);
}

}  // namespace weir::config
