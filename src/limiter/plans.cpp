#include "limiter/plans.hpp"

#include <algorithm>
#include <numeric>

#include "identity/blanks.hpp"

namespace weir::limiter {

std::string describe(const PlanSource& source) {
  if (const auto* const header = std::get_if<PlanFromHeader>(&source.from))
    return "header " + header->name;
  if (const auto* const claim = std::get_if<PlanFromClaim>(&source.from))
    return identity::describe(claim->source);
  return "file " + std::get<PlanFromFile>(source.from).shown;
}

void Plans::index_names() {
  by_name_.resize(names.size());
  std::iota(by_name_.begin(), by_name_.end(), std::uint16_t{0});
  std::ranges::sort(by_name_, {}, [this](std::uint16_t plan) { return names[plan]; });
}

std::optional<std::size_t> Plans::find(std::string_view name) const {
  const auto name_of = [this](std::uint16_t plan) -> std::string_view { return names[plan]; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  if (found == by_name_.end() || names[*found] != name) return std::nullopt;
  return *found;
}

namespace {

PlanReading named(const Plans& plans, std::string_view name) {
  const auto plan = plans.find(name);
  if (!plan) return {.is_unknown = true, .unknown_name = name};
  return {.state = PlanReading::State::found, .plan = *plan};
}

}  // namespace

std::optional<PlanReading> read_header(const Plans& plans, const PlanFromHeader& from,
                                       const identity::Evidence& evidence) {
  if (!evidence.peer_is_trusted) return std::nullopt;
  const http::FieldView* const field = evidence.request.find(from.name);
  const std::string_view name = field == nullptr ? "" : identity::without_blanks(field->value);
  if (name.empty()) return std::nullopt;
  return named(plans, name);
}

std::optional<PlanReading> read_claim(const Plans& plans, const PlanFromClaim& from,
                                      const identity::Evidence& evidence,
                                      identity::TokenReadings& tokens) {
  using State = identity::TokenReading::State;
  const auto& claim = std::get<identity::FromClaim>(from.source.from);
  const identity::TokenReading& token = tokens.of(claim.provider_index, evidence.request);
  switch (token.state) {
    case State::absent:
      return std::nullopt;
    case State::ambiguous:
      return PlanReading{.state = PlanReading::State::ambiguous,
                         .ambiguity = {.kind = token.ambiguity, .source = &from.source}};
    case State::invalid:
      return PlanReading{.token_fault = identity::TokenFault{.provider = claim.provider_index,
                                                             .rejection = token.rejection}};
    case State::unverifiable:
      return PlanReading{.token_fault = identity::TokenFault{.provider = claim.provider_index}};
    case State::valid:
      break;
  }
  const std::string_view name = token.claims[claim.claim_index].text;
  if (name.empty()) return std::nullopt;
  return named(plans, name);
}

std::optional<PlanReading> read_file(const PlanFromFile& from,
                                     const identity::Resolution& identity) {
  using State = identity::Resolution::State;
  if (identity.state == State::ambiguous)
    return PlanReading{.state = PlanReading::State::ambiguous, .ambiguity = identity.ambiguity};
  if (identity.state == State::invalid) return PlanReading{.token_fault = identity.token_fault};
  if (identity.state != State::found) return std::nullopt;
  const auto plan = from.table.current().find(identity.key);
  if (!plan) return std::nullopt;
  if (*plan == PlanTable::unknown) return PlanReading{.is_unknown = true};
  return PlanReading{.state = PlanReading::State::found, .plan = *plan};
}

PlanReading default_reading(const Plans& plans) {
  if (!plans.default_plan) return {};
  return {.state = PlanReading::State::found, .plan = *plans.default_plan};
}

std::optional<std::size_t> plan_of(const Plans& plans, std::size_t identity, const Hash128& key) {
  const identity::Resolution found{.state = identity::Resolution::State::found, .key = key};
  for (const PlanSource& source : plans.sources) {
    const auto* const file = std::get_if<PlanFromFile>(&source.from);
    if (file == nullptr || file->identity != identity) continue;
    const auto reading = read_file(*file, found);
    if (reading && reading->found()) return reading->found();
  }
  return plans.default_plan;
}

}  // namespace weir::limiter
