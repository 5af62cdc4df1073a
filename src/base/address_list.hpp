// A named set of addresses whose content may be replaced while it is read.
//
// Copies share the content. Any thread may look up addresses at any time, as long as the content
// that replace() returns is kept until the look-up has ended; one thread at a time may replace the
// content. The name and the size may always be read. A look-up costs one atomic load more than one
// in a PrefixTable.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/ip_address.hpp"
#include "base/prefix_table.hpp"

namespace weir {

class AddressList {
 public:
  AddressList(std::string name, PrefixTable prefixes) : shared_(std::make_shared<Shared>()) {
    shared_->name = std::move(name);
    replace(std::move(prefixes));
  }

  const std::string& name() const { return shared_->name; }
  /// The number of different prefixes.
  std::size_t size() const { return shared_->size.load(std::memory_order_relaxed); }
  bool contains(const IpAddress& address) const { return current().contains(address); }
  /// The longest prefix that contains `address`.
  std::optional<IpPrefix> find(const IpAddress& address) const { return current().find(address); }

  /// Replaces the content for all copies. Returns the previous content, which must be kept until
  /// every look-up in progress on another thread has ended.
  std::shared_ptr<const PrefixTable> replace(PrefixTable prefixes) {
    auto next = std::make_shared<const PrefixTable>(std::move(prefixes));
    shared_->size.store(next->size(), std::memory_order_relaxed);
    shared_->read.store(next.get(), std::memory_order_release);
    return std::exchange(shared_->owned, std::move(next));
  }

  bool has_same_prefixes(const AddressList& other) const { return current() == other.current(); }
  /// True for the same name, whatever the content: lists of one configuration differ in their
  /// names.
  friend bool operator==(const AddressList& a, const AddressList& b) {
    return a.name() == b.name();
  }

 private:
  struct Shared {
    std::string name;
    std::shared_ptr<const PrefixTable> owned;
    std::atomic<const PrefixTable*> read{};
    std::atomic<std::size_t> size{};
  };
  const PrefixTable& current() const { return *shared_->read.load(std::memory_order_acquire); }

  std::shared_ptr<Shared> shared_;
};

}  // namespace weir
