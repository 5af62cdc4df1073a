#include "offline/service_calls.hpp"

#include "rls/json_messages.hpp"
#include "rls/protobuf_messages.hpp"

namespace weir::offline {
namespace {

rls::Method method_of(decision::CopiedMethod method) {
  switch (method) {
    case decision::CopiedMethod::check:
      return rls::Method::check;
    case decision::CopiedMethod::report:
      return rls::Method::report;
    case decision::CopiedMethod::decide:
    case decision::CopiedMethod::decide_json:
      break;
  }
  return rls::Method::decide;
}

bool read(decision::CopiedMethod method, std::string_view message, rls::Request& request) {
  if (method == decision::CopiedMethod::decide_json)
    return rls::read_json(message, request).empty();
  return rls::read_protobuf(message, request).empty();
}

}  // namespace

ServiceCalls::ServiceCalls(const options::RateLimitService& service, const options::Proxy& proxy,
                           const limiter::Options& limits, limiter::Limiter& limiter)
    : descriptors_(service),
      values_{.client = proxy.client_address,
              .path_ignores_case = proxy.path_variants.letter_case,
              .path_ignores_trailing_slash = proxy.path_variants.trailing_slash},
      rules_{.descriptors = descriptors_, .limits = limits, .values = values_},
      limiter_(limiter) {}

const limiter::Verdict* ServiceCalls::decide(decision::CopiedMethod method,
                                             std::string_view message, Instant now) {
  if (!read(method, message, call_.request())) return nullptr;
  if (call_.prepare(rules_, method_of(method), limiter_)) return nullptr;
  for (std::size_t i = 0; i < call_.decisions(); ++i)
    call_.decide(i, nobody_, now);
  call_.settle(nobody_, now);
  return &call_.verdict(now);
}

}  // namespace weir::offline
