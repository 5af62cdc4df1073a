#include "identity/descriptor_key.hpp"

#include "identity/serialisation.hpp"

namespace weir::identity {

Hash128 key_of_entries(std::span<const DescriptorEntry> entries, std::uint8_t kind, SipKey key) {
  Serialisation serialised;
  serialised.tag(Tag::descriptor);
  serialised.count(kind);
  for (const DescriptorEntry& entry : entries) {
    serialised.part(entry.key);
    serialised.part(entry.value);
  }
  return siphash128(key, serialised.view());
}

}  // namespace weir::identity
