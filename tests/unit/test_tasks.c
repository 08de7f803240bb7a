/* SPDX-License-Identifier: MIT */
#include "analysis/tasks.h"

#include <stdio.h>

#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

static struct recording made;
static struct perfile_reader *reader;
static struct pf_tasks tasks;
static uint64_t now;

static void start(void)
{
    recording_open(&made, TYPE, false);
    now = 0;
}

static void add_fork(int32_t parent, int32_t child)
{
    recording_task(&made, PERFILE_RECORD_FORK, child, parent, ++now);
}

static void add_comm(int32_t tid, const char *name)
{
    recording_comm(&made, tid, name, ++now);
}

/* "LEVEL:TID NAME" of each task. */
static const char *listed(void)
{
    static char text[1024];
    size_t used = 0;
    recording_finish(&made);
    assert_int_equal(perfile_open_memory(made.data, made.bytes, NULL, &reader, NULL), 0);
    assert_int_equal(pf_tasks_open(&tasks, reader, NULL, false, NULL), 0);
    assert_int_equal(tasks.order_count + tasks.replaced, tasks.count);
    for (size_t i = 0; i < tasks.order_count; i++) {
        const struct pf_task *task = &tasks.tasks[tasks.order[i]];
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u:%d %s", i ? ", " : "", task->level,
                                 (int)task->tid, task->comm ? task->comm : "-");
    }
    pf_tasks_close(&tasks);
    perfile_close(reader);
    recording_close(&made);
    return text;
}

static void children_stand_below_owner_started_them(void **state)
{
    (void)state;
    start();
    add_comm(10, "make");
    add_fork(10, 30);
    add_fork(10, 20);
    add_fork(30, 40);
    add_comm(30, "cc");
    add_fork(99, 5);
    assert_string_equal(listed(), "0:0 swapper, 1:10 make, 2:20 make, 2:30 cc, 3:40 make, 1:99 -, 2:5 -");
}

static void an_id_that_is_used_again_is_another_task(void **state)
{
    (void)state;
    start();
    add_comm(10, "a");
    add_comm(20, "old");
    add_fork(10, 20);
    assert_string_equal(listed(), "0:0 swapper, 1:10 a, 2:20 a");
    assert_int_equal(tasks.replaced, 1);
}

static void families_that_start_themselves_are_listed_once(void **state)
{
    (void)state;
    start();
    add_fork(2, 1);
    add_fork(1, 2);
    add_fork(3, 3);
    add_fork(3, 4);
    add_fork(0, 0);
    assert_string_equal(listed(), "0:0 -, 1:1 -, 2:2 -, 1:3 -, 2:4 -");
}

static void without_records_there_is_the_idle_task(void **state)
{
    (void)state;
    start();
    assert_string_equal(listed(), "0:0 swapper");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_stand_below_owner_started_them),
        cmocka_unit_test(an_id_that_is_used_again_is_another_task),
        cmocka_unit_test(families_that_start_themselves_are_listed_once),
        cmocka_unit_test(without_records_there_is_the_idle_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
