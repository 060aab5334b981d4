/* Every part in turn. */
#include "check.h"

int main(void)
{
    CHECK(tilework_version() == TILEWORK_VERSION);
    story();
    errors();
    pools();
    puts("ok");
    return 0;
}
