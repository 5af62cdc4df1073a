#include "http/look_alike.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::http {
namespace {

const std::vector<std::string> guarded{"X-Api-Key", "x_odd"};

TEST_CASE("F7: names that a server may take for another field's are told apart") {
  for (const char* name :
       {"Content_Length", "TRANSFER_ENCODING", "transfer_encoding", "X_Forwarded_For",
        "x-forwarded_host", "X_FORWARDED-Proto", "X_Real_IP", "x-real_ip", "X_Api_Key", "x-api_key",
        "X-Odd", "x_original_uri", "X_Original_Method", "X-Original_Host"}) {
    INFO(name);
    CHECK(is_look_alike(name, guarded));
  }
}

TEST_CASE("F7: the fields themselves, and others with underscores, are no look-alikes") {
  for (const char* name : {"Content-Length", "transfer-encoding", "X-Forwarded-For", "x-api-key",
                           "X_ODD", "x_request_id", "_", "x_forwarded", "content_lengths", "X-A"}) {
    INFO(name);
    CHECK_FALSE(is_look_alike(name, guarded));
  }
}

}  // namespace
}  // namespace weir::http
