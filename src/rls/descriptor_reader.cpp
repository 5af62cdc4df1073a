#include "rls/descriptor_reader.hpp"

#include <optional>

namespace weir::rls {
namespace {

using grpc::ProtobufReader;

/// RateLimitDescriptor.Entry
void read_entry(ProtobufReader& from, Entry& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.text(to.key);
    if (field.number() == 2) field.text(to.value);
  });
}

/// RateLimitDescriptor.RateLimitOverride
void read_stated_limit(ProtobufReader& from, StatedLimit& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.integer(to.requests_per_unit);
    if (field.number() == 2) field.enumerator(to.unit, options::rate_limit_unit_count);
  });
}

/// google.protobuf.UInt64Value
void read_wrapped(ProtobufReader& from, std::uint64_t& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.integer(to);
  });
}

/// Returns the value of a message that is present now, if it was not before.
template <class Value>
Value& present(std::optional<Value>& value) {
  return value ? *value : value.emplace();
}

}  // namespace

void read_descriptor(ProtobufReader& from, Request& to) {
  if (to.descriptors.size() == most_descriptors) {
    from.fail("the request has more than 64 descriptors");
    return;
  }
  Descriptor& descriptor = to.descriptors.emplace_back();
  descriptor.first_entry = to.entries.size();
  from.message([&](ProtobufReader& field) {
    switch (field.number()) {
      case 1:
        if (++descriptor.entry_count > most_entries)
          field.fail("a descriptor has more than 64 entries");
        else
          read_entry(field, to.entries.emplace_back());
        return;
      case 2:
        read_stated_limit(field, present(descriptor.limit));
        return;
      case 3:
        read_wrapped(field, present(descriptor.hits_addend));
        return;
      case 4:
        field.boolean(descriptor.is_negative_hits);
        return;
      default:
        return;
    }
  });
}

}  // namespace weir::rls
