#include "cli/service_summary.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "cli/route_summary.hpp"

namespace weir::cli {
namespace {

std::string policy_numbers(const config::Config& config, std::size_t index) {
  const limiter::Policy& policy = config.limiter.policies[index];
  return policy_text(shown_policy(config, policy), policy);
}

std::string limit_line(const config::Config& config, const options::DescriptorLimit& limit) {
  if (!limit.policy) return "unlimited";
  const limiter::Policy& policy = config.limiter.policies[*limit.policy];
  const std::string_view shadow = policy.shadow ? ", shadow" : "";
  return "policy " + policy.name + ": " +
         (limit.denies_all ? "denies every request" + std::string(shadow)
                           : policy_numbers(config, *limit.policy));
}

void print_nodes(std::ostream& out, const config::Config& config,
                 const std::vector<options::DescriptorNode>& nodes, const std::string& margin) {
  for (const options::DescriptorNode& node : nodes) {
    out << margin << node.text;
    if (node.limit) out << ": " << limit_line(config, *node.limit);
    out << '\n';
    print_nodes(out, config, node.children, margin + "  ");
  }
}

void print_descriptor(std::ostream& out, const config::Config& config,
                      const options::PolicyDescriptor& descriptor, const config::Shown& shown) {
  out << "descriptor of " << shown["domain"](descriptor.domain) << ':';
  std::string separator = " ";
  for (const auto& entry : descriptor.entries) {
    out << separator << entry.key << ' '
        << (entry.value ? shown["entries"][entry.key](*entry.value) : "*");
    separator = ", ";
  }
  out << "\n  policy " << config.limiter.policies[descriptor.policy].name << ": "
      << policy_numbers(config, descriptor.policy) << '\n';
}

}  // namespace

void print_rate_limit_service(std::ostream& out, const config::Config& config) {
  if (!config.rate_limit_service) return;
  const options::RateLimitService& service = *config.rate_limit_service;
  for (const options::DescriptorDomain& domain : service.domains) {
    out << "domain " << domain.name << '\n';
    print_nodes(out, config, domain.descriptors, "  ");
  }
  const config::Shown shown = config.shown()["rate_limit_service"]["descriptors"];
  for (std::size_t i = 0; i < service.descriptors.size(); ++i)
    print_descriptor(out, config, service.descriptors[i], shown[i]);
}

}  // namespace weir::cli
