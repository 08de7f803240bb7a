/* SPDX-License-Identifier: MIT */
/*
 * The program of tests/cli/data_types.py: each function accesses data in a way of its own. See README.md for its
 * builds.
 */
struct point {
    int x, y;
};

struct node {
    struct node *next;
    long key;
    struct point at;
    union {
        int all;
        float fraction;
    };
    struct {
        short low, high;
    } half;
    char name[16];
    unsigned kind : 3, flags : 5;
};

typedef struct node node_t;

struct table {
    int count;
    node_t *heads[8];
    struct point pairs[8];
};

struct table table;
static struct point points[4];
long total;
extern void *opaque;
void *opaque;

/* A parameter in a register, and pointers that are loaded from what it points to. */
__attribute__((noinline)) long walk(const struct table *from)
{
    long sum = 0;
    for (int i = 0; i < 8; i++)
        for (node_t *node = from->heads[i]; node; node = node->next)
            sum += node->key + node->at.y + node->half.high + node->name[3] + node->flags;
    return sum;
}

/* Members of members through several pointers, of which no variable has the inner ones. */
__attribute__((noinline)) int chain(const node_t *node)
{
    return node->next->next->next->at.x + node->next->all;
}

/* Global variables, and elements of arrays. */
__attribute__((noinline)) void add(int by)
{
    table.count += by;
    table.pairs[2].y += by;
    points[by & 3].x += by;
    total += by;
}

/* Variables on the stack. */
__attribute__((noinline)) int on_stack(int by)
{
    volatile struct point local[2] = {{by, 1}, {2, by}};
    volatile struct node one;
    one.key = by;
    one.at.y = by + 1;
    return local[by & 1].y + local[0].x + (int)one.key + one.at.y;
}

/* What a function returns, and a pointer that goes through an array. */
__attribute__((noinline)) node_t *first(const struct table *from)
{
    return from->heads[0];
}

__attribute__((noinline)) long of_result(const struct table *from)
{
    return first(from)->key + first(from)->at.y;
}

__attribute__((noinline)) int sum_of(const struct point *at, int count)
{
    int sum = 0;
    for (const struct point *end = at + count; at < end; at++)
        sum += at->x * at->y;
    return sum;
}

/* A pointer without a type. */
__attribute__((noinline)) char untyped(void)
{
    return *(volatile char *)opaque;
}

/* Copies of members that stay in memory: of a global structure, a static one, and one that a pointer points to. */
__attribute__((noinline)) int copy_of_global(int by)
{
    int now = table.count;
    return now == by ? 5 : by + 1;
}

__attribute__((noinline)) int copy_of_static(int by)
{
    static struct point last;
    int y = last.y;
    if (y == by)
        return 5;
    last.x = by;
    last.y = by + 3;
    return by + 1;
}

__attribute__((noinline)) int copy_through_pointer(const struct point *at, int by)
{
    int y = at->y;
    return y == by ? 5 : by + 1;
}

void _start(void)
{
    add(1);
    total = walk(&table) + chain(table.heads[1]) + on_stack(3) + of_result(&table) + sum_of(points, 4) + untyped() +
            copy_of_global(2) + copy_of_static(3) + copy_through_pointer(points, 1);
    for (;;)
        ;
}
