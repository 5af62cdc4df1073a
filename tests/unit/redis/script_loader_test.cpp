#include "redis/script_loader.hpp"

#include <boost/asio/io_context.hpp>

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;

namespace {

struct NoOwner final : weir::redis::Connection::Owner {
  void on_ready() override {}
  void on_failure() override {}
};

}  // namespace

// tests/unit/redis/store_failure_test.cpp loads scripts that a server has lost.
TEST_CASE("a command names its script by SHA if Redis has it, otherwise by its text") {
  const std::uint8_t one = set_of(rules::Algorithm::gcra);
  const std::uint8_t other = set_of(rules::Algorithm::fixed_window);
  boost::asio::io_context io;
  options::Redis options;
  options.host = "127.0.0.1";
  ScriptSet scripts({one, other}, Clock::server);
  ScriptShas shas;
  NoOwner owner;
  weir::redis::Connection connection(io, options, scripts.texts(), shas, 1,
                                     owner);  // never started
  ScriptLoader loader(connection, scripts, shas);
  const std::string sha(40, 'a');
  shas.set(1, sha);

  CHECK(loader.name_of(0).by == ScriptName::By::text);
  CHECK(loader.name_of(0).value == scripts.texts()[0]);
  CHECK(loader.name_of(1).by == ScriptName::By::sha);
  CHECK(loader.name_of(1).value == sha);
}
