"""The check of classes must see what it is for: python3 tests/lint/classes_test.py"""

import unittest

import classes
from tree import Tree


def found(text):
    """{class: names of its member functions}"""
    return {name: functions for _, name, functions in classes.member_functions(classes.code_of(text))}


def functions(body):
    return found(f"class Box {{\n{body}\n}};")["Box"]


class MemberFunctions(unittest.TestCase):
    def test_are_counted_with_and_without_a_body(self):
        self.assertEqual(functions("""
          public:
           void open();
           [[nodiscard]] bool is_open() const noexcept { return open_; }
           static std::optional<int> parse(std::string_view text, std::function<void(int)> then);
           virtual std::map<std::string, int>& names() = 0;
           auto size() const -> std::size_t;
           template <class Event, std::size_t count = sizeof(int)>
           void handle(Event&& event) noexcept(noexcept(event())) { event(); }
          private:
           const char* text() const;
           decltype(auto) value();
           alignas(8) int aligned() const;
        """), ["open", "is_open", "parse", "names", "size", "handle", "text", "value", "aligned"])

    def test_are_counted_with_each_overload(self):
        self.assertEqual(functions("void ask(int); void ask(int, int) {} void ask() const;"), ["ask"] * 3)

    def test_follow_bodies_that_have_braces(self):
        self.assertEqual(functions("""
          explicit Box(int size) : size_(size), names_{"a", "b"}, other_{} { open(); }
          void first() { if (is_open()) { close({1, 2}); } }
          int second(Options options = {.size = 1}) const { return options.size; }
          Values values_{f(1), {g(2)}};
          void third();
        """), ["first", "second", "third"])

    def test_are_not_constructors_operators_or_defaulted(self):
        self.assertEqual(functions("""
          Box();
          explicit Box(int) {}
          Box(const Box&) = delete;
          Box& operator=(const Box&) = delete;
          ~Box();
          virtual ~Box() = default;
          bool operator()(int) const;
          explicit operator bool() const { return true; }
          friend bool operator==(const Box&, const Box&) = default;
          friend void swap(Box& a, Box& b) { a.swap_with(b); }
          void copy() = delete;
        """), [])

    def test_are_not_data_types_or_assertions(self):
        self.assertEqual(functions("""
          using Callback = std::function<void()>;
          static_assert(sizeof(int) == 4);
          enum class State : std::uint8_t { open, closed };
          std::function<void(int)> changed_;
          void (*callback_)(int) = nullptr;
          int size_ = compute(1);
          Timer timer_{executor()};
          std::array<int, sizeof(long)> values_{};
          // void in_a_comment();
          const char* text_ = "void in_text();";
        """), [])

    def test_of_nested_classes_are_counted_for_themselves(self):
        text = """
          class Store::Implementation final : public Owner, public Other<int> {
            struct Pending : Link { void on_reply(int) override { f(); } int size = 0; };
            template <class T> class Guard { void end(); };
            void send();
          };
          template <class T>
          struct Free { T get() const; };
          enum class Kind { a, b };
          class Declared;
        """
        self.assertEqual(found(text), {"Store::Implementation": ["send"], "Pending": ["on_reply"], "Guard": ["end"],
                                       "Free": ["get"]})


class OutOfLine(unittest.TestCase):
    def classes(self, text):
        return classes.out_of_line(classes.code_of(text))

    def test_names_the_class_of_every_kind_of_member_function(self):
        for member in ("Box::Box(int size) : size_(size), names_{1, 2} {}",
                       "Box::~Box() = default;",
                       "void Box::open() { close(); }",
                       "std::map<int, std::function<void(int)>> Box::names() const { return {}; }",
                       "store::Key Box::key(store::Key other) { return other; }",
                       "Box& Box::operator=(Box&& other) noexcept { return *this; }",
                       "bool Box::operator()(int) const { return true; }",
                       "Box::operator bool() const { return true; }",
                       "template <class T>\nvoid Box<T>::open() {}",
                       "auto Box::size() const -> std::size_t { return 0; }"):
            with self.subTest(member):
                self.assertEqual(self.classes("namespace a::b {\nnamespace {\nint x;\n}\n" + member + "\n}\n"), {"Box"})

    def test_names_nested_classes_in_full(self):
        self.assertEqual(self.classes("struct Box::Lid {\n  void f();\n};\nvoid Box::Lid::f() { Other::g(); }"), {"Box::Lid"})

    def test_names_no_class_for_other_code(self):
        for text in ("int size(Box::Lid lid) { return Box::size(lid); }",
                     "const int Box::size = std::max(1, 2);",
                     "const auto table = Box::make(1);",
                     "using Lid = Box::Lid;",
                     "static_assert(Box::size == 1);",
                     "class Box {\n  void open() { Other::open(); }\n  int size_ = Other::size();\n};",
                     "// void Box::open() {}"):
            with self.subTest(text):
                self.assertEqual(self.classes(text), set())


class Check(unittest.TestCase):
    def of(self, count):
        text = "// A class.\n\nclass Box {\n" + "".join(f"  void f{i}();\n" for i in range(count)) + "};\n"
        files = {"src/room/box.hpp": text, "tests/unit/room/box_test.cpp": text, "src/room/names.py": text}
        return list(classes.check(Tree(files, files.get)))

    def test_the_limit_is_allowed(self):
        self.assertEqual(self.of(classes.LIMIT), [])

    def test_more_than_the_limit_is_reported_with_its_place(self):
        self.assertEqual(self.of(classes.LIMIT + 1),
                         ["src/room/box.hpp:3: Box has 26 member functions; split it, the limit is 25"])

    def sources(self, **texts):
        files = {f"src/room/{name}.cpp": text for name, text in texts.items()}
        files["src/room/box.hpp"] = "// A class.\n\nclass Box {\n  void f();\n  void g();\n};\n"
        return list(classes.check(Tree(files, files.get)))

    def test_members_in_one_source_are_allowed(self):
        self.assertEqual(self.sources(box="void Box::f() {}\nvoid Box::g() {}", user="void use(Box& b) { b.f(); }"), [])

    def test_members_in_several_sources_are_reported(self):
        self.assertEqual(self.sources(box="void Box::f() {}", more="void Box::g() {}"),
                         ["src/room/box.hpp:3: members of Box are defined in src/room/box.cpp and src/room/more.cpp; "
                          "split the class"])

    def test_a_class_of_a_source_with_the_same_name_is_another_one(self):
        local = "namespace {\nclass Box {\n  void f();\n};\nvoid Box::f() {}\n}"
        self.assertEqual(self.sources(box="void Box::f() {}", more=local, others="void names::f() {}"), [])


if __name__ == "__main__":
    unittest.main()
