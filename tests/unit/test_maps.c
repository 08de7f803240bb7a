/* SPDX-License-Identifier: MIT */
#include "model/maps.h"

#include "base/bytes.h"
#include "counting.h"

enum { POSITIONS = 64, STEPS = 3000, HELD = 16, PID = 7 };

/* What is at each position of a small address space: the id of a map, or -1. */
struct picture {
    const struct perfile_space *space;
    int64_t ids[POSITIONS];
};

static void check(const struct picture *picture)
{
    for (uint64_t i = 0; i < POSITIONS; i++) {
        const struct perfile_map *map = perfile_space_find(picture->space, i * 16 + 3);
        assert_int_equal(map ? (int64_t)map->id : -1, picture->ids[i]);
        if (map) /* the offset of a piece counts on */
            assert_int_equal(map->pgoff, map->start);
    }
}

static unsigned pick(unsigned *state, unsigned count)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 16) % count;
}

static void add(struct pf_maps *maps, struct picture *now, unsigned *random, uint64_t step)
{
    const unsigned start = pick(random, POSITIONS), count = 1 + pick(random, 8);
    const unsigned end = start + count < POSITIONS ? start + count : POSITIONS;
    const struct perfile_map map = {
        .size = sizeof(map), .start = start * 16, .end = end * 16, .pgoff = start * 16, .filename = "x", .pid = PID};
    assert_int_equal(pf_maps_add_later(maps, step, &map, NULL), 0);
    for (unsigned i = start; i < end; i++)
        now->ids[i] = (int64_t)step;
}

/* Every tree that was handed out stays as it was, however many changes come after. */
static void test_held_spaces_do_not_change(void **state)
{
    (void)state;
    struct pf_maps maps;
    struct counting c;
    struct picture now = {.space = NULL}, held[HELD];
    unsigned random = 1;
    counting_open(&c, -1);
    pf_maps_open(&maps, &c.allocator);
    memset(now.ids, -1, sizeof(now.ids));
    for (size_t i = 0; i < HELD; i++)
        held[i] = now;
    for (uint64_t step = 0; step < STEPS; step++) {
        add(&maps, &now, &random, step);
        if (pick(&random, 3)) /* several changes between two looks */
            continue;
        assert_true(pf_maps_advance(&maps, step));
        now.space = pf_maps_space(&maps, PID);
        held[pick(&random, HELD)] = now;
        check(&now);
        check(&held[pick(&random, HELD)]);
    }
    for (size_t i = 0; i < HELD; i++)
        check(&held[i]);
    pf_maps_close(&maps);
    counting_close(&c);
}

/* In the order of their times, and at one time in that in which they were given. */
static void test_later_maps(void **state)
{
    (void)state;
    struct pf_maps maps;
    struct counting c;
    struct perfile_map map = {.size = sizeof(map), .start = 0, .end = 16, .filename = "x", .pid = PID};
    counting_open(&c, -1);
    pf_maps_open(&maps, &c.allocator);
    assert_int_equal(maps.next_time, UINT64_MAX);
    static const uint64_t times[] = {10, 30, 10, 20, 10};
    for (size_t i = 0; i < PF_COUNT(times); i++)
        assert_int_equal(pf_maps_add_later(&maps, times[i], &map, NULL), 0);
    static const struct {
        uint64_t time;
        uint32_t id;
        uint64_t next;
    } steps[] = {{10, 4, 20}, {25, 3, 30}, {30, 1, UINT64_MAX}};
    assert_null(pf_maps_space(&maps, PID));
    for (size_t i = 0; i < PF_COUNT(steps); i++) {
        assert_true(pf_maps_advance(&maps, steps[i].time));
        assert_int_equal(perfile_space_find(pf_maps_space(&maps, PID), 3)->id, steps[i].id);
        assert_int_equal(maps.next_time, steps[i].next);
    }
    map.end = 0;
    assert_int_equal(pf_maps_add_later(&maps, 0, &map, NULL), PERFILE_ERROR_ARGUMENT);
    pf_maps_close(&maps);
    counting_close(&c);
}

/* Numbers of maps are not given twice. */
static void test_too_many_maps(void **state)
{
    (void)state;
    struct pf_maps maps;
    struct counting c;
    const struct perfile_map map = {.size = sizeof(map), .start = 0, .end = 16, .filename = "x", .pid = PID};
    counting_open(&c, -1);
    pf_maps_open(&maps, &c.allocator);
    maps.count = UINT32_MAX - 1;
    assert_int_equal(pf_maps_add_later(&maps, 1, &map, NULL), 0);
    assert_int_equal(pf_maps_add_later(&maps, 1, &map, NULL), PERFILE_ERROR_LIMIT);
    pf_maps_close(&maps);
    counting_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_spaces_do_not_change),
        cmocka_unit_test(test_later_maps),
        cmocka_unit_test(test_too_many_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
