/* SPDX-License-Identifier: MIT */
/* Each task is done once, whether the caller waits for it or withdraws it, and those that wait in any order. */
#include <stdlib.h>

#include "any.h"
#include "base/workers.h"

#include "counting.h"

enum { TASKS = 64, ROUNDS = 200 };

struct counted {
    struct pf_task task;
    unsigned done;
};

static void count(struct pf_task *task)
{
    ((struct counted *)(void *)task)->done++;
}

static void test_waiting(void **state)
{
    static struct counted tasks[TASKS];
    struct pf_workers *workers = pf_workers_open(3, pf_allocator_or_default(NULL));
    (void)state;
    state_of_random = 1;
    for (unsigned round = 1; workers && round <= ROUNDS; round++) {
        for (size_t i = 0; i < TASKS; i++) {
            tasks[i].task.work = count;
            pf_workers_add(workers, &tasks[i].task);
        }
        for (size_t i = 0, first = any(TASKS); i < TASKS; i++)
            pf_workers_wait(workers, &tasks[(first + i) % TASKS].task);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(tasks[i].done, round);
    }
    pf_workers_close(workers);
}

static void test_withdrawing(void **state)
{
    static struct counted tasks[TASKS];
    struct pf_workers *workers = pf_workers_open(2, pf_allocator_or_default(NULL));
    (void)state;
    for (size_t i = 0; workers && i < TASKS; i++) {
        tasks[i].task.work = count;
        pf_workers_add(workers, &tasks[i].task);
    }
    for (size_t i = TASKS; workers && i-- > 0;) {
        pf_workers_withdraw(workers, &tasks[i].task);
        assert_int_equal(tasks[i].task.state, PF_TASK_IDLE);
        assert_true(tasks[i].done <= 1);
    }
    pf_workers_close(workers);
}

static void test_one_thread(void **state)
{
    (void)state;
    assert_null(pf_workers_open(1, pf_allocator_or_default(NULL)));
    pf_workers_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_withdrawing),
        cmocka_unit_test(test_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
