// Which request fields are refused, removed or passed on because of their names.
//
// Fields that decide something (who the client is, where a request comes from, how its body is
// framed, which route it takes) must reach the service as Weir has read them, and fields that only
// a trusted proxy may send are accepted from no other peer. Made once from the configuration; pure
// and thread-safe afterwards; no allocation.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// Names in any case.
struct FieldGuardOptions {
  std::string client_field = "x-forwarded-for";  ///< that client addresses are read from
  /// Fields that identities read. They are not removed, unless they are fields that no untrusted
  /// peer may send.
  std::vector<std::string> own{};
  std::vector<std::string> observed{};   ///< fields that routes and attributes of a window read
  bool removes_untrusted = true;         ///< the removable built-in fields and `untrusted`
  std::vector<std::string> untrusted{};  ///< more of them; "x-internal-*" is a prefix
  bool drops_unusual = false;  ///< removes names with characters other than letters, digits, "-"
};

/// True for a name that may be listed in `untrusted`, without the "*" of a prefix: not for Host and
/// the fields that frame a body.
bool may_be_untrusted(std::string_view name);

class FieldGuard {
 public:
  explicit FieldGuard(const FieldGuardOptions& options);

  /// Removes the fields that no part of Weir may read, in place.
  void drop_unusual(std::vector<FieldView>& fields) const;

  /// Returns 400 if a field has another name than a guarded field, but may be read as that field.
  /// The detail is valid as long as this object.
  std::optional<Refusal> refusal_of(std::span<const FieldView> fields) const;

  /// True for fields that are not passed on: Proxy, which CGI would make the variable HTTP_PROXY
  /// (CVE-2016-5385), and from an untrusted peer the fields that only a trusted one may send.
  bool is_removed(const FieldView& field, bool peer_is_trusted) const {
    if (field.id != FieldId::unknown)
      return !peer_is_trusted && known_[static_cast<std::size_t>(field.id)];
    return is_removed(field.name, peer_is_trusted);
  }

  /// True for fields that the trailer section of a request may not have, in addition to
  /// is_forbidden_in_trailers(): a guarded field, or a name that may be read as one.
  bool is_forbidden_in_trailers(std::string_view name) const;

 private:
  /// One name, or all that begin with it.
  struct Pattern {
    std::string name;  ///< in lower case
    bool is_prefix = false;
    bool is_plain = true;
    std::string refusal{};  ///< the detail of the answer to a look-alike

    bool matches(std::string_view field_name) const;
    bool is_imitated_by(std::string_view field_name, bool field_is_plain) const;
  };

  /// A pattern of fields that are removed from untrusted peers.
  struct Untrusted {
    std::uint32_t begin;  ///< begin_of() its name: compared first
    bool spares_own;      ///< fields that identities read are forwarded
    Pattern pattern;
  };

  static std::uint32_t begin_of(std::string_view name);
  template <class Names>
  void distrust(const Names& names, bool spares_own);
  bool is_removed(std::string_view name, bool peer_is_trusted) const;
  bool is_untrusted(std::string_view name) const;
  bool is_own(std::string_view name) const;
  void guard(std::string_view written);
  void find_known();
  const Pattern* imitated_by(std::string_view name) const;

  bool drops_unusual_;
  bool has_unusual_ = false;          ///< a guarded name has punctuation other than "-"
  bool has_short_prefix_ = false;     ///< begin_of() a prefix is not that of the names it matches
  std::vector<Pattern> guarded_;      ///< fields whose look-alikes are refused
  std::vector<Untrusted> untrusted_;  ///< removed from untrusted peers, by Untrusted::begin
  std::vector<std::string> own_;      ///< in lower case
  std::uint64_t begins_ = 0;          ///< a bit for each begin_of() that is_removed() may find
  std::bitset<512> known_;            ///< by FieldId: the result of is_untrusted()
};

}  // namespace weir::http
