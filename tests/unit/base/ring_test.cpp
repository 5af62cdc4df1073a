#include "base/ring.hpp"

#include <string>

#include "catch.hpp"

using namespace weir;

namespace {

struct Member : Ring<Member> {
  explicit Member(char its_name) : name(its_name) {}
  char name;
};

/// The names from `start` on, and the other way round.
std::string names_of(const Member& start) {
  std::string forward(1, start.name);
  std::string backward = forward;
  for (const Member* one = start.next(); one != &start; one = one->next())
    forward += one->name;
  for (const Member* one = start.previous(); one != &start; one = one->previous())
    backward += one->name;
  return forward + " " + backward;
}

}  // namespace

TEST_CASE("a member is alone until it joins a ring") {
  Member a('a');
  CHECK_FALSE(a.is_linked());
  CHECK(names_of(a) == "a a");
  Member b('b');
  b.link_before(a);
  CHECK(a.is_linked());
  CHECK(b.is_linked());
  CHECK(names_of(a) == "ab ab");
}

TEST_CASE("a member that joins before another is the last, seen from there") {
  Member a('a');
  Member b('b');
  Member c('c');
  b.link_before(a);
  c.link_before(a);
  CHECK(names_of(a) == "abc acb");
  CHECK(names_of(b) == "bca bac");
}

TEST_CASE("a member that leaves is alone, and the others stay in order") {
  Member a('a');
  Member b('b');
  Member c('c');
  b.link_before(a);
  c.link_before(a);
  b.unlink();
  CHECK_FALSE(b.is_linked());
  CHECK(names_of(a) == "ac ac");
  c.unlink();
  CHECK_FALSE(a.is_linked());
  CHECK_FALSE(c.is_linked());
  b.unlink();  // again: nothing to leave
  CHECK_FALSE(b.is_linked());
  b.link_before(a);
  CHECK(names_of(a) == "ab ab");
}
