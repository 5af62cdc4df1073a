#include "redis/deadline_queue.hpp"

#include <string>

#include "catch.hpp"

using namespace weir;

namespace {

struct Entry : redis::DeadlineLink {
  int deadline = 0;
  std::string name;
};
using Queue = redis::DeadlineQueue<Entry>;

Entry& add(Queue& queue, int deadline, const std::string& name) {
  Entry& entry = queue.take();
  entry.deadline = deadline;
  entry.name = name;
  queue.push(entry);
  return entry;
}

std::string take_all(Queue& queue) {
  std::string names;
  while (Entry* first = queue.first()) {
    names += first->name;
    queue.give_back(*first);
  }
  return names;
}

}  // namespace

TEST_CASE("entries are in order of their deadlines, equal ones in order of arrival") {
  Queue queue;
  CHECK(queue.first() == nullptr);
  add(queue, 20, "b");
  add(queue, 20, "c");
  add(queue, 30, "d");
  add(queue, 10, "a");
  add(queue, 30, "e");
  CHECK(take_all(queue) == "abcde");
  CHECK(queue.first() == nullptr);
}

TEST_CASE("an entry that waits can be given back in any place") {
  const std::string which = GENERATE("a", "b", "c");
  Queue queue;
  std::string others;
  std::vector<Entry*> entries;
  for (const char* name : {"a", "b", "c"})
    entries.push_back(&add(queue, 10, name));
  for (Entry* entry : entries) {
    if (entry->name == which)
      queue.give_back(*entry);
    else
      others += entry->name;
  }
  CHECK(take_all(queue) == others);
}

TEST_CASE("the entry that was used last is used again") {
  Queue queue;
  Entry& first = queue.take();
  Entry& second = queue.take();
  CHECK(&first != &second);
  queue.give_back(second);
  queue.give_back(first);
  CHECK(&queue.take() == &first);
  CHECK(&queue.take() == &second);
  Entry& third = queue.take();
  CHECK(&third != &first);
  CHECK(&third != &second);
}
