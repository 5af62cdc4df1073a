// `listen[].tls`, `upstreams.*.tls` and `store.redis.tls`: certificates and keys. They are read
// here to find what is wrong with them, and again by whoever uses them.
#include "config/host.hpp"
#include "config/sections.hpp"
#include "identity/ip_address.hpp"
#include "tls/context.hpp"
#include "tls/material.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_certificates = 256;

std::optional<std::string> read_file_name(const Cursor& in) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  if (text->find("-----BEGIN") != std::string::npos) {
    in.error("this is what such a file holds; write the name of the file");
    return std::nullopt;
  }
  return resolve_path(in, *text);
}

/// Kept only if it can be used.
void read_certificate(const Cursor& in, std::string& to) {
  auto file = read_file_name(in);
  if (!file) return;
  const Result<tls::Certificates> found = tls::read_certificates(*file);
  if (!found) return in.error(in.as_written(found.error().message, *file));
  const std::string trouble = tls::trouble_with_dates(found->front());
  if (!trouble.empty()) in.warn(trouble);
  to = *std::move(file);
}

void read_key(const Cursor& in, std::string& to) {
  auto file = read_file_name(in);
  if (!file) return;
  const Result<tls::Key> found = tls::read_key(*file);
  if (!found) return in.error(in.as_written(found.error().message, *file));
  to = *std::move(file);
}

/// RFC 6066 section 3: without a final dot; an address is checked as one and not sent.
void read_server_name(const Cursor& in, std::string& to) {
  const auto text = in.text();
  if (!text) return;
  const bool is_name = is_host_name(*text) && !text->ends_with('.');
  if (!is_name && !identity::IpAddress::parse(*text))
    return in.error_showing("expected the name in the server's certificate, as in api.example.com");
  to = *text;
}

struct ListenTls {
  tls::CertificateFiles first;
  std::vector<tls::CertificateFiles> more;
};

constexpr Key<tls::CertificateFiles> certificate_keys[] = {
    {.name = "certificate",
     .read = [](const Cursor& in,
                tls::CertificateFiles& to) { read_certificate(in, to.certificate); },
     .required = true},
    {.name = "private_key",
     .read = [](const Cursor& in, tls::CertificateFiles& to) { read_key(in, to.private_key); },
     .required = true},
};

/// Of a certificate and a key that can be read each for itself.
void check_pair(const Cursor& in, const tls::CertificateFiles& files) {
  if (files.certificate.empty() || files.private_key.empty()) return;
  const auto made = tls::ServerContext::load({files});
  if (made) return;
  const Cursor key = in.at_key("private_key");
  key.error(
      key.as_written(in.at_key("certificate").as_written(made.error().message, files.certificate),
                     files.private_key));
}

constexpr Key<ListenTls> listen_tls_keys[] = {
    {.name = "certificate",
     .read = [](const Cursor& in, ListenTls& to) { read_certificate(in, to.first.certificate); },
     .required = true},
    {.name = "private_key",
     .read = [](const Cursor& in, ListenTls& to) { read_key(in, to.first.private_key); },
     .required = true},
    {.name = "certificates",
     .read =
         [](const Cursor& in, ListenTls& to) {
           for_each_item(in, "a list of {certificate: FILE, private_key: FILE}", most_certificates,
                         [&](const Cursor& item) {
                           tls::CertificateFiles files;
                           read_table(item, certificate_keys, files);
                           if (item.node().kind == Node::Kind::map) check_pair(item, files);
                           to.more.push_back(std::move(files));
                         });
         },
     .list = list_items<certificate_keys>},
};

constexpr Key<tls::ClientFiles> client_tls_keys[] = {
    {.name = "ca",
     .read = [](const Cursor& in, tls::ClientFiles& to) { read_certificate(in, to.ca); }},
    {.name = "certificate",
     .read = [](const Cursor& in,
                tls::ClientFiles& to) { read_certificate(in, to.own.certificate); }},
    {.name = "private_key",
     .read = [](const Cursor& in, tls::ClientFiles& to) { read_key(in, to.own.private_key); }},
    {.name = "server_name",
     .read = [](const Cursor& in, tls::ClientFiles& to) { read_server_name(in, to.server_name); }},
    {.name = "verify",
     .read =
         [](const Cursor& in, tls::ClientFiles& to) {
           read_flag(in, to.verify);
           if (!to.verify) in.warn("whoever is on the way there can read and change what passes");
         }},
};

}  // namespace

void read_listen_tls(const Cursor& in, std::vector<tls::CertificateFiles>& to) {
  ListenTls tls;
  read_table(in, listen_tls_keys, tls);
  if (in.node().kind != Node::Kind::map) return;
  check_pair(in, tls.first);
  to = {tls.first};
  to.insert(to.end(), tls.more.begin(), tls.more.end());
}
void list_listen_tls(const std::string& path, KeyPaths& out) {
  list_section<listen_tls_keys>(path, out);
}

void read_client_tls(const Cursor& in, tls::ClientFiles& to) {
  read_table(in, client_tls_keys, to);
  if (in.node().kind != Node::Kind::map) return;
  if (in.has("certificate") != in.has("private_key"))
    in.error("certificate and private_key belong together; write both or neither");
  check_pair(in, to.own);
}
void list_client_tls(const std::string& path, KeyPaths& out) {
  list_section<client_tls_keys>(path, out);
}

}  // namespace weir::config
