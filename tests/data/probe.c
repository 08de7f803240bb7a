/* SPDX-License-Identifier: MIT */
/* The program that probe-x86_64 and probe-aarch64 were made of: tests/data/README.md says how. */
struct inner {
    int number;
    const char *name;
    unsigned low : 3, high : 5;
};
struct outer {
    struct inner *pointer;
    struct inner value;
    union {
        int array[4];
        char text[16];
    };
};
enum kind { FIRST, SECOND };
int counter;
static inline int twice(int count)
{
    counter += count;
    return count * counter;
}
__attribute__((noinline)) long leaf(int number, const char *text, struct outer *o, double real)
{
    counter += number;
    return number + o->value.number + o->pointer->high + (long)real + *text;
}
__attribute__((noinline)) int work(long long big, enum kind kind)
{
    struct outer local;
    local.value.number = (int)big;
    local.value.name = "local";
    int sum = 0;
    local.pointer = &local.value;
    for (int i = 0; i < 3; i++) {
        sum += (int)leaf(i, "text", &local, 2.5);
        sum += twice(sum);
    }
    return sum + kind;
}
void _start(void)
{
    for (;;)
        work(twice(counter), SECOND);
}
