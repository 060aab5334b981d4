/* Packs a matrix of bf16 into the tiles of an accelerator and back, and says what was done: pack.c with tilework.hpp.
 *
 *     cargo build --release -p tilework-c
 *     c++ -std=c++17 -Icrates/tilework-c/include crates/tilework-c/examples/pack.cpp \
 *         target/release/libtilework_c.a -lpthread -ldl -lm -o pack
 *     ./pack
 */
#include <exception>
#include <iostream>
#include <vector>

#include <tilework.hpp>

int main(int count, char **words)
try {
    const tilework::Layout rows(count > 1 ? words[1] : "bf16[64,300]");
    const tilework::Layout tiles(count > 2 ? words[2] : "bf16[64,300]{1,0:T(8,128)(2,1)}");
    const tilework::Relayout pack(rows, tiles, "fill=zero"), unpack(tiles, rows);

    std::vector<unsigned char> host(rows.bytes()), device(tiles.bytes()), back(rows.bytes());
    for (std::size_t i = 0; i < host.size(); i++)
        host[i] = static_cast<unsigned char>(i * 31 + i / 256);

    pack.run(host.data(), host.size(), device.data(), device.size());
    unpack.run(device.data(), device.size(), back.data(), back.size());
    std::cout << pack.describe() << "\n\n"
              << host.size() << " bytes became " << device.size() << ", and "
              << (host == back ? "came back the same" : "came back changed") << '\n';
} catch (const std::exception &error) {
    std::cerr << "pack: " << error.what() << '\n';
    return 1;
}
