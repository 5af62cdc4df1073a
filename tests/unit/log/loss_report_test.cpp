#include <cerrno>

#include "catch.hpp"
#include "log/line_writer.hpp"

namespace weir::log {

TEST_CASE("A loss is reported once, and so is its end") {
  LossReport report("/var/log/weir.log");
  CHECK_FALSE(report.written(0));
  CHECK(report.failed(ENOSPC) ==
        "access log: cannot write to /var/log/weir.log: No space left on device; lines are lost "
        "until it recovers, and weir_access_log_dropped_total counts them");
  CHECK_FALSE(report.failed(ENOSPC));
  CHECK_FALSE(report.overflowed());
  CHECK(report.failed(EIO));
  CHECK(report.written(7) == "access log: writes to /var/log/weir.log again; 7 lines were lost");
  CHECK_FALSE(report.written(7));
  CHECK(report.overflowed() ==
        "access log: the reader of /var/log/weir.log is too slow; lines are lost until it "
        "recovers, and weir_access_log_dropped_total counts them");
  CHECK_FALSE(report.overflowed());
  CHECK(report.written(8) == "access log: writes to /var/log/weir.log again; 1 line was lost");
}

TEST_CASE("A path of - is standard output") {
  LossReport report("-");
  CHECK(report.failed(EPIPE)->find("cannot write to standard output: Broken pipe") !=
        std::string::npos);
}

}  // namespace weir::log
