#include "config/advice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/ip_address.hpp"
#include "config/endpoint.hpp"
#include "config/expand.hpp"
#include "config/host.hpp"
#include "config/suggest.hpp"
#include "http/characters.hpp"
#include "routing/path_pattern.hpp"

namespace weir::config {
namespace {

constexpr auto npos = std::string_view::npos;

using Synonym = std::pair<std::string_view, std::string_view>;

/// Words of other programs, and those of Weir.
constexpr std::array<Synonym, 27> synonyms{{
    {"dry_run", "shadow"},
    {"dryrun", "shadow"},
    {"monitor", "shadow"},
    {"report", "shadow"},
    {"log", "shadow"},
    {"block", "enforce"},
    {"open", "allow"},
    {"fail_open", "allow"},
    {"closed", "deny"},
    {"fail_closed", "deny"},
    {"close", "deny"},
    {"least_conn", "least_connections"},
    {"leastconn", "least_connections"},
    {"rr", "round_robin"},
    {"sentinels", "sentinel"},
    {"tlsv1.2", "1.2"},
    {"tlsv1.3", "1.3"},
    {"tls1.2", "1.2"},
    {"tls1.3", "1.3"},
    {"none", "off"},
    {"off", "shadow"},
    {"sliding", "sliding_window"},
    {"fixed", "fixed_window"},
    {"utc", "clock"},
    {"midnight", "clock"},
    {"max_connections", "concurrency"},
    {"in_flight", "concurrency"},
}};

bool is_word(char c) {
  return http::is_alpha(c) || http::is_digit(c) || c == '_';
}

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != npos; });
}

/// The name after the dollar at the start of `text`, as a shell reads it; in upper case only.
std::string_view shell_variable_at(std::string_view text) {
  if (!text.starts_with('$')) return {};
  const std::string_view rest = text.substr(1);
  const auto* const end = std::ranges::find_if_not(rest, is_word);
  const std::string_view name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  const bool is_variable = !name.empty() && http::is_alpha(name.front()) &&
                           std::ranges::all_of(name, [](char c) { return c == http::to_upper(c); });
  return is_variable ? name : std::string_view();
}

std::vector<std::string_view> shell_variables_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = text.find('$'); at != npos; at = text.find('$', at + 1)) {
    const std::string_view name = shell_variable_at(text.substr(at));
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// The number that is all of `text`, from 0 to `most`.
std::optional<int> number_in(std::string_view text, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number < 0 || number > most ? std::nullopt : std::optional(number);
}

/// The length of a netmask, such as 255.255.0.0.
std::optional<int> bits_of_netmask(std::string_view text) {
  const auto mask = IpAddress::parse(text);
  if (!mask || !mask->is_v4()) return std::nullopt;
  for (int bits = 0; bits <= 32; ++bits) {
    if (mask == IpAddress::v4({255, 255, 255, 255}).masked(bits, 128)) return bits;
  }
  return std::nullopt;
}

/// 10.0.0.* and 10.* as a prefix.
std::string prefix_of_star(std::string_view text) {
  std::string address;
  int octets = 0;
  while (!text.empty() && text.front() != '*') {
    const std::size_t dot = std::min(text.find('.'), text.size());
    if (!number_in(text.substr(0, dot), 255) || ++octets > 3) return {};
    address.append(text.substr(0, dot)).append(".");
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  if (text.empty() || text.find_first_not_of("*.") != npos) return {};
  for (int i = octets; i < 4; ++i)
    address += i == 3 ? "0" : "0.";
  return address + '/' + std::to_string(8 * octets);
}

/// The host of a URL or of host:port; empty if there is none.
std::string host_in(std::string_view text) {
  if (const auto scheme = text.find("://"); scheme != npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/?#"));
  if (text.find('@') != npos) return {};
  const auto parts = split_host_and_port(text);
  return parts ? std::string(parts->host) : std::string();
}

bool looks_like_regex(std::string_view text) {
  constexpr std::array<std::string_view, 12> signs{"^", "$", "\\", ".*", ".+", "[",
                                                   "]", "(", ")",  "|",  "~ ", "+)"};
  return contains_any(text, signs);
}

/// `/bot/i`: flags of a regular expression after its second slash, and no path.
bool has_regex_flags(std::string_view text) {
  const std::size_t end = text.rfind('/');
  if (!text.starts_with('/') || end < 2 || text.find('/', 1) != end) return false;
  constexpr std::array<std::string_view, 8> flags{"i", "g", "gi", "ig", "im", "mi", "gm", "is"};
  return std::ranges::find(flags, text.substr(end + 1)) != flags.end();
}

/// `(bot|crawler)`.
bool has_alternatives(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t bar = open == npos ? npos : text.find('|', open);
  return bar != npos && text.find(')', bar) != npos;
}

/// `*bot*`, but neither `*/*` of Accept, `gzip, *` of Accept-Encoding nor `*` of If-Match.
bool has_star_at_end(std::string_view text) {
  return text.size() > 1 && text.find_first_of("/,;") == npos &&
         (text.front() == '*' || text.back() == '*');
}

std::string pattern_if_valid(const std::string& text) {
  return routing::PathPattern::parse(text) ? text : std::string();
}

struct Definition {
  std::string_view what;
  std::string_view example;
};

constexpr std::array<Definition, 6> definitions{{
    {"policy", "policies: {NAME: {algorithm: gcra, rate: 10/s}}"},
    {"upstream", "upstreams: {NAME: {servers: [{url: \"http://127.0.0.1:3000\"}]}}"},
    {"identity", "identities: {NAME: {header: x-api-key}}"},
    {"address list", "address_lists: {NAME: [192.0.2.0/24]}"},
    {"plan", "plans: {NAME: {}}"},
    {"JWT provider", "jwt_providers: {NAME: {algorithms: [RS256], jwks: {url: URL}}}"},
}};

/// For `header:x-api-key`: the identity that it means.
std::string inline_identity(std::string_view written) {
  constexpr std::array<std::string_view, 4> kinds{"header", "query", "cookie", "path"};
  const std::size_t colon = written.find_first_of(":. =");
  if (colon == npos || std::ranges::find(kinds, written.substr(0, colon)) == kinds.end()) return {};
  std::string_view source = written.substr(colon + 1);
  source.remove_prefix(std::min(source.find_first_not_of(' '), source.size()));
  if (source.empty() || !http::is_token(source)) return {};
  std::string name(source);
  std::ranges::replace_if(
      name, [](char c) { return !is_word(c); }, '_');
  return "; define it first, as in identities: {" + name + ": {" +
         std::string(written.substr(0, colon)) + ": " + std::string(source) +
         "}}, and write key: " + name;
}

bool means_client(std::string_view written) {
  constexpr std::array<std::string_view, 9> words{
      "client_address", "client_ip",   "ip",        "remote_addr",        "$remote_addr",
      "remote_address", "{remote_ip}", "source_ip", "$binary_remote_addr"};
  return std::ranges::find(words, written) != words.end();
}

}  // namespace

std::string did_you_mean(std::string_view text) {
  return text.empty() ? std::string() : "; did you mean " + in_quotes(text) + "?";
}

bool is_shell_variable(std::string_view written) {
  const std::string_view name = shell_variable_at(written);
  return !name.empty() && name.size() + 1 == written.size();
}

std::string value_advice(std::string_view written) {
  if (const auto names = shell_variables_in(written); !names.empty()) {
    // The text between a dollar and an @ may be a part of a password.
    if (written.find('@') != npos) return "; for an environment variable write ${NAME}";
    std::string text = names.size() == 1 ? "; for the environment variable write "
                                         : "; for the environment variables write ";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
      text.append("${").append(names[i]).append("}");
    }
    return text;
  }
  constexpr std::array<std::string_view, 4> curly{"\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x98",
                                                  "\xe2\x80\x99"};
  if (std::ranges::any_of(curly, [&](auto quote) { return written.starts_with(quote); }))
    return "; replace the curly quotes by straight ones (\") or remove them";
  return {};
}

std::string word_advice(std::string_view written, std::span<const std::string_view> known) {
  std::string word;
  for (const char c : written)
    word += c == '-' || c == ' ' ? '_' : http::to_lower(c);
  const auto synonym = std::ranges::find(synonyms, word, &Synonym::first);
  const bool has_synonym =
      synonym != synonyms.end() && std::ranges::find(known, synonym->second) != known.end();
  if (has_synonym) return did_you_mean(synonym->second);
  const std::string_view near = closest(written, known);
  return did_you_mean(near.empty() ? closest(word, known) : near);
}

std::string flag_advice(std::string_view written) {
  constexpr std::array<std::string_view, 5> yes{"yes", "on", "1", "y", "enabled"};
  constexpr std::array<std::string_view, 5> no{"no", "off", "0", "n", "disabled"};
  std::string word(written);
  std::ranges::transform(word, word.begin(), http::to_lower);
  if (word == "true" || std::ranges::find(yes, word) != yes.end()) return did_you_mean("true");
  if (word == "false" || std::ranges::find(no, word) != no.end()) return did_you_mean("false");
  return {};
}

std::string prefix_advice(std::string_view written) {
  if (const std::string star = prefix_of_star(written); !star.empty()) return did_you_mean(star);
  const std::size_t slash = written.find('/');
  const auto address = IpAddress::parse(written.substr(0, slash));
  if (!address) {
    if (written.find('-') != npos && IpAddress::parse(written.substr(0, written.find('-'))))
      return "; write a range as one or more prefixes";
    return is_host_name(written) ? "; names are not looked up: write their addresses"
                                 : value_advice(written);
  }
  if (slash == npos) return {};
  const std::string_view length = written.substr(slash + 1);
  const int most = address->is_v4() ? 32 : 128;
  const auto bits = address->is_v4() && length.find('.') != npos ? bits_of_netmask(length)
                                                                 : number_in(length, most);
  if (!bits) return "; the number after / is at most 32 for IPv4 and 128 for IPv6";
  return did_you_mean(address->masked(*bits, *bits).to_string() + '/' + std::to_string(*bits));
}

std::string endpoint_advice(std::string_view written) {
  if (written.starts_with("unix:") && !written.starts_with("unix:/"))
    return "; the path of a socket begins with /";
  std::string_view text = written;
  if (const auto scheme = text.find("://"); scheme != npos) {
    text.remove_prefix(scheme + 3);
    text = text.substr(0, text.find('/'));
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view host = colon == npos ? std::string_view() : text.substr(0, colon);
  const std::string_view port = colon == npos ? text : text.substr(colon + 1);
  if (!port.empty() && std::ranges::all_of(port, http::is_digit) && !number_in(port, 65535))
    return "; a port is at most 65535";
  std::string meant;
  if (host.find(':') != npos) {
    meant = "[" + std::string(host) + "]:" + std::string(port);
  } else {
    meant = std::string(host.empty() || host == "*" ? "0.0.0.0" : host) + ':' + std::string(port);
  }
  if (!parse_endpoint(meant)) return value_advice(written);
  return did_you_mean(meant);
}

std::string host_advice(std::string_view written) {
  const std::string host = host_in(written);
  if (!is_host_name(host)) return value_advice(written);
  return did_you_mean(host);
}

std::string pattern_advice(std::string_view written) {
  if (std::string quotes = value_advice(written); !quotes.empty()) return quotes;
  if (written.find("://") != npos)
    return "; write the host and the path of the URL apart, as in host: api.example.com and "
           "path: /v1/**";
  if (looks_like_regex(written))
    return "; a pattern is not a regular expression: * is one segment, ** at the end any number, "
           "{name} one that identities can read";
  if (written.find('?') != npos) return "; remove the query, which no pattern can match";
  if (!written.starts_with('/')) return did_you_mean(pattern_if_valid('/' + std::string(written)));
  if (const auto rest = written.find("/**/"); rest != npos) return "; write * for one segment";
  if (written.ends_with('*') && !written.ends_with("/*")) {
    const std::string prefix(written.substr(0, written.find('*')));
    return did_you_mean(pattern_if_valid(prefix + "/**"));
  }
  return {};
}

std::string pattern_doubt(std::string_view written) {
  const std::size_t colon = written.find("/:");
  if (colon != npos) {
    const std::size_t end = std::min(written.find('/', colon + 1), written.size());
    const std::string name(written.substr(colon + 2, end - colon - 2));
    const bool is_name = !name.empty() && std::ranges::all_of(name, is_word);
    if (is_name)
      return "matches the text \":" + name + "\"; for a segment of any value write {" + name + "}";
  }
  if (written.find_first_of("[]|^") != npos)
    return "has characters of a regular expression, which match only themselves: * is one segment, "
           "** at the end any number of them";
  return {};
}

std::string header_value_doubt(std::string_view written) {
  // Values such as "Mozilla/5.0 (X11; ...)" have parentheses, dots and brackets too.
  constexpr std::array<std::string_view, 14> signs{".*",   ".+",   "(?",  "[^",  "[0-9",
                                                   "[a-z", "[A-Z", "\\d", "\\w", "\\s",
                                                   "\\b",  "\\.",  "\\/", "\\-"};
  const bool is_regex = contains_any(written, signs) || written.starts_with('^') ||
                        written.starts_with('~') || has_regex_flags(written) ||
                        has_alternatives(written);
  if (!is_regex && !has_star_at_end(written)) return {};
  return "is compared as it is, and is not a pattern: write the whole value, and a route for each "
         "of several; for a part of a value use a proxy before Weir (docs/deploy.md)";
}

std::string reference_advice(std::string_view what, std::string_view written,
                             bool none_is_defined) {
  if (what == "identity") {
    if (std::string advice = inline_identity(written); !advice.empty()) return advice;
    if (means_client(written)) return did_you_mean("client");
  }
  if (what == "policy" && written.find('=') != npos)
    return "; write the name of a policy alone, and the numbers in the policy, as in policies: "
           "{NAME: {algorithm: gcra, rate: 10/s, burst: 20}}";
  const std::size_t comment = written.find("//");
  if (written.find("://") == npos && comment != npos)
    return "; a comment begins with a space and #";
  const auto definition = std::ranges::find(definitions, what, &Definition::what);
  const bool is_url = what == "upstream" && written.find("://") != npos;
  if (definition == definitions.end() || (!none_is_defined && !is_url)) return {};
  return std::string(none_is_defined ? "; none is defined" : "") + "; write " +
         std::string(definition->example) + ", and its NAME here";
}

std::string colon_advice(std::string_view written) {
  const std::size_t colon = written.find(':');
  const bool has_name = colon != npos && colon > 0 && colon + 1 < written.size() &&
                        std::ranges::all_of(written.substr(0, colon), is_word) &&
                        written.substr(colon, 3) != "://";
  if (!has_name) return {};
  const std::string name(written.substr(0, colon));
  return "; write a space after the colon: " + name + ": VALUE";
}

}  // namespace weir::config
