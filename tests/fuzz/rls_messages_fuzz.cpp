// Requests of the rate limit service, as Protocol Buffers and as JSON: an accepted one is within
// its bounds, and the same when it is written and read again.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"
#include "rls/check_messages.hpp"
#include "rls/health_messages.hpp"
#include "rls/json_messages.hpp"
#include "rls/protobuf_messages.hpp"
#include "rls/reservation_messages.hpp"
#include "unit/rls/written_request.hpp"

namespace {

using namespace weir;

void require(bool holds) {
  if (!holds) std::abort();
}

/// True if `text` is within `memory`.
bool is_view_of(std::string_view text, std::string_view memory) {
  return text.empty() || (text.data() >= memory.data() &&
                          text.data() + text.size() <= memory.data() + memory.size());
}

void require_bounds(const rls::Request& request) {
  require(request.descriptors.size() <= rls::most_descriptors);
  std::size_t entries = 0;
  for (const rls::Descriptor& descriptor : request.descriptors) {
    require(descriptor.first_entry == entries && descriptor.entry_count <= rls::most_entries);
    require(!descriptor.limit || descriptor.limit->unit <= options::RateLimitUnit::week);
    entries += descriptor.entry_count;
  }
  require(request.entries.size() == entries);
  require(is_utf8(request.domain));
  for (const rls::Entry& entry : request.entries)
    require(is_utf8(entry.key) && is_utf8(entry.value));
}

void require_same(const rls::Request& request, const rls::Request& other) {
  require(request.domain == other.domain && request.entries == other.entries &&
          request.descriptors == other.descriptors && request.hits_addend == other.hits_addend);
}

/// The request is within its bounds, and the same when it is written and read again.
void require_round_trip(const rls::Request& request) {
  require_bounds(request);
  const std::string message = rls::written(request);
  if (message.size() > rls::most_message_bytes) return;  // JSON can be shorter
  rls::Request again;
  require(read_protobuf(message, again).empty());
  require_same(request, again);
}

/// A message that follows itself is merged with itself.
void require_merged(std::string_view message, const rls::Request& request) {
  if (2 * message.size() > rls::most_message_bytes) return;
  if (2 * request.descriptors.size() > rls::most_descriptors) return;
  std::string twice(message);
  twice += message;
  rls::Request merged;
  require(read_protobuf(twice, merged).empty());
  require_bounds(merged);
  require(merged.domain == request.domain && merged.hits_addend == request.hits_addend);
  const std::size_t count = request.descriptors.size();
  require(merged.descriptors.size() == 2 * count);
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const rls::Descriptor& one = request.descriptors[i % count];
    const rls::Descriptor& other = merged.descriptors[i];
    require(std::ranges::equal(request.entries_of(one), merged.entries_of(other)));
    require(one.limit == other.limit && one.hits_addend == other.hits_addend &&
            one.is_negative_hits == other.is_negative_hits);
  }
}

void require_printable(std::string_view reason) {
  require(is_utf8(reason) && reason.size() < 600);
  require(std::ranges::none_of(reason, [](char c) { return static_cast<unsigned char>(c) < ' '; }));
}

/// Each descriptor has the amount as its hits.
void require_reservation(const rls::Request& request, const rls::Reservation& reservation) {
  require_round_trip(request);
  require(reservation.ttl >= Duration{0} && reservation.ttl <= std::chrono::hours(1));
  for (const rls::Descriptor& descriptor : request.descriptors)
    require(descriptor.hits_addend == reservation.amount && !descriptor.is_negative_hits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  rls::Request request;
  if (const std::string_view reason = read_protobuf(input, request); reason.empty()) {
    require(is_view_of(request.domain, input));
    require_round_trip(request);
    require_merged(input, request);
  } else {
    require_printable(reason);
  }
  // Into the request that was used before.
  if (const std::string reason = read_json(input, request); reason.empty())
    require_round_trip(request);
  else
    require_printable(reason);
  rls::HealthCheckRequest health;
  if (rls::read_protobuf(input, health).empty()) require(is_view_of(health.service, input));
  rls::CheckRequest check;
  if (rls::read_protobuf(input, check).empty()) {
    require(check.headers.size() <= rls::most_check_headers);
    require(is_view_of(check.path, input) && is_utf8(check.path));
  }
  rls::Reservation reservation;
  if (const auto reason = read_reserve(input, request, reservation); reason.empty())
    require_reservation(request, reservation);
  else
    require_printable(reason);
  if (const auto reason = read_commit(input, request, reservation); reason.empty()) {
    require_reservation(request, reservation);
    require(is_view_of(reservation.id, input) && reservation.ttl == Duration{0});
  } else {
    require_printable(reason);
  }
  return 0;
}
