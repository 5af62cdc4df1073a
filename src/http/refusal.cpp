#include "http/refusal.hpp"

#include <stdexcept>
#include <string>

namespace weir::http {

void throw_exception_from_error(const Refusal& refusal, const boost::source_location&) {
  throw std::runtime_error(std::string{refusal.detail});
}

}  // namespace weir::http
