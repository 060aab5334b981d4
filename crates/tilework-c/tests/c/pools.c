/* Relayouts on the threads of a runtime. */
#define _POSIX_C_SOURCE 200809L /* for pthread.h in C99 */
#include "check.h"

#include <pthread.h>

/* Enough that there is work for every thread. */
enum { ROWS = 2048, COLUMNS = 1000, COUNT = ROWS * COLUMNS, WIDTH = 3 };

static const size_t BYTES = COUNT * sizeof(uint16_t);

/* What a pool does wrong on purpose. */
typedef enum { NOTHING, TWICE, TOO_FEW, TOO_MANY } fault;

/* What a runtime would keep: here, how it was called. */
typedef struct {
    size_t calls, tasks;
    fault wrong;
} runtime;

/* What one thread has to do. */
typedef struct {
    void (*task)(void *context, size_t number);
    void *context;
    size_t number;
} job;

static void *work(void *argument)
{
    job *mine = (job *)argument;
    mine->task(mine->context, mine->number);
    return NULL;
}

static void run(void *user, size_t tasks, void (*task)(void *context, size_t number), void *context)
{
    runtime *kept = (runtime *)user;
    pthread_t threads[WIDTH];
    job jobs[WIDTH];
    pthread_attr_t attributes; /* the header promises that so little stack is enough */
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    CHECK(tasks <= WIDTH);
    kept->calls += 1;
    kept->tasks += tasks;
    if (kept->wrong == TOO_FEW)
        tasks -= 1;
    for (size_t i = 0; i < tasks; i++) {
        jobs[i].task = task;
        jobs[i].context = context;
        jobs[i].number = i;
        CHECK(pthread_create(&threads[i], &attributes, work, &jobs[i]) == 0);
    }
    for (size_t i = 0; i < tasks; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    if (kept->wrong == TWICE)
        task(context, 0);
    if (kept->wrong == TOO_MANY)
        task(context, tasks);
}

/* A pool that runs no task before it returns, but keeps what it could call later. */
static struct {
    void (*task)(void *context, size_t number);
    void *context;
} late;

static void run_later(void *user, size_t tasks, void (*task)(void *context, size_t number), void *context)
{
    (void)user;
    (void)tasks;
    late.task = task;
    late.context = context;
}

static void tasks_that_come_too_late_do_nothing(const tilework_relayout *relayout, const uint16_t *from, uint16_t *to)
{
    tilework_pool pool = {NULL, WIDTH, run_later};
    REFUSED(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES), "run: 0 of 3 tasks");
    memset(to, 0, BYTES);
    for (size_t i = 0; i < WIDTH; i++)
        late.task(late.context, i);
    late.task(NULL, 0);
    late.task(to, 1);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(to[i] == 0);
}

void pools(void)
{
    tilework_relayout *relayout = plan("u16[2048,1000]", "u16[2048,1000]{0,1}", NULL);
    tilework_relayout *small = plan("u16[3,3]", "u16[3,3]{0,1}", NULL);
    uint16_t *from = different(COUNT), *to = different(COUNT);
    runtime kept = {0, 0, NOTHING};
    tilework_pool pool = {&kept, WIDTH, run};

    OK(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES));
    CHECK(kept.calls > 0 && kept.tasks > kept.calls);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < COLUMNS; column++)
            CHECK(to[column * ROWS + row] == from[row * COLUMNS + column]);

    /* For a few bytes no thread is woken. */
    kept.calls = 0;
    OK(tilework_relayout_run_on(small, &pool, from, 18, to, 18));
    CHECK(kept.calls == 0);

    /* Tasks that convert are tasks like others. */
    tilework_relayout *convert = plan("f32[1024,1000]", "bf16[1024,1000]{0,1:T(8,128)}", "convert fill=one");
    const size_t tiled = 1000 * 1024 * sizeof(uint16_t);
    kept.calls = 0;
    OK(tilework_relayout_run_on(convert, &pool, from, BYTES, to, tiled));
    CHECK(kept.calls > 0);
    tilework_relayout_free(convert);

    kept.wrong = TWICE;
    REFUSED(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES), "run: task 0, which");
    kept.wrong = TOO_MANY;
    REFUSED(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES), "which does not exist");
    kept.wrong = TOO_FEW;
    REFUSED(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES), "tasks");
    pool.width = 0;
    REFUSED(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES), "width: a pool of 0 threads");
    pool.width = WIDTH;
    pool.run = NULL;
    REFUSED(tilework_relayout_run_on(relayout, &pool, from, BYTES, to, BYTES), "run: a null pointer");

    tasks_that_come_too_late_do_nothing(relayout, from, to);

    /* Threads of the library's own. */
    memset(to, 0, BYTES);
    OK(tilework_relayout_run(relayout, from, BYTES, to, BYTES, WIDTH));
    CHECK(to[COUNT - 1] == from[COUNT - 1] && to[ROWS] == from[1]);

    tilework_relayout_free(relayout);
    tilework_relayout_free(small);
    free(from);
    free(to);
}
