#include "usage/usage_scanner.hpp"

#include <algorithm>

#include "http/accept.hpp"
#include "http/characters.hpp"
#include "http/field_list.hpp"
#include "http/request_view.hpp"

namespace weir::usage {
namespace {

bool has_coding(std::string_view content_encoding) {
  bool found = false;
  http::for_each_element(content_encoding, [&](std::string_view coding) {
    found = found || !http::iequals(coding, "identity");
  });
  return found;
}

/// True for TYPE/SUBTYPE+json (RFC 6839 section 3.1).
bool has_json_suffix(std::string_view media_type) {
  constexpr std::string_view suffix = "+json";
  return media_type.size() > suffix.size() && media_type.find('/') != std::string_view::npos &&
         http::iequals(media_type.substr(media_type.size() - suffix.size()), suffix);
}

}  // namespace

BodyFormat body_format(std::string_view content_type) {
  const std::string_view type = http::without_parameters(content_type);
  if (http::iequals(type, "application/json") || has_json_suffix(type)) return BodyFormat::json;
  if (http::iequals(type, "text/event-stream")) return BodyFormat::events;
  if (http::iequals(type, "application/x-ndjson") || http::iequals(type, "application/jsonl"))
    return BodyFormat::lines;
  return BodyFormat::other;
}

std::string_view name_of(MissingUsage reason) {
  switch (reason) {
    case MissingUsage::none:
      return "none";
    case MissingUsage::content_type:
      return "content_type";
    case MissingUsage::content_encoding:
      return "content_encoding";
    case MissingUsage::incomplete:
      return "incomplete";
    case MissingUsage::not_a_count:
      return "not_a_count";
    case MissingUsage::not_found:
      break;
  }
  return "not_found";
}

UsageScanner::UsageScanner(const UsagePlan& plan) : plan_(&plan), scanner_(plan.pointers()) {}

void UsageScanner::begin(std::string_view content_type, std::string_view content_encoding) {
  format_ = body_format(content_type);
  is_encoded_ = has_coding(content_encoding);
  if (is_encoded_) format_ = BodyFormat::other;
  fields_ = {};
  byte_order_mark_ = {};
  events_ = {};
  scanner_ = JsonScanner(plan_->pointers());
}

void UsageScanner::add_field(std::size_t entry, std::string_view value) {
  fields_[entry] = parse_count(http::trimmed(value));
}

bool UsageScanner::needs_body() const {
  if (format_ == BodyFormat::other) return false;
  for (std::size_t i = 0; i < plan_->entries().size(); ++i) {
    if (fields_[i]) return false;
    if (plan_->entries()[i].pointers != 0) return true;
  }
  return false;
}

void UsageScanner::feed(std::string_view piece) {
  if (format_ == BodyFormat::other) return;
  const std::string_view no_mark = byte_order_mark_.remove_from(piece);
  if (!no_mark.empty()) read(no_mark);
  read(piece);
}

void UsageScanner::read(std::string_view piece) {
  switch (format_) {
    case BodyFormat::events:
      return events_.feed(piece, scanner_);
    case BodyFormat::lines:
      return read_lines(piece);
    default:
      return scanner_.feed(piece);
  }
}

void UsageScanner::read_lines(std::string_view piece) {
  for (;;) {
    const std::size_t size = piece.find('\n');
    scanner_.feed(piece.substr(0, size));
    if (size == std::string_view::npos) return;
    scanner_.end_document();
    piece.remove_prefix(size + 1);
  }
}

Usage UsageScanner::finish(BodyEnd end) {
  if (format_ == BodyFormat::events) {
    events_.finish(scanner_);
  } else {
    scanner_.end_document();
  }
  if (end == BodyEnd::cut_off) scanner_.doubt();
  PointerSet read{};  // of the entries so far
  for (std::size_t i = 0; i < plan_->entries().size(); ++i) {
    const PointerSet pointers = plan_->entries()[i].pointers;
    read |= pointers;
    const auto cost = pointers == 0 ? fields_[i] : sum_of(pointers);
    if (!cost) continue;
    const bool is_complete = (scanner_.findings().doubtful & read) == 0;
    return {.cost = cost, .entry = i, .is_complete = is_complete};
  }
  return {
      .cost = std::nullopt, .is_complete = scanner_.findings().doubtful == 0, .missing = reason()};
}

std::optional<std::int64_t> UsageScanner::sum_of(PointerSet pointers) const {
  const Findings& findings = scanner_.findings();
  if ((pointers & ~findings.found) != 0) return std::nullopt;
  std::int64_t sum = 0;
  for_each_pointer(pointers, [&](std::size_t pointer) {
    sum += std::min(findings.counts[pointer], largest_count - sum);
  });
  return sum;
}

MissingUsage UsageScanner::reason() const {
  if (plan_->pointers().empty()) return MissingUsage::not_found;
  if (is_encoded_) return MissingUsage::content_encoding;
  if (format_ == BodyFormat::other) return MissingUsage::content_type;
  if (scanner_.findings().doubtful != 0) return MissingUsage::incomplete;
  if (scanner_.findings().not_counts != 0) return MissingUsage::not_a_count;
  return MissingUsage::not_found;
}

}  // namespace weir::usage
