// `listen[].tls`, `upstreams.*.tls` and `store.redis.tls`: certificates, keys and parameters. Files
// are read here to find problems with them, and again where they are used.
#include <algorithm>
#include <span>

#include "base/ip_address.hpp"
#include "config/endpoint.hpp"
#include "config/sections.hpp"
#include "tls/context.hpp"
#include "tls/material.hpp"
#include "tls/parameters.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_certificates = 256;
constexpr std::size_t most_names = 16;  ///< of groups, or ciphers

std::optional<std::string> read_file_name(const Cursor& in) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  if (text->find("-----BEGIN") != std::string::npos) {
    in.error("this is the content of such a file; write the name of the file");
    return std::nullopt;
  }
  return resolve_path(in, *text);
}

/// Keeps the file only if it can be used. Returns its first certificate, or nullptr.
tls::Certificate read_certificate(const Cursor& in, std::string& to) {
  auto file = read_file_name(in);
  if (!file) return nullptr;
  const Result<tls::Certificates> found = tls::read_certificates(*file);
  if (!found) {
    in.error(in.as_written(found.error().message, *file));
    return nullptr;
  }
  const std::string problem = tls::date_problem(found->front());
  if (!problem.empty()) in.warn(problem);
  to = *std::move(file);
  return found->front();
}

void read_server_certificate(const Cursor& in, std::string& to) {
  const tls::Certificate certificate = read_certificate(in, to);
  if (certificate == nullptr) return;
  const std::string problem = tls::key_problem(certificate);
  if (!problem.empty()) in.warn(problem);
}

void read_key(const Cursor& in, std::string& to) {
  auto file = read_file_name(in);
  if (!file) return;
  const Result<tls::Key> found = tls::read_key(*file);
  if (!found) return in.error(in.as_written(found.error().message, *file));
  to = *std::move(file);
}

/// RFC 6066 section 3: without a final dot. An address is compared with the addresses of the
/// certificate and not sent.
void read_server_name(const Cursor& in, std::string& to) {
  const auto text = in.text();
  if (!text) return;
  const bool is_name = is_host_name(*text) && !text->ends_with('.');
  if (!is_name && !IpAddress::parse(*text))
    return in.error_showing(
        "expected the name in the server's certificate, such as api.example.com");
  to = *text;
}

struct ListenTls {
  tls::CertificateFiles first;
  std::vector<tls::CertificateFiles> more;
  tls::Parameters parameters;
};

constexpr Key<tls::CertificateFiles> certificate_keys[] = {
    {.name = "certificate",
     .read = read::with<read_server_certificate, &tls::CertificateFiles::certificate>,
     .required = true},
    {.name = "private_key",
     .read = read::with<read_key, &tls::CertificateFiles::private_key>,
     .required = true},
};

/// Checks that a certificate and a key, both readable, belong together.
void check_pair(const Cursor& in, const tls::CertificateFiles& files) {
  if (files.certificate.empty() || files.private_key.empty()) return;
  const auto made = tls::ServerContext::load({files});
  if (made) return;
  const Cursor key = in.at_key("private_key");
  key.error(
      key.as_written(in.at_key("certificate").as_written(made.error().message, files.certificate),
                     files.private_key));
}

/// Reads one of `known`, which the list must not have yet.
void add_name(const Cursor& in, std::span<const std::string_view> known,
              std::vector<std::string>& list) {
  const auto index = read_word(in, known);
  if (!index) return;
  const std::string_view name = known[*index];
  if (std::find(list.begin(), list.end(), name) != list.end())
    return in.error_showing("the list has this one already");
  list.emplace_back(name);
}

void read_groups(const Cursor& in, tls::Parameters& to) {
  std::vector<std::string> groups;
  for_each_item(
      in, "a list of groups, such as [X25519, P-256]", most_names, [&](const Cursor& item) {
        const auto name = item.text();
        if (!name) return;
        const std::string_view why = tls::why_not_group(*name);
        if (!why.empty()) {
          return item.error_showing(std::string(why) + "; use " + list_of(tls::known_groups()));
        }
        const std::string_view meant = tls::group_with_alias(*name);
        if (!meant.empty()) return item.error_showing("write " + std::string(meant));
        add_name(item, tls::known_groups(), groups);
        if (!groups.empty() && !tls::is_available({.groups = {groups.back()}}))
          item.error_showing("the OpenSSL of this machine does not have it");
      });
  if (!groups.empty()) to.groups = std::move(groups);
}

void read_ciphers(const Cursor& in, tls::Parameters& to) {
  for_each_item(in, "a list of ciphers, such as [ECDHE-ECDSA-AES128-GCM-SHA256]", most_names,
                [&](const Cursor& item) {
                  const auto name = item.text();
                  if (!name) return;
                  const auto known = tls::known_ciphers();
                  const std::string_view why = tls::why_not_cipher(*name);
                  if (!why.empty())
                    return item.error_showing(std::string(why) + "; use " + list_of(known));
                  add_name(item, known, to.ciphers);
                });
}

/// Refuses a cipher of a version that is switched off.
void check_ciphers(const Cursor& in, const tls::Parameters& parameters) {
  if (parameters.min_version != tls::Version::tls13) return;
  for (const std::string& cipher : parameters.ciphers) {
    if (tls::is_tls13_cipher(cipher)) continue;
    in.at_key("ciphers").error("min_version is 1.3, and " + cipher +
                               " is for TLS 1.2; remove it or set min_version: \"1.2\"");
  }
}

constexpr Key<ListenTls> listen_tls_keys[] = {
    {.name = "certificate",
     .read = read::with<read_server_certificate, &ListenTls::first,
                        &tls::CertificateFiles::certificate>,
     .required = true},
    {.name = "private_key",
     .read = read::with<read_key, &ListenTls::first, &tls::CertificateFiles::private_key>,
     .required = true},
    {.name = "certificates",
     .read =
         [](const Cursor& in, ListenTls& to) {
           for_each_item(in, "a list of {certificate: FILE, private_key: FILE}", most_certificates,
                         [&](const Cursor& item) {
                           tls::CertificateFiles files;
                           if (read_table(item, certificate_keys, files)) check_pair(item, files);
                           to.more.push_back(std::move(files));
                         });
         }},
    {.name = "min_version",
     .read =
         [](const Cursor& in, ListenTls& to) {
           read_choice(in, to.parameters.min_version,
                       {{"1.2", tls::Version::tls12}, {"1.3", tls::Version::tls13}});
         }},
    {.name = "groups", .read = read::with<read_groups, &ListenTls::parameters>},
    {.name = "ciphers", .read = read::with<read_ciphers, &ListenTls::parameters>},
};

constexpr Key<tls::ClientFiles> client_tls_keys[] = {
    {.name = "ca",
     .read = [](const Cursor& in,
                tls::ClientFiles& to) { static_cast<void>(read_certificate(in, to.ca)); }},
    {.name = "certificate",
     .read =
         [](const Cursor& in, tls::ClientFiles& to) {
           static_cast<void>(read_certificate(in, to.own.certificate));
         }},
    {.name = "private_key",
     .read = read::with<read_key, &tls::ClientFiles::own, &tls::CertificateFiles::private_key>},
    {.name = "server_name", .read = read::with<read_server_name, &tls::ClientFiles::server_name>},
    {.name = "verify",
     .read =
         [](const Cursor& in, tls::ClientFiles& to) {
           read_flag(in, to.verify);
           if (!to.verify)
             in.warn("without verify anyone on the network path can read and change the traffic");
         }},
};

}  // namespace

void read_listen_tls(const Cursor& in, options::Listen& to) {
  ListenTls tls;
  if (!read_table(in, listen_tls_keys, tls)) return;
  check_pair(in, tls.first);
  check_ciphers(in, tls.parameters);
  to.certificates = {tls.first};
  to.certificates.insert(to.certificates.end(), tls.more.begin(), tls.more.end());
  to.tls = std::move(tls.parameters);
}
void read_client_tls(const Cursor& in, tls::ClientFiles& to) {
  if (!read_table(in, client_tls_keys, to)) return;
  if (in.has("certificate") != in.has("private_key"))
    in.error("certificate and private_key belong together; write both or neither");
  check_pair(in, to.own);
}
}  // namespace weir::config
