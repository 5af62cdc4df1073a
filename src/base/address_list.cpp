#include "base/address_list.hpp"

#include <utility>

namespace weir {

AddressList::AddressList(std::string name, PrefixTable prefixes)
    : shared_(std::make_shared<Shared>()) {
  shared_->name = std::move(name);
  replace(std::move(prefixes));
}

std::shared_ptr<const PrefixTable> AddressList::replace(PrefixTable prefixes) {
  auto next = std::make_shared<const PrefixTable>(std::move(prefixes));
  shared_->size.store(next->size(), std::memory_order_relaxed);
  shared_->read.store(next.get(), std::memory_order_release);
  return std::exchange(shared_->owned, std::move(next));
}

}  // namespace weir
