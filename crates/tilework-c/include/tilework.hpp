/*
 * Tilework for C++17: the functions of tilework.h as two classes that free what they own and throw what goes wrong.
 *
 *     #include <iostream>
 *     #include <tilework.hpp>
 *
 *     void upload(const void *host, std::size_t host_bytes, void *device, std::size_t device_bytes)
 *     {
 *         const tilework::Layout rows("bf16[64,300]"), tiles("bf16[64,300]{1,0:T(8,128)(2,1)}");
 *         const tilework::Relayout pack(rows, tiles, "fill=zero");
 *         pack.run(host, host_bytes, device, device_bytes);
 *     }
 *
 *     int main()
 *     {
 *         try {
 *             std::cout << tilework::Layout("bf16[64,300]{1,0:T(8,128)(2,1)}").bytes() << '\n';
 *         } catch (const std::runtime_error &error) {
 *             std::cerr << error.what() << '\n';
 *         }
 *     }
 *
 * Every constructor and function that can fail throws std::runtime_error with the message of the library. Objects are
 * moved and never copied; the functions of one that was moved from throw.
 * Both classes never change, so any number of threads may use one object at once.
 */

#ifndef TILEWORK_HPP
#define TILEWORK_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilework.h"

namespace tilework {

namespace detail {

/* Takes an error over and throws its message. */
inline void check(tilework_error *error)
{
    if (error == nullptr)
        return;
    const std::unique_ptr<tilework_error, void (*)(tilework_error *)> owned(error, tilework_error_free);
    throw std::runtime_error(tilework_error_message(error));
}

/* A text for C, which would end at a byte of 0. */
inline const char *c_text(const std::string &text)
{
    if (text.find('\0') != std::string::npos)
        throw std::runtime_error("a text for Tilework has a byte of 0 in it");
    return text.c_str();
}

} // namespace detail

/* How an array lies in memory. */
class Layout {
public:
    /* Reads a layout in any notation that Tilework knows: see tilework_layout_parse. */
    explicit Layout(const std::string &text)
    {
        tilework_layout *layout = nullptr;
        detail::check(tilework_layout_parse(detail::c_text(text), &layout));
        owned_.reset(layout);
    }

    /* The text of the layout in its one canonical form. */
    std::string text() const
    {
        const char *text = nullptr;
        detail::check(tilework_layout_text(get(), &text));
        return text;
    }

    /* The sizes of the dimensions. */
    std::vector<std::uint64_t> dims() const
    {
        const std::uint64_t *dims = nullptr;
        std::size_t rank = 0;
        detail::check(tilework_layout_dims(get(), &dims, &rank));
        return rank == 0 ? std::vector<std::uint64_t>() : std::vector<std::uint64_t>(dims, dims + rank);
    }

    /* How many bits an element has. */
    std::uint32_t element_bits() const
    {
        std::uint32_t bits = 0;
        detail::check(tilework_layout_element_bits(get(), &bits));
        return bits;
    }

    /* How many elements the array has, padding not counted. */
    std::uint64_t elements() const { return number(tilework_layout_elements); }

    /* How many places are allocated, in elements, padding counted. */
    std::uint64_t size() const { return number(tilework_layout_size); }

    /* How many bytes a buffer needs to hold all places. */
    std::uint64_t bytes() const { return number(tilework_layout_bytes); }

    /* The place of an element, counted in elements from the start of the buffer. */
    std::uint64_t offset(const std::vector<std::uint64_t> &index) const
    {
        std::uint64_t offset = 0;
        detail::check(tilework_layout_offset(get(), index.data(), index.size(), &offset));
        return offset;
    }

    /* The object for functions of tilework.h. It stays this object's; null after a move from it. */
    const tilework_layout *get() const noexcept { return owned_.get(); }

private:
    std::uint64_t number(tilework_error *(*ask)(const tilework_layout *, std::uint64_t *)) const
    {
        std::uint64_t number = 0;
        detail::check(ask(get(), &number));
        return number;
    }

    struct Free {
        void operator()(tilework_layout *layout) const noexcept { tilework_layout_free(layout); }
    };
    std::unique_ptr<tilework_layout, Free> owned_;
};

/* A move from one layout to another, made ready to run. It needs neither of the layouts any more. */
class Relayout {
public:
    /* Plans the move. The options are those of tilework_relayout_new, such as "fill=zero convert". */
    Relayout(const Layout &from, const Layout &to, const std::string &options = std::string())
    {
        tilework_relayout *relayout = nullptr;
        detail::check(tilework_relayout_new(from.get(), to.get(), detail::c_text(options), &relayout));
        owned_.reset(relayout);
    }

    /* What it does, as a text for people. */
    std::string describe() const
    {
        const char *text = nullptr;
        detail::check(tilework_relayout_describe(get(), &text));
        return text;
    }

    /* Moves the data on at most `threads` threads; 0 is one for each processor. */
    void run(const void *from, std::size_t from_bytes, void *to, std::size_t to_bytes,
             std::size_t threads = 0) const
    {
        detail::check(tilework_relayout_run(get(), from, from_bytes, to, to_bytes, threads));
    }

    /* Moves the data on the threads of a pool. */
    void run_on(const tilework_pool &pool, const void *from, std::size_t from_bytes, void *to,
                std::size_t to_bytes) const
    {
        detail::check(tilework_relayout_run_on(get(), &pool, from, from_bytes, to, to_bytes));
    }

    /* The object for functions of tilework.h. It stays this object's; null after a move from it. */
    const tilework_relayout *get() const noexcept { return owned_.get(); }

private:
    struct Free {
        void operator()(tilework_relayout *relayout) const noexcept { tilework_relayout_free(relayout); }
    };
    std::unique_ptr<tilework_relayout, Free> owned_;
};

} // namespace tilework

#endif /* TILEWORK_HPP */
