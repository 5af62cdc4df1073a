#include "tls/hello_cost.hpp"

#include <memory>
#include <openssl/ssl.h>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tls/context.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::tls {
namespace {

constexpr std::uint16_t p256 = 23, p384 = 24, x25519 = 29, x448 = 30, ffdhe2048 = 256,
                        x25519_ml_kem = 4588, grease = 0x8a8a;
const std::vector<Group> usual{Group::x25519, Group::p256, Group::p384};

std::string number(std::size_t value, int size) {
  std::string bytes;
  while (size-- > 0)
    bytes += static_cast<char>(value >> (8 * size));
  return bytes;
}

std::string vector(int length_size, const std::string& content) {
  return number(content.size(), length_size) + content;
}

std::string extension(std::size_t type, const std::string& content) {
  return number(type, 2) + vector(2, content);
}

std::string numbers(const std::vector<std::uint16_t>& all) {
  std::string bytes;
  for (const std::uint16_t one : all)
    bytes += number(one, 2);
  return bytes;
}

std::string groups(const std::vector<std::uint16_t>& all) {
  return extension(10, vector(2, numbers(all)));
}

std::string shares(const std::vector<std::uint16_t>& all) {
  std::string entries;
  for (const std::uint16_t group : all)
    entries += number(group, 2) + vector(2, std::string(32, 'k'));
  return extension(51, vector(2, entries));
}

const std::string only_tls12 = extension(43, vector(1, numbers({0x0303})));
const std::string with_tls13 = extension(43, vector(1, numbers({grease, 0x0304, 0x0303})));
const std::string server_name = extension(0, std::string(20, 'n'));

std::string hello_with(const std::string& extensions) {
  const std::string body = "\3\3" + std::string(32, 'r') + vector(1, std::string(32, 's')) +
                           vector(2, numbers({grease, 0x1301})) + vector(1, std::string(1, '\0')) +
                           vector(2, extensions);
  return "\x16\3\1" + vector(2, "\1" + vector(3, body));
}

TEST_CASE("the key exchange that a ClientHello leads to may cost much") {
  struct Row {
    const char* what;
    std::string extensions;
    bool expected;
    std::vector<Group> accepted = usual;
  };
  const std::vector<Group> cheap{Group::x25519, Group::p256};
  const std::vector<Group> reversed{Group::p384, Group::p256};
  const std::vector<Row> rows{
      // TLS 1.3: the shares decide
      {"X25519", with_tls13 + groups({x25519, p256, p384}) + shares({x25519}), false},
      {"P-256", with_tls13 + groups({x25519, p256, p384}) + shares({p256}), false},
      {"P-384", with_tls13 + groups({p384}) + shares({p384}), true},
      {"a costly share, and cheap groups", with_tls13 + groups({x25519, p384}) + shares({p384}),
       true},
      {"both, the cheap one first", with_tls13 + groups({x25519, p384}) + shares({x25519, p384}),
       true},
      {"both, the costly one first", with_tls13 + groups({p384, x25519}) + shares({p384, x25519}),
       true},
      {"a browser's",
       server_name + groups({grease, x25519_ml_kem, x25519, p256, p384}) +
           shares({grease, x25519_ml_kem, x25519}) + with_tls13,
       false},
      {"X448, which is not accepted", with_tls13 + groups({x448, x25519}) + shares({x448, x25519}),
       false},
      {"X448, which is accepted",
       with_tls13 + groups({x448}) + shares({x448}),
       true,
       {Group::x25519, Group::x448}},
      {"P-384, where it is not accepted", with_tls13 + groups({p384}) + shares({p384}), false,
       cheap},
      // TLS 1.3 without an accepted share: a HelloRetryRequest for one of the groups
      {"no share, cheap groups", with_tls13 + groups({x25519, p256}) + shares({}), false},
      {"no share, a costly group", with_tls13 + groups({p384}) + shares({}), true},
      {"no extension of shares", with_tls13 + groups({p384}), true},
      {"no share, both, the cheap one first", with_tls13 + groups({x25519, p384}) + shares({}),
       false},
      {"no share, both, the costly one first", with_tls13 + groups({p384, x25519}) + shares({}),
       true},
      {"a share of another group", with_tls13 + groups({ffdhe2048, p384}) + shares({ffdhe2048}),
       true},
      {"no share, and the server prefers the costly one", with_tls13 + groups({p256, p384}), true,
       reversed},
      {"no common group", with_tls13 + groups({ffdhe2048}) + shares({ffdhe2048}), false},
      {"no groups", with_tls13 + shares({}), true},
      // TLS 1.2: the groups decide
      {"TLS 1.2, cheap first", only_tls12 + groups({x25519, p256, p384}), false},
      {"TLS 1.2, costly first", only_tls12 + groups({p384, x25519}), true},
      {"TLS 1.2, costly only", groups({grease, p384}), true},
      {"TLS 1.2, shares without a meaning", only_tls12 + groups({p384}) + shares({x25519}), true},
      {"TLS 1.2, without any extension", "", true},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(may_cost_much(hello_with(row.extensions), row.accepted) == row.expected);
  }
}

TEST_CASE("bytes that are no complete ClientHello in one record may cost much") {
  const std::string cheap =
      hello_with(server_name + with_tls13 + groups({x25519}) + shares({x25519}));
  REQUIRE_FALSE(may_cost_much(cheap, usual));
  CHECK_FALSE(may_cost_much(cheap + "more", usual));
  for (std::size_t size = 0; size < cheap.size(); ++size)
    REQUIRE(may_cost_much(std::string_view(cheap).substr(0, size), usual));
  const std::string message = cheap.substr(5);
  const std::string two_records =
      "\x16\3\1" + vector(2, message.substr(0, 50)) + "\x16\3\1" + vector(2, message.substr(50));
  CHECK(may_cost_much(two_records, usual));
  CHECK(may_cost_much("\x15" + cheap.substr(1), usual));
  CHECK(may_cost_much(cheap.substr(0, 5) + '\2' + message.substr(1), usual));
  // Lengths that lead beyond the end of what holds them.
  const std::string share = number(x25519, 2) + number(33, 2) + std::string(32, 'k');
  CHECK(may_cost_much(hello_with(with_tls13 + extension(51, vector(2, share))), usual));
  CHECK(may_cost_much(hello_with(with_tls13 + number(51, 2) + number(9, 2)), usual));
}

TEST_CASE("any bytes are read without fault") {
  const std::string whole =
      hello_with(server_name + with_tls13 + groups({p256, p384}) + shares({p256}));
  std::mt19937 random(Catch::rngSeed());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole.substr(0, random() % (whole.size() + 1));
    for (auto changes = random() % 4; changes > 0 && !bytes.empty(); --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    may_cost_much(bytes, usual);
  }
}

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Connection = std::unique_ptr<SSL, decltype(&SSL_free)>;

/// Both ends in one process, over memory.
struct Exchange {
  Exchange(const ServerContext& server_context, SSL_CTX* client_context)
      : server(SSL_new(server_context.native()), SSL_free),
        client(SSL_new(client_context), SSL_free) {
    for (SSL* const side : {server.get(), client.get()})
      SSL_set_bio(side, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(server.get());
    SSL_set_connect_state(client.get());
  }

  static std::string pass(SSL* from, SSL* to) {
    std::string all(100'000, '\0');
    const int size = BIO_read(SSL_get_wbio(from), all.data(), static_cast<int>(all.size()));
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (!all.empty()) BIO_write(SSL_get_rbio(to), all.data(), static_cast<int>(all.size()));
    return all;
  }
  /// Returns the ClientHello; `group` is the one that was agreed on, or 0.
  std::string shake_hands(int& group) {
    std::string first;
    for (int i = 0; i < 5; ++i) {
      SSL_do_handshake(client.get());
      const std::string sent = pass(client.get(), server.get());
      if (i == 0) first = sent;
      SSL_do_handshake(server.get());
      pass(server.get(), client.get());
    }
    const bool is_done = SSL_is_init_finished(server.get()) == 1;
    group = is_done ? static_cast<int>(SSL_get_negotiated_group(server.get())) : 0;
    return first;
  }

  Connection server, client;
};

TEST_CASE("OpenSSL never chooses a costly group that was not foreseen") {
  // RSA, which TLS 1.2 takes with each group.
  const test::MadeCertificate certificate("one.test", 3600, EVP_RSA_gen(2048));
  const std::vector<std::vector<std::string>> listeners{
      {"X25519", "P-256", "P-384"}, {"P-384", "X25519"}, {"P-256"}, {"X448", "P-521", "P-256"}};
  const std::vector<const char*> clients{"X25519",       "P-256",           "P-384",
                                         "X448",         "P-521",           "P-384:X25519",
                                         "X25519:P-384", "X448:P-384",      "P-256:X448:X25519",
                                         "P-521:P-256",  "ffdhe2048:P-384", "ffdhe2048:P-256"};
  int costly = 0, cheap = 0;
  for (const auto& accepted : listeners) {
    const auto listener = ServerContext::load({certificate.files()}, {.groups = accepted}).value();
    for (const char* const offered : clients) {
      for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        INFO(accepted.front() << " for " << offered << " with " << version);
        const Context context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
        REQUIRE(SSL_CTX_set1_groups_list(context.get(), offered) == 1);
        SSL_CTX_set_max_proto_version(context.get(), version);
        int group = 0;
        const std::string first = Exchange(*listener, context.get()).shake_hands(group);
        const bool is_costly = group != 0 && group != NID_X25519 && group != NID_X9_62_prime256v1;
        const bool expected = listener->may_cost_much(first);
        if (is_costly) CHECK(expected);
        (is_costly ? costly : cheap) += group == 0 ? 0 : 1;
        // Not all are taken for costly: a client with one group gets that one.
        if (std::string_view(offered).find(':') == std::string_view::npos && group != 0)
          CHECK(expected == is_costly);
      }
    }
  }
  CHECK(costly > 10);
  CHECK(cheap > 10);
}

TEST_CASE("a key that signs slowly makes all handshakes of its listener costly") {
  const std::string first =
      hello_with(server_name + with_tls13 + groups({x25519}) + shares({x25519}));
  const auto costs_much = [&](EVP_PKEY* key) {
    const test::MadeCertificate fast("one.test"), other("two.test", 3600, key);
    return ServerContext::load({fast.files(), other.files()}).value()->may_cost_much(first);
  };
  CHECK_FALSE(costs_much(EVP_EC_gen("P-256")));
  CHECK_FALSE(costs_much(EVP_RSA_gen(2048)));
  CHECK(costs_much(EVP_RSA_gen(3072)));
  CHECK(costs_much(EVP_EC_gen("P-384")));
}

}  // namespace
}  // namespace weir::tls
