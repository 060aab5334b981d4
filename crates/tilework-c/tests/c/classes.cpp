/* The classes of tilework.hpp. */
#include <tilework.hpp>

#include <cstring>
#include <type_traits>
#include <utility>

#include "check.h"

using tilework::Layout;
using tilework::Relayout;

static_assert(!std::is_copy_constructible<Layout>::value && !std::is_copy_assignable<Layout>::value, "");
static_assert(!std::is_copy_constructible<Relayout>::value && !std::is_copy_assignable<Relayout>::value, "");
static_assert(std::is_nothrow_move_constructible<Layout>::value, "");
static_assert(std::is_nothrow_move_assignable<Relayout>::value, "");

/* Ends the test where a call does not throw, or where the message says something else. */
template <typename Call>
static void throws(const char *says, Call call)
{
    try {
        call();
    } catch (const std::runtime_error &error) {
        if (std::strstr(error.what(), says) == nullptr) {
            std::fprintf(stderr, "not `%s`: %s\n", says, error.what());
            std::exit(1);
        }
        return;
    }
    std::fprintf(stderr, "nothing says `%s`\n", says);
    std::exit(1);
}

static void a_layout_answers()
{
    const Layout layout("BF16[64,300]{1,0:T(8,128)(2,1)}");
    CHECK(layout.text() == "bf16[64,300]{1,0:T(8,128)(2,1)}");
    CHECK((layout.dims() == std::vector<std::uint64_t>{64, 300}));
    CHECK(layout.element_bits() == 16 && layout.elements() == 19200);
    CHECK(layout.size() == 24576 && layout.bytes() == 49152);
    CHECK(layout.offset({3, 17}) == 291);
    CHECK(Layout("f32[]").dims().empty() && Layout("f32[]").offset({}) == 0);
}

static void data_moves()
{
    const Layout rows("u8[2,3]"), tiles("u8[2,3]{1,0:pad(2,4)}");
    const Relayout plain(rows, tiles), filled(rows, tiles, "fill=0xff");
    const std::uint8_t from[6] = {10, 11, 12, 13, 14, 15};
    std::uint8_t to[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    plain.run(from, sizeof from, to, sizeof to, 1);
    CHECK(to[2] == 12 && to[3] == 7 && to[4] == 13 && to[7] == 7);
    filled.run(from, sizeof from, to, sizeof to);
    CHECK(to[2] == 12 && to[3] == 0xff && to[4] == 13 && to[7] == 0xff);
    CHECK(filled.describe().find("moves 6 elements") == 0);
}

static void in_turn(void *user, std::size_t tasks, void (*task)(void *context, std::size_t number), void *context)
{
    *static_cast<std::size_t *>(user) += tasks;
    for (std::size_t number = 0; number < tasks; number++)
        task(context, number);
}

static void data_moves_on_a_pool()
{
    const Layout rows("u16[1024,1024]"), columns("u16[1024,1024]{0,1}");
    const std::size_t bytes = rows.bytes();
    std::vector<std::uint16_t> from(bytes / 2), to(bytes / 2);
    for (std::size_t i = 0; i < from.size(); i++)
        from[i] = static_cast<std::uint16_t>(i * 31 + i / 1024);
    std::size_t tasks = 0;
    const tilework_pool pool = {&tasks, 2, in_turn};
    Relayout(rows, columns).run_on(pool, from.data(), bytes, to.data(), bytes);
    CHECK(tasks > 0);
    for (std::size_t i = 0; i < from.size(); i++)
        CHECK(to[i % 1024 * 1024 + i / 1024] == from[i]);
}

static void mistakes_are_thrown()
{
    const Layout a("u8[4,5]"), b("u8[5,4]");
    std::uint8_t bytes[40] = {0};
    throws("\n                   ^", [] { Layout("f32[3,5]{1,0:T(0,2)}"); });
    throws("a byte of 0", [] { Layout(std::string("u8[4]\0]", 7)); });
    throws("index 5 in dimension 1 of size 5", [&] { a.offset({3, 5}); });
    throws("3 numbers for 2 dimensions", [&] { a.offset({3, 4, 0}); });
    throws("dimension 0 is 4 in the source, 5", [&] { Relayout(a, b); });
    throws("0x0 to 0xff", [&] { Relayout(a, a, "fill=0x100"); });
    throws("a byte of 0", [&] { Relayout(a, a, std::string("fill=1\0", 7)); });
    throws("source", [&] { Relayout(a, a).run(bytes, 19, bytes + 20, 20); });
}

static void objects_are_moved()
{
    Layout first("u8[4,5]");
    Layout second(std::move(first));
    CHECK(first.get() == nullptr && second.bytes() == 20);
    throws("layout: a null pointer", [&] { first.bytes(); });
    throws("from: a null pointer", [&] { Relayout(first, second); });
    first = std::move(second);
    CHECK(first.bytes() == 20 && second.get() == nullptr);
    Relayout move(first, first);
    const Relayout taken(std::move(move));
    CHECK(move.get() == nullptr && taken.get() != nullptr);
    throws("relayout: a null pointer", [&] { move.describe(); });
}

int main()
{
    a_layout_answers();
    data_moves();
    data_moves_on_a_pool();
    mistakes_are_thrown();
    objects_are_moved();
    std::puts("ok");
}
