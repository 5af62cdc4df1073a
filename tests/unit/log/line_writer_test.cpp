#include "log/line_writer.hpp"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <sstream>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "catch.hpp"

using namespace weir;
using namespace weir::log;

namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A pipe that LineWriter opens by its path.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe(ends_.data()) == 0); }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[1]); }
  int reader() const { return ends_[0]; }
  void close_reader() { close_end(0); }
  /// After close_reader().
  void open_reader() {
    ends_[0] = ::open(path().c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(ends_[0] >= 0);
  }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{};
};

/// Files of this process cannot grow beyond it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

std::unique_ptr<LineWriter> open_writer(const std::string& path, LineWriterOptions options = {}) {
  auto writer = LineWriter::open(path, options);
  REQUIRE(writer.has_value());
  return std::move(writer).value();
}

void add_line(LineBuffer& buffer, const std::string& text) {
  buffer.add([&](std::string& out) { out += text + "\n"; });
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const auto count = ::read(fd, part.data(), part.size());
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

template <class Condition>
bool eventually(Condition&& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE("LineWriter appends every line of every thread, each whole") {
  constexpr int threads = 4;
  constexpr int lines_each = 5000;
  const TemporaryDirectory directory;
  const auto path = directory.file("access.log");
  std::ofstream(path) << "before\n";
  {
    const auto writer = open_writer(path);
    std::vector<std::thread> workers;
    for (int name = 0; name < threads; ++name) {
      workers.emplace_back([&writer, name] {
        LineBuffer buffer(*writer);
        for (int i = 0; i < lines_each; ++i) {
          add_line(buffer, std::to_string(name) + " " + std::to_string(i));
          if (i % 100 == 0) buffer.flush();
        }
      });
    }
    for (auto& worker : workers)
      worker.join();
    CHECK(writer->dropped() == 0);
  }
  std::ifstream in(path);
  std::string line;
  REQUIRE(std::getline(in, line));
  CHECK(line == "before");
  std::array<int, threads> next{};
  std::size_t worker = 0;
  for (int i = 0; in >> worker >> i;) {
    REQUIRE(worker < next.size());
    REQUIRE(i == next[worker]++);
  }
  for (const int count : next)
    CHECK(count == lines_each);
}

TEST_CASE("a line that could not be written is removed completely") {
  const TemporaryDirectory directory;
  const auto path = directory.file("access.log");
  {
    const auto writer = open_writer(path);
    LineBuffer buffer(*writer);
    add_line(buffer, "before");
    CHECK_THROWS(buffer.add([](std::string& out) {
      out += "half a li";
      throw std::bad_alloc();
    }));
    add_line(buffer, "behind");
  }
  CHECK(content(path) == "before\nbehind\n");
}

TEST_CASE("LineBuffer passes its lines on at the chunk size by itself") {
  const TemporaryDirectory directory;
  const auto path = directory.file("access.log");
  const auto writer = open_writer(path);
  LineBuffer buffer(*writer);
  add_line(buffer, "small");
  add_line(buffer, std::string(LineWriter::chunk_size, 'x'));
  CHECK(eventually([&] { return content(path).size() == LineWriter::chunk_size + 7; }));
}

TEST_CASE("LineWriter never makes a caller wait for a reader, and counts what it drops") {
  const Pipe pipe;
  const std::string line(999, 'x');
  constexpr int lines = 4000;  // 4 MB: 64 KiB fit the pipe, 1 MiB the queue
  std::uint64_t dropped = 0;
  {
    const auto writer = open_writer(
        pipe.path(), {.queue_limit = 1024 * 1024, .stop_timeout = std::chrono::milliseconds(100)});
    LineBuffer buffer(*writer);
    for (int i = 0; i < lines; ++i)
      add_line(buffer, line);
    buffer.flush();
    dropped = writer->dropped();
    CHECK(dropped > lines * 6 / 10);
    CHECK(dropped < lines * 8 / 10);
  }  // the destructor returns even if the reader does not read
}

TEST_CASE("LineWriter delivers everything that it did not count as dropped") {
  Pipe pipe;
  constexpr std::uint64_t lines = 4000;
  auto writer = open_writer(pipe.path(), {.queue_limit = 1024 * 1024});
  {
    LineBuffer buffer(*writer);
    for (std::uint64_t i = 0; i < lines; ++i)
      add_line(buffer, std::string(999, 'x'));
  }
  const auto dropped = writer->dropped();
  std::string received;
  std::thread reader([&] { received = read_all(pipe.reader()); });
  writer.reset();
  pipe.close_writer();
  reader.join();
  CHECK(dropped > 0);
  CHECK(received.size() == (lines - dropped) * 1000);
}

TEST_CASE("LineWriter takes lines again once a slow reader has caught up") {
  Pipe pipe;
  auto writer = open_writer(pipe.path(), {.queue_limit = 128 * 1024});
  LineBuffer buffer(*writer);
  for (int i = 0; i < 1000; ++i)
    add_line(buffer, std::string(999, 'x'));
  REQUIRE(writer->dropped() > 0);
  std::string received;
  std::thread reader([&] { received = read_all(pipe.reader()); });
  CHECK(eventually([&] {
    const auto before = writer->dropped();
    add_line(buffer, "again");
    buffer.flush();
    return writer->dropped() == before;
  }));
  writer.reset();
  pipe.close_writer();
  reader.join();
  CHECK(received.ends_with("x\nagain\n"));
}

/// The sentences that a writer reports.
class Reported {
 public:
  LineWriterOptions options(std::size_t queue_limit = 1 << 20) {
    return {.queue_limit = queue_limit, .report = [this](const std::string& sentence) {
              const std::lock_guard lock(mutex_);
              text_ += sentence + "\n";
            }};
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

TEST_CASE("LineWriter reports that a full disk loses lines, and that it writes again") {
  const TemporaryDirectory directory;
  const auto path = directory.file("access.log");
  Reported reported;
  const auto writer = open_writer(path, reported.options());
  LineBuffer buffer(*writer);
  const std::string lost = "access log: cannot write to " + path +
                           ": File too large; lines are lost until it recovers, and "
                           "weir_access_log_dropped_total counts them\n";
  {
    const FileSizeLimit full(100);
    for (const std::uint64_t dropped : {1, 2}) {
      add_line(buffer, std::string(150, 'x'));
      buffer.flush();
      REQUIRE(eventually([&] { return writer->dropped() == dropped; }));
    }
    CHECK(reported.text() == lost);
  }
  add_line(buffer, "whole");
  buffer.flush();
  CHECK(eventually([&] {
    return reported.text() ==
           lost + "access log: writes to " + path + " again; 2 lines were lost\n";
  }));
}

TEST_CASE("LineWriter reports a reader that went away once, and that it writes to the next one") {
  Pipe pipe;
  Reported reported;
  const auto writer = open_writer(pipe.path(), reported.options());
  pipe.close_reader();
  LineBuffer buffer(*writer);
  for (const std::uint64_t dropped : {1, 2}) {
    add_line(buffer, "lost");
    buffer.flush();
    REQUIRE(eventually([&] { return writer->dropped() == dropped; }));
  }
  const std::string lost = "access log: cannot write to " + pipe.path() +
                           ": Broken pipe; lines are lost until it recovers, and "
                           "weir_access_log_dropped_total counts them\n";
  CHECK(reported.text() == lost);
  pipe.open_reader();
  add_line(buffer, "again");
  buffer.flush();
  CHECK(eventually([&] {
    return reported.text() ==
           lost + "access log: writes to " + pipe.path() + " again; 2 lines were lost\n";
  }));
  std::array<char, 100> received{};
  const ssize_t size = ::read(pipe.reader(), received.data(), received.size());
  REQUIRE(size > 0);
  CHECK(std::string(received.data(), static_cast<std::size_t>(size)) == "again\n");
  CHECK(writer->dropped() == 2);
}

TEST_CASE("LineWriter reports a reader that is too slow while it waits for it") {
  Pipe pipe;
  Reported reported;
  auto options = reported.options(1 << 17);
  options.stop_timeout = Duration{0};
  const auto writer = open_writer(pipe.path(), options);
  LineBuffer buffer(*writer);
  while (writer->dropped() == 0) {
    add_line(buffer, std::string(1000, 'x'));
    buffer.flush();
  }
  CHECK(eventually([&] { return reported.text().find(" is too slow; ") != std::string::npos; }));
}

TEST_CASE("LineWriter starts a new line after one that a full disk has cut") {
  const TemporaryDirectory directory;
  const auto path = directory.file("access.log");
  const auto writer = open_writer(path);
  LineBuffer buffer(*writer);
  {
    const FileSizeLimit full(1000);
    add_line(buffer, std::string(1500, 'x'));
    add_line(buffer, "lost as well");
    buffer.flush();
    REQUIRE(eventually([&] { return writer->dropped() == 2; }));
  }
  add_line(buffer, "whole");
  buffer.flush();
  CHECK(eventually([&] { return content(path) == std::string(1000, 'x') + "\nwhole\n"; }));
}

TEST_CASE("LineWriter::reopen follows a log rotation") {
  const TemporaryDirectory directory;
  const auto path = directory.file("access.log");
  const auto rotated = directory.file("access.log.1");
  const auto writer = open_writer(path);
  LineBuffer buffer(*writer);
  add_line(buffer, "before");
  buffer.flush();
  REQUIRE(eventually([&] { return content(path) == "before\n"; }));
  std::filesystem::rename(path, rotated);
  REQUIRE(writer->reopen().has_value());
  add_line(buffer, "after");
  buffer.flush();
  CHECK(eventually([&] { return content(path) == "after\n"; }));
  CHECK(content(rotated) == "before\n");
}

TEST_CASE("LineWriter::reopen keeps the old file when the new one cannot be opened") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("logs"));
  const auto path = directory.file("logs/access.log");
  const auto writer = open_writer(path);
  std::filesystem::rename(directory.file("logs"), directory.file("moved"));
  CHECK_FALSE(writer->reopen().has_value());
  LineBuffer buffer(*writer);
  add_line(buffer, "kept");
  buffer.flush();
  CHECK(eventually([&] { return content(directory.file("moved/access.log")) == "kept\n"; }));
}

TEST_CASE("LineWriter::open reports the file and the reason") {
  const auto writer = LineWriter::open("/nonexistent/weir/access.log");
  REQUIRE(writer.has_error());
  CHECK(writer.error().message ==
        "cannot open log file \"/nonexistent/weir/access.log\" for appending: "
        "No such file or directory; create the folder \"/nonexistent/weir\" first");
}
