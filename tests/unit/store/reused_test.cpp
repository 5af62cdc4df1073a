#include "store/reused.hpp"

#include <stdexcept>

#include "catch.hpp"

namespace weir::store {
namespace {

struct CountedStep {
  explicit CountedStep(int& made) : number(++made) {
    if (made == 3) throw std::runtime_error("the third");
  }
  int number;
};

}  // namespace

TEST_CASE("An object that was given back is taken again, in its place and with its state") {
  int made = 0;
  Reused<CountedStep> objects;
  CountedStep& first = objects.take(made);
  CountedStep& second = objects.take(made);
  CHECK(&first != &second);
  first.number = 7;
  objects.give_back(first);
  CountedStep& again = objects.take(made);
  CHECK(&again == &first);
  CHECK(again.number == 7);
  CHECK(made == 2);
}

TEST_CASE("An object that cannot be made leaves the others as they are") {
  int made = 0;
  Reused<CountedStep> objects;
  CountedStep& first = objects.take(made);
  objects.take(made);
  CHECK_THROWS_AS(objects.take(made), std::runtime_error);
  objects.give_back(first);
  CHECK(&objects.take(made) == &first);
  CHECK(objects.take(made).number == 4);
}

TEST_CASE("A borrowed object is given back at the end of the scope, unless it is kept") {
  int made = 0;
  Reused<CountedStep> objects;
  CountedStep* borrowed = nullptr;
  {
    auto object = objects.borrow(made);
    borrowed = &*object;
    object->number = 5;
  }
  {
    auto object = objects.borrow(made);
    CHECK(&*object == borrowed);
    CHECK(object->number == 5);
    object.keep();
  }
  CHECK(&objects.take(made) != borrowed);
  objects.give_back(*borrowed);
  CHECK(&objects.take(made) == borrowed);
}

}  // namespace weir::store
